// What callers get wrong: every public function checks its arguments in the same way, and says what it expected.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { checkTree } from "../src/check.ts";
import { diffTrees } from "../src/diff.ts";
import { BullQueue, JournalQueue, runFleet, siteJob } from "../src/fleet.ts";
import {
  crawl,
  fetchClient,
  openTree,
  parseRobots,
  parseSitemap,
  problem,
  readSitemap,
  SitemapError,
  sitemapTreeForHomepage,
  streamPages,
} from "../src/index.ts";
import type { PageFilters } from "../src/model/options.ts";
import { reportFacts, reportHtml } from "../src/report.ts";
import { urlsOf } from "./support/collected.ts";
import { oddValues } from "./support/odd-values.ts";
import { index, site } from "./support/site.ts";

const bad = (value: unknown) => value as never;

async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof SitemapError) return `${error.code}: ${error.message}`;
    return `not a SitemapError: ${error}`;
  }
  return "accepted";
}

const refused = /^invalid-(option|homepage): (Expected|Unknown)/;
const someTree = () =>
  sitemapTreeForHomepage(
    { sitemaps: ["https://example.org/a.txt"] },
    { client: site({ "/a.txt": "https://example.org/1" }).client },
  );

const homepage = "invalid-homepage: Expected the homepage to be an http or https URL, got";
const noHomepages = [
  ...[undefined, null, 5, {}, [], Symbol("x"), () => {}],
  ...["", "example", "mailto:a@example.org", "ftp://example.org/"],
];
const sitemapBytes =
  "invalid-option: Expected `bytes` to be a Uint8Array or chunks of bytes (`parseSitemap` takes text)";
const someText = Readable.from(["https://example.org/"]);
test.each<[string, (value: never) => unknown, readonly unknown[], string]>([
  ["crawl", crawl, noHomepages, homepage],
  ["sitemapTreeForHomepage", sitemapTreeForHomepage, noHomepages, homepage],
  ["streamPages", streamPages, noHomepages, homepage],
  ["sitemapTreeForHomepage", sitemapTreeForHomepage, [{ sitemaps: 5 }], "invalid-homepage: Expected"],
  ["sitemapTreeForHomepage", sitemapTreeForHomepage, [{ sitemaps: [] }], "Expected at least one sitemap URL"],
  ["sitemapTreeForHomepage", sitemapTreeForHomepage, [{ sitemaps: ["a.xml"] }], 'http or https URL, got `"a.xml"`'],
  ["openTree", openTree, [undefined, null, 5, "", {}, "a\0b"], "invalid-option: Expected `path` to be a path"],
  [
    "parseSitemap",
    parseSitemap,
    [undefined, null, 5, {}, new Uint8Array(3)],
    "a string (`readSitemap` takes bytes), got",
  ],
  ["readSitemap", readSitemap, [undefined, null, 5, "abc", {}, ["abc"], [null], someText], sitemapBytes],
])("%s refuses wrong arguments", async (_, take, values, expected) => {
  for (const value of values) expect(await refusal(() => take(bad(value)))).toContain(expected);
});

test("an error shows no password, and a target cannot be both a homepage and sitemaps", async () => {
  for (const take of [crawl, sitemapTreeForHomepage, streamPages])
    expect(await refusal(() => take(bad("https://user:secret@")))).not.toContain("secret");
  const both = { homepage: "https://a.example/", sitemaps: ["https://a.example/"] };
  expect(await refusal(() => crawl(bad(both)))).toContain("both");
});

test.each([
  ["parseSitemap", (options: never) => parseSitemap("https://example.org/a", options)],
  ["readSitemap", (options: never) => readSitemap(new TextEncoder().encode("https://example.org/a"), options)],
])("%s accepts url, strict and limits, and no other option", async (_, read) => {
  expect(await refusal(() => read(bad({ url: "relative" })))).toBe(
    'invalid-option: Expected `url` to be an absolute URL, got `"relative"`',
  );
  expect(await refusal(() => read(bad({ url: 5 })))).toContain("Expected `url` to be an absolute URL");
  expect(await refusal(() => read(bad({ limits: { documentByte: 1 } })))).toContain(
    "did you mean `limits.documentBytes`?",
  );
  const given = { url: new URL("https://example.org/a/"), strict: true, limits: { documentBytes: 100 } };
  expect(await read(bad(given))).toMatchObject({ kind: "pages" });
});

test("every function refuses values of the wrong type as its argument", async () => {
  await using tree = await someTree();
  const takers: Readonly<Record<string, (value: never) => unknown>> = {
    crawl,
    sitemapTreeForHomepage,
    streamPages,
    openTree,
    parseSitemap,
    parseRobots,
    fetchClient,
    problem,
    checkTree,
    reportFacts,
    reportHtml,
    siteJob,
    runFleet,
    diffBefore: (value) => diffTrees(value, tree),
    diffAfter: (value) => diffTrees(tree, value),
    diffBytes: (value) => diffTrees(tree, { name: "a", bytes: value }),
    journal: JournalQueue.open,
    bull: BullQueue.open,
    robotsUrl: (value) => parseRobots("").isAllowed(value, "a"),
    robotsAgent: (value) => parseRobots("").isAllowed("/", value),
    save: (value) => tree.save(value),
    response: (value) => tree.response(value),
    text: (value) => tree.text(value),
    from: (value) => tree.pages({ from: value }),
  };
  for (const [name, take] of Object.entries(takers)) {
    for (const [what, make] of Object.entries(oddValues)) {
      expect(await refusal(() => take(bad(make()))), `${name}: ${what}`).toMatch(refused);
    }
  }
});

test("runFleet refuses anything but a list of homepages", async () => {
  const queue = {
    add: async (sites: AsyncIterable<unknown>) => {
      for await (const _ of sites);
    },
    take: async () => {},
  };
  for (const sites of [5, "example.org", {}, [5], ["no homepage"]]) {
    expect(await refusal(() => runFleet({ queue: bad(queue), sites: bad(sites) }))).toMatch(
      /^invalid-option: Expected/,
    );
  }
});

test("every function refuses values of the wrong type as its options", async () => {
  await using tree = await someTree();
  const takers: Readonly<Record<string, (options: never) => unknown>> = {
    crawl: (options) => crawl("https://example.org/", options),
    stream: (options) => streamPages("https://example.org/", options),
    homepage: (options) => sitemapTreeForHomepage("https://example.org/", options),
    sitemaps: (options) => sitemapTreeForHomepage({ sitemaps: ["https://example.org/"] }, options),
    openTree: (options) => openTree("x.warc", options),
    parse: (options) => parseSitemap("", options),
    read: (options) => readSitemap(new Uint8Array(), options),
    check: (options) => checkTree(tree, options),
    diff: (options) => diffTrees(tree, tree, options),
    report: (options) => reportFacts(tree, options),
    fleet: runFleet,
    job: (options) => siteJob("example.org", options),
    journal: (options) => JournalQueue.open("x", options),
    bull: (options) => BullQueue.open("redis://127.0.0.1:1/0", options),
    facts: (facts) => problem("empty", facts),
    pages: (part) => tree.pages(part),
    walk: (part) => tree.walk(part),
    treeSitemaps: (part) => tree.sitemaps(part),
    problems: (part) => tree.problems(part),
  };
  for (const [name, take] of Object.entries(takers)) {
    for (const [what, make] of Object.entries(oddValues)) {
      expect(await refusal(() => take(bad(make()))), `${name}: ${what}`).toMatch(refused);
    }
  }
});

test("an option in the object that names the website is refused", async () => {
  expect(await refusal(() => crawl(bad({ homepage: "https://example.org/", useRobots: false })))).toMatch(
    /^invalid-homepage: Unknown key `useRobots` in the website$/,
  );
  expect(await refusal(() => crawl(bad({ sitemap: ["https://example.org/a.xml"] })))).toMatch(
    /did you mean `sitemaps`\?$/,
  );
});

test("nested options are checked when the function is called", async () => {
  await using tree = await someTree();
  const crawlOptions = { concurrency: bad({ perhost: 1 }) };
  for (const call of [
    () => checkTree(tree, crawlOptions),
    () => diffTrees(tree, tree, crawlOptions),
    () => reportFacts(tree, { check: crawlOptions }),
    () => runFleet({ queue: bad({}), ...crawlOptions }),
  ]) {
    expect(await refusal(call)).toContain("did you mean `concurrency.perHost`?");
  }
  expect(await refusal(() => checkTree(tree, { signal: bad(new EventTarget()) }))).toContain("an AbortSignal");
});

test("a URL object is as good as a string", async () => {
  const client = site({
    "/robots.txt": "Sitemap: https://example.org/a.txt",
    "/a.txt": "https://example.org/1",
  }).client;
  const options = { client, knownPaths: "never", useHomepage: false } as const;
  const homepage = new URL("https://example.org/");
  for (const target of [homepage, { homepage }, { sitemaps: [new URL("https://example.org/a.txt")] }]) {
    expect(await urlsOf(streamPages(target, options))).toEqual(["https://example.org/1"]);
    await using tree = await sitemapTreeForHomepage(target, options);
    expect(tree.pageCount).toBe(1);
  }
});

test("bytes may be an ArrayBuffer or a Buffer, or chunks of either kind of iterable", async () => {
  const bytes = new TextEncoder().encode("https://example.org/a\nhttps://example.org/b\n");
  const chunks = [bytes.slice(0, 30), bytes.slice(30)];
  for (const given of [bytes, bytes.buffer, Buffer.from(bytes), chunks, new Set(chunks), new Blob(chunks).stream()]) {
    expect(await readSitemap(given as Uint8Array)).toMatchObject({
      kind: "pages",
      complete: true,
      pages: { length: 2 },
    });
  }
});

test("`save` and `resume` cannot be combined", async () => {
  for (const take of [crawl, streamPages, sitemapTreeForHomepage]) {
    expect(await refusal(() => take("https://example.org/", { save: "a.warc", resume: "b.warc" }))).toMatch(
      /^invalid-option: Expected either `save` or `resume`, got both/,
    );
  }
});

test("recurse and recurseList must return the right type, also in a promise", async () => {
  const { client } = site({ "/i.xml": index("/a.txt"), "/a.txt": "https://example.org/1" });
  const read = (options: object) =>
    sitemapTreeForHomepage({ sitemaps: ["https://example.org/i.xml"] }, { client, ...options });
  for (const result of [undefined, 0, null, Promise.resolve(0), ["match"]]) {
    expect(await refusal(() => read({ recurse: () => result }))).toMatch(
      /^invalid-option: Expected `recurse\(\)` to be true or false/,
    );
  }
  for (const result of [undefined, 5, Promise.resolve(5), [null], ["https://example.org/a.txt"]]) {
    expect(await refusal(() => read({ recurseList: () => result }))).toMatch(
      /^invalid-option: Expected `recurseList\(\)` to be a list of children/,
    );
  }
  for (const options of [{ recurse: async () => false }, { recurseList: async () => [] }]) {
    await using tree = await read(options);
    expect(tree.pageCount).toBe(0);
  }
});

test("`retry` overrides `retries`, and gets the failure and the number of the attempt", async () => {
  const { client } = site({ "/a.txt": "https://example.org/1" });
  const asked: unknown[] = [];
  const sometimes = {
    request: async (request: Parameters<typeof client.request>[0]) =>
      asked.length < 2 ? { status: 501, headers: [], body: emptyBody() } : client.request(request),
  };
  const retry = ({ code, status }: { code: string; status?: number }, attempt: number) => {
    asked.push([code, status, attempt]);
    return attempt === 1 || 1;
  };
  const target = { sitemaps: ["https://example.org/a.txt"] };
  await using tree = await sitemapTreeForHomepage(target, { client: sometimes, retries: 0, retry });
  expect(asked).toEqual([
    ["http-501", 501, 1],
    ["http-501", 501, 2],
  ]);
  expect(tree.pageCount).toBe(1);
});

async function* emptyBody(): AsyncGenerator<Uint8Array, void> {}

test("include and exclude take a pattern, a function or a list of them", async () => {
  const { client } = site({ "/a.txt": "https://example.org/1\nhttps://example.org/2\nhttps://example.org/3" });
  const listed = async (filters: PageFilters) => {
    const pages = streamPages({ sitemaps: ["https://example.org/a.txt"] }, { client, ...filters });
    return (await urlsOf(pages)).map((url) => url.slice(-1)).join("");
  };
  expect(await listed({ include: (url) => url.endsWith("2") })).toBe("2");
  expect(await listed({ include: [(url) => url.endsWith("2"), /3$/] })).toBe("23");
  expect(await listed({ exclude: ["*/1", (url) => url.endsWith("2")] })).toBe("3");
  expect(await listed({ excludeSitemap: () => true })).toBe("");
  expect(await refusal(() => listed({ include: 5 } as never))).toContain("a pattern, a function or a list of them");
});
