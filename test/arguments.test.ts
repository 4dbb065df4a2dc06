// What callers get wrong: every public function checks its arguments in the same way, and says what it expected.
import { expect, test } from "vitest";
import {
  checkTree,
  crawl,
  diffTrees,
  fetchClient,
  openTree,
  parseSitemap,
  problem,
  readSitemap,
  SitemapError,
  sitemapTreeForHomepage,
  sitemapTreeFrom,
  streamPages,
} from "../src/index.ts";
import { site } from "./support/site.ts";

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

const homepageTakers = { crawl, sitemapTreeForHomepage, streamPages };

test.each(Object.entries(homepageTakers))("%s refuses what is no homepage", async (_, take) => {
  const expected = "invalid-homepage: Expected the homepage to be an http or https URL, got";
  for (const value of [undefined, null, 5, "", "example.org", "ftp://example.org/", {}, [], Symbol("x"), () => {}]) {
    expect(await refusal(() => take(bad(value)))).toContain(expected);
  }
  expect(await refusal(() => take(bad("https://user:secret@")))).not.toContain("secret");
});

test.each(
  Object.entries({
    ...homepageTakers,
    sitemapTreeFrom: (_: never, options: never) => sitemapTreeFrom(["https://example.org/"], options),
  }),
)("%s refuses what are no options", async (_, take) => {
  for (const options of [null, 5, "x", true, []]) {
    expect(await refusal(() => take(bad("https://example.org/"), bad(options)))).toContain(
      "invalid-option: Expected `options` to be an object",
    );
  }
});

test("sitemapTreeFrom refuses what are no sitemap URLs", async () => {
  for (const urls of [undefined, null, "https://example.org/a.xml", 5, {}]) {
    expect(await refusal(() => sitemapTreeFrom(bad(urls)))).toMatch(/^invalid-homepage: Expected/);
  }
  expect(await refusal(() => sitemapTreeFrom([]))).toBe("invalid-homepage: Expected at least one sitemap URL");
  expect(await refusal(() => sitemapTreeFrom(["a.xml"]))).toContain(
    'the sitemap to be an http or https URL, got `"a.xml"`',
  );
  expect(
    await refusal(() => crawl(bad({ homepage: "https://a.example/", sitemaps: ["https://a.example/"] }))),
  ).toContain("both");
});

test("openTree refuses what is no path, and options that mean nothing for an archive", async () => {
  for (const path of [undefined, null, 5, "", {}, "a\0b"]) {
    expect(await refusal(() => openTree(bad(path)))).toMatch(/^invalid-option: Expected `path` to be a path/);
  }
  expect(await refusal(() => openTree("x.warc", bad({ useRobots: true })))).toBe(
    "invalid-option: Unknown option `useRobots`",
  );
  expect(await refusal(() => openTree("x.warc", bad(null)))).toContain("Expected `options` to be an object");
});

test("parseSitemap refuses what is no text", async () => {
  for (const text of [undefined, null, 5, {}, new Uint8Array(3)]) {
    expect(await refusal(() => parseSitemap(bad(text)))).toMatch(
      /^invalid-option: Expected `text` to be a string \(`readSitemap` takes bytes\), got/,
    );
  }
});

test("readSitemap refuses what are no bytes", async () => {
  const expected =
    /^invalid-option: Expected `bytes` to be a Uint8Array or chunks of bytes \(`parseSitemap` takes text\), got/;
  for (const bytes of [undefined, null, 5, "abc", {}, ["abc"], [null]]) {
    expect(await refusal(() => readSitemap(bad(bytes)))).toMatch(expected);
  }
  const text = (async function* () {
    yield "https://example.org/";
  })();
  expect(await refusal(() => readSitemap(bad(text)))).toMatch(expected);
});

test.each([
  ["parseSitemap", (options: never) => parseSitemap("https://example.org/a", options)],
  ["readSitemap", (options: never) => readSitemap(new TextEncoder().encode("https://example.org/a"), options)],
])("%s takes url, strict and limits, and nothing else", async (_, read) => {
  expect(await refusal(() => read(bad(null)))).toContain("Expected `options` to be an object");
  expect(await refusal(() => read(bad({ useRobots: true })))).toBe("invalid-option: Unknown option `useRobots`");
  expect(await refusal(() => read(bad({ url: "relative" })))).toBe(
    'invalid-option: Expected `url` to be an absolute URL, got `"relative"` (string)',
  );
  expect(await refusal(() => read(bad({ url: 5 })))).toContain("Expected `url` to be an absolute URL");
  expect(await refusal(() => read(bad({ limits: { xmlDepht: 1 } })))).toContain("did you mean `limits.xmlDepth`?");
  const given = { url: new URL("https://example.org/a/"), strict: true, limits: { urlLength: 100 } };
  expect(await read(bad(given))).toMatchObject({ kind: "pages" });
});

test.each([undefined, null, 5, "x", {}, [], Symbol("x")])("no function takes %s for what it is not", async (value) => {
  for (const call of [
    () => fetchClient(bad(value)),
    () => checkTree(bad(value)),
    () => diffTrees(bad(value === "x" ? "" : value), bad(value)),
    () => problem(bad(typeof value === "string" ? 5 : value)),
    () => problem("empty", bad(value === undefined || typeof value === "object" ? null : value)),
  ]) {
    expect(await refusal(call), String(call)).toMatch(/^invalid-(option|homepage): Expected/);
  }
});

test("a URL object is as good as a string", async () => {
  const client = site({
    "/robots.txt": "Sitemap: https://example.org/a.txt",
    "/a.txt": "https://example.org/1",
  }).client;
  const options = { client, useKnownPaths: false, useHomepage: false };
  const urls: string[] = [];
  for await (const page of streamPages(new URL("https://example.org/"), options)) urls.push(page.url);
  for await (const page of streamPages({ homepage: new URL("https://example.org/") }, options)) urls.push(page.url);
  for await (const page of streamPages({ sitemaps: [new URL("https://example.org/a.txt")] }, options))
    urls.push(page.url);
  await using tree = await sitemapTreeForHomepage(new URL("https://example.org/"), options);
  await using given = await sitemapTreeFrom([new URL("https://example.org/a.txt")], options);
  expect(urls).toEqual(Array(3).fill("https://example.org/1"));
  expect([tree.pageCount, given.pageCount]).toEqual([1, 1]);
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
