// Every exit code, and the message that comes with it.
import { existsSync } from "node:fs";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../support/certificates.ts";
import { index, urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { proxyServer } from "../support/proxy-server.ts";
import { ended, jsonLines, launch, shell, sitegrove, start } from "./program.ts";
import { type Handler, serve } from "./website.ts";

// The output is larger than a pipe and its buffers.
const many = Array.from({ length: 10_000 }, (_, index) => `{base}/many/${index}`);
const site = await serve({
  "/good.xml": urlset("{base}/a"),
  "/bad.xml": index("{base}/good.xml", "{base}/gone.xml"),
  "/many.xml": urlset(...many),
  "/more.xml": urlset(...many.flatMap((url) => [0, 1, 2, 3].map((number) => `${url}/${number}`))),
  "/stalls.xml": index("{base}/many.xml", "{base}/never.xml"),
  "/never.xml": () => {},
});
const from = (path: string) => ["ls", "--sitemap", site.homepage + path];

test.each([
  ["0: complete, and silent in a pipe", "good.xml", 0, ""],
  [
    "3: something declared could not be read, and is named",
    "bad.xml",
    3,
    `sitegrove: ${said.notRead(`${site.homepage}gone.xml`, said.notFound)}\nsitegrove: ${said.incomplete(said.oneNotRead)}\n`,
  ],
])("%s", async (_, name, code, stderr) => {
  expect(await sitegrove([...from(name), "-f", "pages"])).toEqual({ code, stdout: `${site.homepage}a\n`, stderr });
});

test("4: no sitemap was found, and the program says where it looked", async () => {
  const { code, stderr } = await sitegrove(["ls", site.homepage, "-f", "pages"]);
  expect(code).toBe(4);
  expect(stderr).toContain(said.noSitemap(site.homepage));
  expect(stderr).toMatch(said.lookedAt);
  expect(stderr).toContain(said.giveItsAddress);
  expect(stderr).toContain(said.readFeeds);
  expect((await sitegrove(["ls", site.homepage, "--feeds"])).stderr).not.toContain(said.readFeeds);
});

test("3: no sitemap was found, but a robots.txt that could not be read may list some", async () => {
  const broken = await serve({
    "/robots.txt": (_, response) => void response.writeHead(500).end(),
    "/": "<html></html>",
  });
  const flags = ["--retries", "0", "-f", "json"];
  for (const command of [["ls"], ["check", "--fail-on", "never"]]) {
    const { code, stderr } = await sitegrove([...command, broken.homepage, ...flags]);
    expect(code).toBe(3);
    expect(stderr).toContain(said.noSitemap(broken.homepage));
  }
});

describe("5: the website could not be reached, or refused all requests, and the cause is printed first", () => {
  const refused = said.couldNotConnect("127.9.9.9:8088", said.connectionRefused);
  // No name server is asked for a name with such a long label.
  const unknown = `${"a".repeat(64)}.invalid`;
  test.each([
    [["ls", `http://${unknown}/`], said.couldNotConnect(unknown, said.noSuchHost)],
    [["ls", "http://127.9.9.9:8088/"], refused],
    [["ls", "--sitemap", "http://127.9.9.9:8088/a.xml"], refused],
    [["ls", "http://127.0.0.1:1/"], said.nothingRead("127.0.0.1:1", said.portBlocked)],
    [["ls", "http://127.9.9.9:8088/", "--public-only"], said.nothingRead("127.9.9.9:8088", said.privateAddress)],
  ])("%j", async (words, message) => {
    const { code, stdout, stderr } = await sitegrove([...words, "--retries", "0", "-f", "pages"]);
    expect(stderr).toBe(`sitegrove: ${message}\n`);
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  });

  test.each([
    [403, {}, said.refusedAll],
    [401, { "www-authenticate": "Basic" }, said.loginRequired],
    // Requests that were never sent were not refused.
    [429, { "retry-after": "3600" }, said.rateLimited],
  ])("for a website that answers %i", async (status, headers, message) => {
    const refuse: Handler = (_, response) => void response.writeHead(status, headers).end();
    const refusing = await serve(refuse);
    const words = ["ls", refusing.homepage, "--retries", "0", "-f", "ndjson", "--trailer"];
    const { code, stdout, stderr } = await sitegrove(words);
    const lines = stderr.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, "TIME");
    expect(lines).toBe(`sitegrove: ${message(new URL(refusing.homepage).host, "TIME")}\n`);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "finished", complete: false });
    expect(code).toBe(5);
  });

  test("for https on a port that speaks plain HTTP", async () => {
    const { host } = new URL(site.homepage);
    const stderr = `sitegrove: ${said.couldNotConnect(host, said.tryHttp)}\n`;
    expect(await sitegrove(["ls", `https://${host}/`, "-f", "pages"])).toEqual({ code: 5, stdout: "", stderr });
  });
});

test("a website without TLS, given without a scheme, is read over http, and the program says so", async () => {
  const proxy = await proxyServer();
  const name = `website.test:${new URL(site.homepage).port}`;
  const list = ["--sitemap", `${site.homepage}good.xml`];
  const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
  for (const words of [
    ["ls", "-f", "pages"],
    ["check", "--fail-on", "never"],
    ["report", "--json"],
    ["diff", list[1]!],
  ]) {
    const run = await sitegrove([...words, name], { env });
    expect(run.stderr, words[0]).toContain(`sitegrove: ${said.usingHttp(name)}\n`);
    expect([0, 3, 4], words[0]).toContain(run.code);
    const robots = proxy.asked.splice(0).filter((line) => line.endsWith("/robots.txt"));
    // A diff has to know first what it compares.
    expect(robots, words[0]).toHaveLength(words[0] === "diff" ? 2 : 1);
  }
});

test.each([
  ["127.9.9.9:8088", "http"],
  ["website.test", "https"],
])("the assumed scheme is reported even if %s cannot be reached", async (name, scheme) => {
  const env = { HTTPS_PROXY: "http://127.9.9.9:8088", HTTP_PROXY: "http://127.9.9.9:8088", NO_PROXY: "127.9.9.9" };
  const { code, stderr } = await sitegrove(["ls", name], { env });
  expect(stderr.split("\n")[0]).toBe(`sitegrove: ${said.noScheme(`${scheme}://${name}`)}`);
  expect(code).toBe(5);
});

test.each([
  ["http:/127.0.0.1:PORT", ""],
  ["HTTP:\\\\127.0.0.1:PORT\\", ""],
  ["http:127.0.0.1:PORT", ""],
  ["127.0.0.1:PORT", `${said.noScheme("http://127.0.0.1:PORT")}\n`],
  ["localhost:PORT/", `${said.noScheme("http://localhost:PORT/")}\n`],
])("%s is accepted as a website", async (name, message) => {
  const { port } = new URL(site.homepage);
  const words = ["ls", name.replace("PORT", port), "--no-known", "--no-robots", "-f", "pages"];
  const { code, stderr } = await sitegrove(words);
  expect(stderr).toContain(message.replace("PORT", port));
  expect(code).toBe(4);
});

test.each(["http:/127.0.0.1:PORT", "127.0.0.1:PORT", "localhost:PORT"])(
  "a document at %s is accepted, too",
  async (name) => {
    const document = `${name.replace("PORT", new URL(site.homepage).port)}/good.xml`;
    const listed = { code: 0, stdout: expect.stringMatching(/^http:.*\/a\n$/) };
    expect(await sitegrove(["parse", document, "-f", "pages"])).toMatchObject(listed);
    expect(await sitegrove(["ls", document, "-f", "pages"])).toMatchObject(listed);
  },
);

test("5: the website speaks only HTTP/2", async () => {
  const server = createSecureServer(selfSigned({ names: ["127.0.0.1"] }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { code, stderr } = await sitegrove(["ls", `https://127.0.0.1:${port}/`, "-f", "pages", "--insecure"]);
  server.close();
  expect(stderr).toContain(said.couldNotConnect(`127.0.0.1:${port}`, said.onlyHttp2));
  expect(code).toBe(5);
});

test("a Crawl-delay that is not respected is reported once, and one that --delay satisfies is not", async () => {
  const slow = await serve({ "/robots.txt": "User-agent: *\nCrawl-delay: 2\n", "/sitemap.xml": urlset("{base}/a") });
  const words = ["ls", slow.homepage, "-f", "pages"];
  expect(await sitegrove(words)).toMatchObject({ code: 0, stderr: `sitegrove: ${said.fasterThanCrawlDelay}\n` });
  const kept = await sitegrove([...words, "--delay", "2s", "--no-known", "--no-homepage"]);
  expect(kept.stderr).not.toContain(said.fasterThanCrawlDelay);
});

test.each(["--max-time 0", "-k"])(
  "3: a discovery that stopped at a limit does not claim that there is no sitemap (%s)",
  async (flags) => {
    const long = await serve({ "/robots.txt": `${"Disallow: /x\n".repeat(60_000)}Sitemap: {base}/good.xml\n` });
    const { code, stderr } = await sitegrove(`ls ${long.homepage} -f pages ${flags}`);
    expect(stderr).not.toContain(said.noSitemap(long.homepage));
    expect(code).toBe(3);
  },
);

test("0: the program ends quietly if its output pipe is closed early", async () => {
  const { stdout, stderr } = await shell(
    `eval "$SITEGROVE" ls --sitemap ${site.homepage}stalls.xml -f pages | head -1; echo "exit \${PIPESTATUS[0]}"`,
  );
  expect({ stdout, stderr }).toEqual({ stdout: `${site.homepage}many/0\nexit 0\n`, stderr: "" });
});

test.skipIf(!existsSync("/dev/full"))("1: the disk is full", async () => {
  const { code, stderr } = await shell(`eval "$SITEGROVE" ${from("good.xml").join(" ")} -f pages > /dev/full`);
  expect(code).toBe(1);
  expect(stderr).toBe(`sitegrove: ${said.couldNotBeWritten("the output", said.noSpace)}\n`);
});

test("0: the program ends quietly if its pipe is closed before the help is written", async () => {
  const { stdout, stderr } = await shell(`eval "$SITEGROVE" ls --help | true; echo "exit \${PIPESTATUS[0]}"`);
  expect({ stdout, stderr }).toEqual({ stdout: "exit 0\n", stderr: "" });
});

describe("a stopped program", () => {
  test.each([
    ["ndjson", "SIGINT", 130],
    ["pages", "SIGTERM", 143],
  ] as const)("ends immediately, with complete lines: %s by %s exits with %i", async (format, signal, exitCode) => {
    const run = launch([...from("stalls.xml"), "-f", format]);
    let seen = 0;
    await new Promise<void>((resolve) => {
      run.stdout.on("data", (chunk: Buffer) => {
        seen += chunk.toString().split("\n").length - 1;
        if (seen >= 10_000) resolve();
      });
    });
    run.kill(signal);
    const { code, stdout, stderr } = await run.end;
    expect(code).toBe(exitCode);
    expect(stdout.match(/^.*\n/gm)).toHaveLength(10_000);
    if (format === "ndjson") jsonLines(stdout);
    // On a busy machine it may also say that it waited for the output too long.
    expect(stderr.split("\n")[0]).toBe(`sitegrove: ${said.stopped(said.listedIncomplete)}`);
  });

  // Reads a little, then stops, so the pipe is full and the program waits in the middle of the document.
  const startJson = async () => {
    const child = start([...from("more.xml"), "-f", "json"]);
    const first = await new Promise<Buffer>((resolve) => {
      child.stdout?.once("data", (chunk: Buffer) => {
        // Paused immediately: chunks that arrive before the next listener would be lost.
        child.stdout?.pause();
        resolve(chunk);
      });
    });
    child.kill("SIGINT");
    return { child, first };
  };

  test("closes its JSON document", async () => {
    const { child, first } = await startJson();
    const end = ended(child);
    // The signal arrives while the program waits. Only then does the reader continue.
    setTimeout(() => child.stdout?.resume(), 150);
    const { code, stdout } = await end;
    const tree = JSON.parse(first + stdout);
    expect({ code, interrupted: tree.interrupted }).toEqual({ code: 130, interrupted: true });
    expect(tree.root.children[0].pages.length).toBeLessThan(40_000);
  });

  test("does not wait if the reader closes the pipe", async () => {
    const { child } = await startJson();
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(130);
    child.stdout?.destroy();
  });
});
