// Every exit code, and the message that comes with it.
import { existsSync } from "node:fs";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../support/certificates.ts";
import { index, urlset } from "../support/documents.ts";
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
    "sitegrove: {base}gone.xml: not read: Not found (404)\nsitegrove: incomplete: 1 sitemap could not be read\n",
  ],
])("%s", async (_, name, code, said) => {
  const stderr = said.replace("{base}", site.homepage);
  expect(await sitegrove([...from(name), "-f", "pages"])).toEqual({ code, stdout: `${site.homepage}a\n`, stderr });
});

test("4: no sitemap was found, and the program says where it looked", async () => {
  const { code, stderr } = await sitegrove(["ls", site.homepage, "-f", "pages"]);
  expect(code).toBe(4);
  expect(stderr).toContain(`no sitemap found for ${site.homepage}`);
  expect(stderr).toContain("/robots.txt: not found (404)");
  expect(stderr).toMatch(/sitemap\.xml and \d+ more: not found \(404\)/);
  expect(stderr).toContain("If you know its address: sitegrove ls --sitemap URL");
});

describe("5: the website could not be reached, or refused all requests, and the cause is printed first", () => {
  test.each([
    [["ls", "http://nowhere.invalid/"], "Could not connect to nowhere.invalid: the host name does not exist"],
    [["ls", "http://127.9.9.9:8088/"], "Could not connect to 127.9.9.9:8088: connection refused"],
    [["ls", "--sitemap", "http://127.9.9.9:8088/a.xml"], "Could not connect to 127.9.9.9:8088: connection refused"],
    [["ls", "http://127.0.0.1:1/"], "Nothing could be read from 127.0.0.1:1: port 1 is blocked"],
    [
      ["ls", "http://127.9.9.9:8088/", "--public-only"],
      "Nothing could be read from 127.9.9.9:8088: refused: private address (allow with --allow-private)",
    ],
  ])("%j", async (words, message) => {
    const { code, stdout, stderr } = await sitegrove([...words, "--retries", "0", "-f", "pages"]);
    expect(stderr).toBe(`sitegrove: ${message}\n`);
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  });

  test.each([
    [403, {}, /^HOST refused all 5 requests: access denied \(403\); try another --user-agent$/],
    [
      401,
      { "www-authenticate": "Basic" },
      /^Login required: HOST answers 401; pass credentials in the URL or with --header$/,
    ],
    // Requests that were never sent were not refused.
    [429, { "retry-after": "3600" }, /^HOST: rate limited until \d{4}-\d\d-\d\d \d\d:\d\d UTC$/],
  ])("for a website that answers %i", async (status, headers, said) => {
    const refuse: Handler = (_, response) => void response.writeHead(status, headers).end();
    const refusing = await serve(refuse);
    const words = ["ls", refusing.homepage, "--retries", "0", "-f", "ndjson", "--trailer"];
    const { code, stdout, stderr } = await sitegrove(words);
    expect(
      stderr
        .replace(/^sitegrove: /, "")
        .replace(/127\.0\.0\.1:\d+/, "HOST")
        .trimEnd(),
    ).toMatch(said);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "finished", complete: false });
    expect(code).toBe(5);
  });

  test("for https on a port that speaks plain HTTP", async () => {
    const { host } = new URL(site.homepage);
    const stderr = `sitegrove: Could not connect to ${host}: the server does not speak TLS on this port; try http://\n`;
    expect(await sitegrove(["ls", `https://${host}/`, "-f", "pages"])).toEqual({ code: 5, stdout: "", stderr });
  });
});

test("a website without TLS, given without a scheme, is read over http, and the program says so", async () => {
  const proxy = await proxyServer();
  const name = `website.test:${new URL(site.homepage).port}`;
  const list = ["--sitemap", `${site.homepage}good.xml`];
  const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
  const said = `sitegrove: no scheme given; https://${name}: The server does not speak TLS on this port; using http://${name}\n`;
  for (const words of [
    ["ls", "-f", "pages"],
    ["check", "--fail-on", "never"],
    ["report", "--json"],
    ["diff", list[1]!],
  ]) {
    const run = await sitegrove([...words, name], { env });
    expect(run.stderr, words[0]).toContain(said);
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
  expect(stderr).toMatch(
    new RegExp(`^sitegrove: no scheme given, using ${scheme}://${name}\nsitegrove: Could not connect`),
  );
  expect(code).toBe(5);
});

test.each([
  ["http:/127.0.0.1:PORT", ""],
  ["HTTP:\\\\127.0.0.1:PORT\\", ""],
  ["http:127.0.0.1:PORT", ""],
  ["127.0.0.1:PORT", "sitegrove: no scheme given, using http://127.0.0.1:PORT\n"],
  ["localhost:PORT/", "sitegrove: no scheme given, using http://localhost:PORT/\n"],
])("%s is accepted as a website", async (name, said) => {
  const { port } = new URL(site.homepage);
  const words = ["ls", name.replace("PORT", port), "--no-known", "--no-robots", "-f", "pages"];
  const { code, stderr } = await sitegrove(words);
  expect(stderr).toContain(said.replace("PORT", port));
  expect(stderr).toMatch(/no sitemap found for http:\/\/(?:127\.0\.0\.1|localhost):\d+\/\n/);
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
  expect(stderr).toContain(
    `Could not connect to 127.0.0.1:${port}: the server speaks HTTP/2 only; HTTP/1.1 is required`,
  );
  expect(code).toBe(5);
});

test("a Crawl-delay that is not respected is reported once, and one that --delay satisfies is not", async () => {
  const slow = await serve({ "/robots.txt": "User-agent: *\nCrawl-delay: 2\n", "/sitemap.xml": urlset("{base}/a") });
  const said =
    "sitegrove: robots.txt asks for a Crawl-delay of 2 s; requests are sent faster; respect it with --crawl-delay\n";
  const words = ["ls", slow.homepage, "-f", "pages"];
  expect(await sitegrove(words)).toMatchObject({ code: 0, stderr: said });
  const kept = await sitegrove([...words, "--delay", "2s", "--no-known", "--no-homepage"]);
  expect(kept.stderr).not.toContain("pause");
});

test.each([
  ["--max-time 0", "allow more with --max-time"],
  ["-k", "robots.txt is larger than 500 KiB"],
])("3: a discovery that stopped at a limit does not claim that there is no sitemap (%s)", async (flags, said) => {
  const long = await serve({ "/robots.txt": `${"Disallow: /x\n".repeat(60_000)}Sitemap: {base}/good.xml\n` });
  const { code, stderr } = await sitegrove(`ls ${long.homepage} -f pages ${flags}`);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain("no sitemap found");
  expect(code).toBe(3);
});

test("0: the program ends quietly if its output pipe is closed early", async () => {
  const { stdout, stderr } = await shell(
    `eval "$SITEGROVE" ls --sitemap ${site.homepage}stalls.xml -f pages | head -1; echo "exit \${PIPESTATUS[0]}"`,
  );
  expect({ stdout, stderr }).toEqual({ stdout: `${site.homepage}many/0\nexit 0\n`, stderr: "" });
});

test.skipIf(!existsSync("/dev/full"))("1: the disk is full", async () => {
  const { code, stderr } = await shell(`eval "$SITEGROVE" ${from("good.xml").join(" ")} -f pages > /dev/full`);
  expect(code).toBe(1);
  expect(stderr).toBe("sitegrove: the output could not be written: no space left on device\n");
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
    expect(stderr).toMatch(/^sitegrove: stopped: 10,000 pages listed, incomplete\n/);
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
