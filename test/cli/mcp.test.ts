// `sitegrove mcp` as agents use it: with the client of the official SDK, over stdio, on websites of this machine.
// Needs servers, processes, more than a second.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blocksOf, page } from "../docs/pages.ts";
import { entry, index, richUrlset, urlset } from "../support/documents.ts";
import { isLong, some } from "../support/long.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { newFolder } from "../support/test-folder.ts";
import { launch, program, type Started, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

let folder: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Website {
  readonly home: string;
  readonly hits: string[];
  routes: (path: string, home: string) => string | undefined;
}

async function website(routes: Website["routes"]): Promise<Website> {
  const site = await serve(new Proxy({}, { get: (_, path) => made.routes(String(path), made.home) }));
  const made: Website = { home: site.homepage, hits: site.requests, routes };
  return made;
}

// Sends one line of JSON per message, as over the streams of a process.
function transportTo({ stdin, stdout, end }: Started): Transport {
  const transport: Transport = {
    start: async () => {
      createInterface({ input: stdout }).on("line", (line) => transport.onmessage?.(JSON.parse(line)));
    },
    send: async (message) => void stdin.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      stdin.end();
      await end;
      transport.onclose?.();
    },
  };
  return transport;
}

const agent = (...flags: readonly string[]) =>
  agentOver(transportTo(launch(["mcp", "--dir", folder, "--retries", "0", ...flags])));

/** Starts the server as a process of its own. */
async function agentProcess(...flags: readonly string[]) {
  const args = [program, "mcp", "--dir", folder, "--retries", "0", ...flags];
  const transport = new StdioClientTransport({ command: process.execPath, args });
  const { ask } = await agentOver(transport);
  return { ask, pid: transport.pid };
}

async function agentOver(transport: Transport) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  closing.push(() => client.close());
  const ask = async (name: string, question: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: question }, { timeout: 300_000 });
    // Records what goes over the wire.
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(64_000);
    const [content, facts] = result.content as { text: string }[];
    // Some clients read only text.
    if (result.isError !== true) expect(JSON.parse(facts?.text ?? "")).toEqual(result.structuredContent);
    return { isError: result.isError === true, text: content?.text ?? "", facts: result.structuredContent as never };
  };
  return { client, ask };
}

interface Pages {
  readonly pages: readonly { readonly url: string; readonly title?: string; readonly section?: string }[];
  readonly nextCursor?: string;
}

const small = (path: string, home: string) =>
  ({
    "/robots.txt": `Sitemap: ${home}sitemap.xml\nUser-agent: *\nContent-Signal: ai-train=no\n`,
    "/sitemap.xml": urlset(
      entry(home, "<lastmod>2026-01-01</lastmod>"),
      entry(`${home}blog/caf%C3%A9`, "<lastmod>2026-10-01</lastmod>"),
      entry(`${home}blog/b`),
      entry(
        `${home}shop/c`,
        '<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>https://example.org/i</image:loc><image:caption>A Red lamp</image:caption></image:image>',
      ),
    ),
    "/llms.txt": `# T\n## Docs\n- [Start here](${home}docs/start)\n`,
  })[path];

test("every tool has a description and an input schema", async () => {
  const { client } = await agent();
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name).sort();
  expect(names.join(" ")).toBe("changes check_site list_pages site_summary");
  for (const { description, inputSchema } of tools) {
    expect(description?.length).toBeGreaterThan(50);
    expect(inputSchema.type).toBe("object");
  }
});

test("the configuration in the docs starts the server", async () => {
  const [block] = blocksOf(page("docs/agents.md")).filter(({ language }) => language === "json");
  const { command, args } = JSON.parse(block?.code ?? "").mcpServers.sitegrove;
  expect([command, args[0]]).toEqual(["sitegrove", "mcp"]);
  const { ask } = await agent(...args.slice(1));
  expect(await ask("site_summary", { site: "https://example.org/" })).toMatchObject({ isError: true });
});

describe("a small website", () => {
  test("is crawled once, and again only with refresh", async () => {
    const site = await website(small);
    const { ask } = await agent("--allow", site.home, "--llms");
    expect((await ask("site_summary", { site: site.home })).facts).toMatchObject({
      site: site.home,
      complete: true,
      pages: 5,
      sections: {
        list: [{ section: `${site.home}blog/`, pages: 2 }, { pages: 1 }, { pages: 1 }, { pages: 1 }],
        others: 0,
      },
      dates: { pages: 2, oldest: "2026-01-01", newest: "2026-10-01" },
      preferences: [{ field: "Content-Signal", values: { "ai-train": "no" }, agents: ["*"] }],
      problems: { list: [] },
    });
    const asked = site.hits.length;
    const { facts } = await ask("list_pages", { site: site.home.slice(0, -1), include: ["*/blog/*"], limit: 1 });
    const { pages, nextCursor } = facts as Pages;
    expect(pages).toEqual([{ url: `${site.home}blog/caf%C3%A9`, lastModified: "2026-10-01" }]);
    expect((await ask("list_pages", { site: site.home, include: ["*/blog/*"], cursor: nextCursor })).facts).toEqual({
      complete: true,
      crawledAt: expect.stringMatching(/^20\d\d-.*Z$/),
      pages: [{ url: `${site.home}blog/b` }],
    });
    const find = async (words: string) =>
      ((await ask("list_pages", { site: site.home, words })).facts as Pages).pages.map(({ url }) =>
        url.slice(site.home.length),
      );
    expect(await find("CAFÉ blog")).toEqual(["blog/caf%C3%A9"]);
    expect(await find("red lamp")).toEqual(["shop/c"]);
    expect(await find("start docs")).toEqual(["docs/start"]);
    expect((await ask("check_site", { site: site.home })).facts).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ rule: "lastmod-date-only" })]),
    });
    expect(site.hits).toHaveLength(asked);
    expect(readdirSync(folder).filter((name) => /(?<!\.changes)\.warc\.gz$/.test(name))).toHaveLength(1);

    site.routes = (path, home) => small(path, home)?.replace("shop/c", "shop/d");
    await ask("site_summary", { site: site.home, refresh: true });
    expect(await find("shop")).toEqual(["shop/d"]);
    for (const archive of readdirSync(folder)) writeFileSync(path.join(folder, archive), "damaged");
    expect(await find("shop")).toEqual(["shop/d"]);
    expect(site.hits.length).toBeGreaterThan(asked);
    expect((await ask("changes", { site: site.home })).text).toContain("damaged");
    expect((await ask("changes", { site: site.home })).facts).toMatchObject({ complete: true, changes: [] });
    expect(await ask("list_pages", { site: site.home, cursor: nextCursor })).toMatchObject({
      isError: true,
      text: expect.stringContaining("earlier state"),
    });
  });

  test("failures are results with isError", async () => {
    const site = await website(small);
    const other = await website(small);
    const { ask } = await agent("--allow", site.home);
    const refused = [
      await ask("site_summary", { site: other.home }),
      await ask("list_pages", { site: "not a website" }),
      await ask("changes", { site: other.home }),
      await ask("list_pages", {}),
      await ask("list_pages", { site: site.home, include: ["/(/"] }),
      await ask("list_pages", { site: site.home, cursor: "wrong" }),
      await ask("list_pages", { site: site.home, words: " " }),
    ];
    expect(refused.map(({ isError, text }) => [isError, text.length > 10])).toEqual(refused.map(() => [true, true]));
    expect(refused[0]?.text).toContain("is not one of the allowed websites");
    expect(other.hits).toEqual([]);
  });

  test("is refused at a private address without --allow", async () => {
    const site = await website(small);
    const { ask } = await agent();
    const text = expect.stringContaining("private address (allow with --allow SITE)");
    expect(await ask("site_summary", { site: site.home })).toMatchObject({ isError: true, text });
    expect(await ask("changes", { site: site.home })).toMatchObject({ isError: true, text });
    expect(site.hits).toEqual([]);
  });

  test("is not requested repeatedly if it is unreachable", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    closing.push(() => server.close());
    const home = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
    const { ask } = await agent("--allow", home);
    expect(await ask("changes", { site: home })).toMatchObject({ isError: true });
    expect(connections).toBeLessThan(5);
  });

  test("list_pages takes the same filters as ls, and no page is repeated across answers", async () => {
    const pages = (home: string) => ["a", "b", "cart/c"].map((page) => entry(home + page));
    const site = await website(
      (path, home) =>
        ({
          "/robots.txt": `User-agent: GPTBot\nDisallow: /cart/\nSitemap: ${home}1.xml\nSitemap: ${home}2.xml`,
          "/1.xml": urlset(...pages(home)),
          "/2.xml": urlset(...pages(home), entry(`${home}d`), entry("https://example.org/e")),
        })[path],
    );
    const { ask } = await agent("--allow", site.home, "--no-known", "--no-homepage");
    const urls = async (question: object) => {
      const found: string[] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const asked = { site: site.home, ...question, limit: 2, ...(cursor && { cursor }) };
        const { facts } = await ask("list_pages", asked);
        found.push(...(facts as Pages).pages.map(({ url }) => url.replace(site.home, "")));
        cursor = (facts as Pages).nextCursor;
      }
      return found.join(" ");
    };
    expect(await urls({})).toBe("a b cart/c a b cart/c d https://example.org/e");
    expect(await urls({ unique: true })).toBe("a b cart/c d https://example.org/e");
    expect(await urls({ unique: true, scope: "host" })).toBe("a b cart/c d");
    expect(await urls({ unique: true, scope: "site", allowedFor: "GPTBot" })).toBe("a b d");
    expect(await urls({ since: "7d" })).toBe("");
    expect(await urls({ since: "7d", undated: "keep", exclude: ["a"] })).toBe("b b d");
    expect((await ask("list_pages", { site: site.home, allowedFor: "GPTBot" })).text).toMatch(
      /^5 pages; skipped 1 page: could not read robots.txt of https:\/\/example.org$/,
    );
  });

  test("a regular expression that would take years is abandoned, and the server keeps answering", async () => {
    const site = await website(
      (path, home) => ({ "/sitemap.xml": urlset(entry(`${home}${"a".repeat(60)}`), entry(`${home}b`)) })[path],
    );
    const { ask } = await agentProcess("--allow", site.home, "--no-homepage");
    expect(await ask("list_pages", { site: site.home, include: "/(a+)+!/" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("A regular expression took too long"),
    });
    const { facts } = await ask("list_pages", { site: site.home, include: "/b$/" });
    expect((facts as Pages).pages).toEqual([{ url: `${site.home}b` }]);
  });

  test("gets a note if it has no sitemaps", async () => {
    const { home } = await website((path) => (path === "/" ? "<p>" : undefined));
    const { ask } = await agent("--allow", home);
    expect((await ask("list_pages", { site: home })).text).toBe(`0 pages; no sitemap found for ${home}`);
    expect((await ask("list_pages", { site: home, words: "a" })).facts).toMatchObject({
      note: expect.stringContaining("no sitemap"),
    });
    expect((await ask("site_summary", { site: home })).text).toBe(`${home}: no sitemap found`);
    expect((await ask("check_site", { site: home })).text).toMatch(/: 1 error, \d+ /);
  });

  test("lists of pages and changes say if a sitemap could not be read", async () => {
    const site = await website(
      (path, home) =>
        ({ "/sitemap.xml": index(`${home}1.xml`, `${home}2.xml`), "/1.xml": urlset(entry(`${home}a`)) })[path],
    );
    const { ask } = await agent("--allow", site.home);
    for (const [tool, question] of [
      ["list_pages", {}],
      ["list_pages", { words: "a" }],
      ["changes", {}],
    ] as const) {
      const { facts, text } = await ask(tool, { site: site.home, ...question });
      expect([tool, (facts as { complete: boolean }).complete, text]).toEqual([
        tool,
        false,
        expect.stringContaining("; incomplete, because not every sitemap could be read"),
      ]);
    }
  });

  test.each(["127.0.0.1", "localhost"])("%s needs no scheme", async (host) => {
    const site = await website(small);
    const named = `${host}:${new URL(site.home).port}`;
    const { ask } = await agent("--allow", named);
    const facts = { site: `http://${named}/`, pages: 4 };
    for (const spelled of [named, `http://${named}/`])
      expect((await ask("site_summary", { site: spelled })).facts).toMatchObject(facts);
  });
});

test("`changes` lists what changed since its last call, in several answers if the list is long", async () => {
  let pages = ["a", "b"];
  const dated = (url: string) => entry(url, `<lastmod>${url.endsWith("/a") ? "2026-01-01" : "2026-02-02"}</lastmod>`);
  const site = await website((path, home) =>
    path === "/sitemap.xml" ? urlset(...pages.map((page) => dated(home + page))) : undefined,
  );
  const { ask } = await agent("--allow", site.home);
  const first = await ask("changes", { site: site.home });
  expect(first.facts).toMatchObject({ isFirst: true, complete: true, changes: [] });
  pages = ["b", ...Array.from({ length: 2000 }, (_, at) => `new-${at}`)];
  // A refresh for another tool does not use up the changes.
  for (let times = 0; times < 2; times++)
    expect((await ask("site_summary", { site: site.home, refresh: true })).facts).toMatchObject({ pages: 2001 });
  const found: { kind: string; page: { url: string } }[] = [];
  let cursor: string | undefined;
  let answers = 0;
  do {
    const { facts } = await ask("changes", { site: site.home, ...(cursor && { cursor }) });
    const { changes, nextCursor, isFirst } = facts as { changes: typeof found; nextCursor?: string; isFirst: boolean };
    found.push(...changes);
    cursor = nextCursor;
    answers += 1;
    expect(isFirst).toBe(false);
  } while (cursor !== undefined);
  expect(answers).toBeGreaterThan(1);
  expect(found.filter(({ kind }) => kind === "removed")).toEqual([
    { kind: "removed", page: { url: `${site.home}a`, lastModified: "2026-01-01" } },
  ]);
  expect(new Set(found.map(({ page }) => page.url)).size).toBe(2001);
  expect((await ask("changes", { site: site.home })).facts).toMatchObject({
    isFirst: false,
    complete: true,
    changes: [],
  });
  expect(((await ask("list_pages", { site: site.home, limit: 1 })).facts as Pages).pages).toHaveLength(1);
  expect(await ask("changes", { site: site.home, cursor: "wrong" })).toMatchObject({ isError: true });
});

const listOfPages = (pages: () => readonly string[]) =>
  website((path, home) => (path === "/sitemap.xml" ? urlset(...pages().map((page) => entry(home + page))) : undefined));
const few = ["--no-known", "--known-path", "sitemap.xml", "--no-homepage"];
interface Listed {
  readonly changes: readonly { readonly page: { readonly url: string } }[];
  readonly nextCursor?: string;
}

test("a list of changes is repeated until its end was delivered, and a failed crawl keeps the last state", async () => {
  let pages = ["a"];
  const site = await listOfPages(() => pages);
  const { ask } = await agent("--allow", site.home, ...few);
  await ask("changes", { site: site.home });
  pages = ["a", ...Array.from({ length: 2000 }, (_, at) => `new-${at}`)];
  const first = (await ask("changes", { site: site.home })).facts as Listed;
  expect(first.nextCursor).toBeDefined();
  // The rest was never requested, so another server starts again once the first has ended.
  await closing.pop()?.();
  const next = await agent("--allow", site.home, ...few);
  let { changes, nextCursor } = (await next.ask("changes", { site: site.home })).facts as Listed;
  expect(changes).toEqual(first.changes);
  // If an answer was lost, the next one repeats it.
  const again = await next.ask("changes", { site: site.home, cursor: nextCursor });
  expect(await next.ask("changes", { site: site.home, cursor: nextCursor })).toEqual(again);
  for (; nextCursor !== undefined; ) {
    ({ changes, nextCursor } = (await next.ask("changes", { site: site.home, cursor: nextCursor })).facts as Listed);
  }
  expect((await next.ask("changes", { site: site.home })).facts).toMatchObject({ changes: [] });
  pages = ["a", "b", "c"];
  await next.ask("site_summary", { site: site.home, refresh: true });
  site.routes = () => undefined;
  await next.ask("changes", { site: site.home });
  expect(((await next.ask("list_pages", { site: site.home })).facts as Pages).pages).toHaveLength(3);
});

test("an agent gets the rest of a list that another one has read to its end, or is told that it is gone", async () => {
  let pages = ["a"];
  const site = await listOfPages(() => pages);
  const question = { site: site.home };
  const [one, other] = [await agent("--allow", site.home, ...few), await agent("--allow", site.home, ...few)];
  const rest = async ({ ask }: typeof one, from: Listed) => {
    const found = [...from.changes];
    for (let cursor = from.nextCursor; cursor !== undefined; ) {
      const { changes, nextCursor } = (await ask("changes", { ...question, cursor })).facts as Listed;
      found.push(...changes);
      cursor = nextCursor;
    }
    return new Set(found.map(({ page }) => page.url)).size;
  };
  await one.ask("changes", question);
  pages = ["a", ...Array.from({ length: 2000 }, (_, at) => `new-${at}`)];
  const first = (await one.ask("changes", question)).facts as Listed;
  expect(await rest(other, (await other.ask("changes", question)).facts as Listed)).toBe(2000);
  expect(await rest(one, first)).toBe(2000);
  // The next list replaces it once it was read to its end.
  expect((await other.ask("changes", question)).facts).toMatchObject({ changes: [] });
  const late = await one.ask("changes", { ...question, cursor: first.nextCursor });
  expect(late).toMatchObject({ isError: true, text: expect.stringContaining("the rest is not listed again") });
});

test("an argument of any length is cut in the message about it", async () => {
  const site = await listOfPages(() => ["a"]);
  const { ask } = await agent("--allow", site.home, ...few);
  for (const wrong of [
    { include: `/(${"a".repeat(100_000)}/` },
    { since: "x".repeat(100_000) },
    { cursor: "x".repeat(100_000) },
  ]) {
    const { isError, text } = await ask("list_pages", { site: site.home, ...wrong });
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(2500);
  }
  const { text } = await ask("list_pages", { site: site.home, include: `/(${"a".repeat(100_000)}/` });
  expect(text).toMatch(/Unterminated group$/);
  for (const wrong of [
    { site: `http://${"x".repeat(100_000)}` },
    { site: site.home, scope: "x".repeat(100_000) },
    { site: site.home, ["x".repeat(100_000)]: 1 },
  ])
    expect((await ask("list_pages", wrong)).isError).toBe(true);
});

test("what `changes` keeps of an unreadable sitemap does not make other answers complete", async () => {
  let isDown = false;
  const site = await serve({
    "/sitemap.xml": index("{base}/1.xml", "{base}/2.xml"),
    "/1.xml": urlset("{base}/a"),
    "/2.xml": (request, response) =>
      void (isDown ? response.writeHead(503).end() : response.end(urlset(`http://${request.headers.host}/b`))),
  });
  const { ask } = await agent("--allow", site.homepage, ...few);
  const question = { site: site.homepage };
  await ask("changes", question);
  const before = (await ask("list_pages", question)).facts;
  isDown = true;
  expect((await ask("changes", question)).facts).toMatchObject({ complete: false, changes: [] });
  // The last complete crawl still answers, and says when it was.
  expect((await ask("list_pages", question)).facts).toEqual(before);
  const today = { complete: false, pages: [{ url: `${site.homepage}a` }] };
  expect((await ask("list_pages", { ...question, refresh: true })).facts).toMatchObject(today);
});

test("a canceled call uses up no changes", async () => {
  let pages = ["a"];
  let [isHeld, answer] = [false, () => {}];
  const site = await serve({
    "/sitemap.xml": (_, response) => {
      answer = () => void response.end(urlset(...pages.map((page) => entry(site.homepage + page))));
      if (!isHeld) answer();
    },
  });
  const question = { site: site.homepage };
  const { client, ask } = await agent("--allow", site.homepage, ...few);
  await ask("changes", question);
  [isHeld, pages] = [true, ["a", "b"]];
  const controller = new AbortController();
  const isAsked = site.asked("/sitemap.xml");
  const canceled = client.callTool({ name: "changes", arguments: question }, { signal: controller.signal });
  const rejected = expect(canceled).rejects.toThrow();
  await isAsked;
  controller.abort();
  await rejected;
  // The server reads its messages in order.
  await client.listTools();
  isHeld = false;
  answer();
  const { changes } = (await ask("changes", question)).facts as Listed;
  expect(changes.map(({ page }) => page.url)).toEqual([`${site.homepage}b`]);
});

test("two servers can share a folder", async () => {
  let pages = ["a"];
  const site = await listOfPages(() => pages);
  const one = await agent("--allow", site.home, ...few);
  const other = await agentProcess("--allow", site.home, ...few);
  for (let round = 0; round < 3; round++) {
    pages = [...pages, `page-${round}`];
    const answers = await Promise.all(
      [one, other].flatMap(({ ask }) => [
        ask("site_summary", { site: site.home, refresh: true }),
        ask("list_pages", { site: site.home }),
      ]),
    );
    expect(answers.map(({ isError, text }) => (isError ? text : ""))).toEqual(["", "", "", ""]);
  }
  const told = await Promise.all([one, other].map(({ ask }) => ask("changes", { site: site.home })));
  expect(told.map(({ isError }) => isError)).toEqual([false, false]);
  // Each change is listed to one of them, or to both if they ask at the same time.
  expect(Math.max(...told.map(({ facts }) => (facts as Listed).changes.length))).toBe(2);
  expect(readdirSync(folder).filter((name) => /partial/.test(name))).toEqual([]);
});

test("a server does not answer from the archive of a private website that only another one may read", async () => {
  const site = await website(small);
  const allowed = await agent("--allow", site.home, ...few);
  expect((await allowed.ask("site_summary", { site: site.home })).isError).toBe(false);
  const other = await agent(...few);
  expect((await other.ask("site_summary", { site: site.home })).text).toContain("private address");
});

test("different discovery flags use a different archive", async () => {
  const site = await website(small);
  const pagesWith = async (...flags: string[]) => {
    const { ask } = await agent("--allow", site.home, ...flags);
    return ((await ask("list_pages", { site: site.home })).facts as Pages).pages.length;
  };
  expect([await pagesWith(), await pagesWith("--llms"), await pagesWith()]).toEqual([4, 5, 4]);
});

test("every tool has an output schema, and patterns are strings or lists of strings", async () => {
  const site = await website(small);
  const { client, ask } = await agent("--allow", site.home);
  const { tools } = await client.listTools();
  expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
  for (const include of ["/blog/", ["/blog/"]])
    expect(((await ask("list_pages", { site: site.home, include })).facts as Pages).pages).toHaveLength(2);
});

test("words match paths, titles and descriptions, but not the scheme or host", async () => {
  const site = await website(small);
  const { ask } = await agent("--allow", site.home);
  const found = async (words: string) =>
    ((await ask("list_pages", { site: site.home, words })).facts as Pages).pages.length;
  expect([await found("http"), await found("127.0.0.1"), await found("blog")]).toEqual([0, 0, 2]);
});

test("the oldest and newest dates are compared as instants", async () => {
  const dates = ["2026-01-01T00:00:00+14:00", "2025-12-31T12:00:00Z", "2025-12-31T23:00:00-12:00", "2026-01-01"];
  const site = await website((path, home) =>
    path === "/sitemap.xml"
      ? urlset(...dates.map((date, at) => entry(`${home}${at}`, `<lastmod>${date}</lastmod>`)))
      : undefined,
  );
  const { ask } = await agent("--allow", site.home);
  const { dates: range } = (await ask("site_summary", { site: site.home })).facts as never as {
    dates: { oldest: string; newest: string };
  };
  expect([range.oldest, range.newest].map((date) => Date.parse(date))).toEqual([
    Math.min(...dates.map((date) => Date.parse(date))),
    Math.max(...dates.map((date) => Date.parse(date))),
  ]);
});

test("a page too large for an answer is cut off with a note, and pagination continues after it", async () => {
  const long = Array.from(
    { length: 60 },
    (_, at) => `<xhtml:link rel="alternate" hreflang="${`é${at}`.repeat(200)}" href="https://example.org/${at}"/>`,
  );
  const site = await website((path, home) =>
    path === "/sitemap.xml"
      ? richUrlset(
          `${home}a`,
          ...Array.from({ length: 20 }, (_, at) => entry(`${home}${at}`, long.join(""))),
          `${home}z?${"q".repeat(7000)}`,
          `${home}b`,
        )
      : undefined,
  );
  const { ask } = await agent("--allow", site.home);
  const urls: string[] = [];
  let notes = "";
  let cursor: string | undefined;
  do {
    const { facts, text, isError } = await ask("list_pages", { site: site.home, ...(cursor && { cursor }) });
    expect([isError, text]).toEqual([false, expect.any(String)]);
    urls.push(...(facts as Pages).pages.map(({ url }) => url));
    notes += text;
    cursor = (facts as Pages).nextCursor;
  } while (cursor !== undefined);
  expect(urls).toHaveLength(23);
  expect(new Set(urls).size).toBe(23);
  expect(notes).toContain("too large for an answer");
});

test("answers about a large website stay small, pagination reaches the end, and memory stays flat", async () => {
  const peaks: number[] = [];
  const perSitemap = some(10_000, 4000);
  for (const sitemaps of isLong ? [10, 100] : [1]) {
    const site = await website((path, home) => {
      const number = /^\/s(\d+)\.xml$/.exec(path)?.[1];
      if (path === "/robots.txt")
        return Array.from({ length: sitemaps }, (_, at) => `Sitemap: ${home}s${at}.xml\n`).join("");
      if (number === undefined) return undefined;
      const url = (at: number) => `${home}section-${at % 500}/${number}-${at}`;
      return urlset(...Array.from({ length: perSitemap }, (_, at) => entry(url(at), "<lastmod>2026-01-01</lastmod>")));
    });
    const flags = ["--allow", site.home, "--no-known", "--no-homepage"];
    await (await agent(...flags)).ask("list_pages", { site: site.home, limit: 1 });
    // Uses another process, because the memory of a crawl is measured elsewhere.
    const { ask, pid } = await agentProcess(...flags);
    const facts = { complete: true, pages: sitemaps * perSitemap };
    expect((await ask("site_summary", { site: site.home })).facts).toMatchObject(facts);
    const last = `${sitemaps - 1}-${perSitemap - 1}`;
    expect((await ask("list_pages", { site: site.home, words: last })).facts).toMatchObject({
      pages: [{ url: `${site.home}section-499/${last}` }],
    });
    let cursor: string | undefined;
    const seen = new Set<string>();
    for (let answers = 0; answers < some(40, 8); answers++) {
      const { facts } = await ask("list_pages", { site: site.home, limit: 1000, ...(cursor && { cursor }) });
      for (const { url } of (facts as Pages).pages) seen.add(url);
      cursor = (facts as Pages).nextCursor;
      if (cursor === undefined) break;
    }
    // No page is repeated, and none is missing.
    expect([...seen]).toEqual(
      Array.from(seen, (_, at) => `${site.home}section-${at % 500}/${Math.floor(at / perSitemap)}-${at % perSitemap}`),
    );
    expect(seen.size).toBeGreaterThan(2000);
    // The archive is really compressed: a page took 95 bytes when it was sent.
    const [archive = ""] = readdirSync(folder).filter((name) => name.includes(new URL(site.home).port));
    expect(statSync(path.join(folder, archive)).size).toBeLessThan(sitemaps * perSitemap * 10);
    await ask("check_site", { site: site.home });
    const status = process.platform === "linux" ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
    peaks.push(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  }
  for (const peak of peaks) expect(peak).toBeLessThan(160);
  // This website has ten times the pages.
  if (peaks.length > 1) expect(peaks[1]!).toBeLessThan(peaks[0]! * 1.15);
});

test("wrong flags are reported at once", async () => {
  expect(await sitegrove(["mcp", "--allow", "not a website"])).toMatchObject({ code: 2 });
  expect(await sitegrove(["mcp", "--allow-private"])).toMatchObject({ code: 2 });
  writeFileSync(path.join(folder, "file"), "");
  expect(await sitegrove(["mcp", "--dir", path.join(folder, "file")])).toMatchObject({ code: 1 });
});
