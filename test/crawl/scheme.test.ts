// A website that is given without a scheme.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import {
  type Client,
  type CrawlTarget,
  crawl,
  type Problem,
  problem,
  type StreamOptions,
  sitemapTreeForHomepage,
  streamPages,
} from "../../src/index.ts";
import { listOf } from "../support/collected.ts";

// Responds over http, and over https with the given problem or, without one, in the same way.
function website(https?: Problem, http?: Problem): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const request: Client["request"] = async ({ url }) => {
    asked.push(url);
    const failure = url.startsWith("https:") ? https : http;
    if (failure !== undefined) return failure;
    const { origin, pathname } = new URL(url);
    const texts: Record<string, string> = { "/robots.txt": `Sitemap: ${origin}/s.txt`, "/s.txt": `${origin}/page` };
    const text = texts[pathname];
    return { status: text === undefined ? 404 : 200, headers: [], body: Readable.from([Buffer.from(text ?? "")]) };
  };
  return { client: { request }, asked };
}

const brief = { knownPaths: "never", useHomepage: false, retries: 0 } as const;
const refused = problem("connection-refused");

test.each([
  refused,
  problem("connection-reset"),
  problem("timeout-connect", { limit: 10_000 }),
  problem("tls-certificate", { value: "ERR_TLS_CERT_ALTNAME_INVALID" }),
  problem("tls-failed", { value: "ERR_SSL_WRONG_VERSION_NUMBER" }),
])("http is used if https does not answer ($message), and the tree reports it", async (failure) => {
  await using tree = await sitemapTreeForHomepage("example.org", { ...brief, client: website(failure).client });
  expect(tree.homepage).toBe("http://example.org/");
  expect((await listOf(tree.pages())).map(({ url }) => url)).toEqual(["http://example.org/page"]);
  expect(tree.complete).toBe(true);
  expect(tree.root.problems).toMatchObject([{ code: "https-missing", value: failure.message }]);
});

test("streams, events and given sitemaps fall back to http, too", async () => {
  const { client } = website(refused);
  const options = { ...brief, client };
  const urls = ["http://example.org/page"];
  expect((await listOf(streamPages("example.org", options))).map(({ url }) => url)).toEqual(urls);
  const given = { sitemaps: ["example.org/s.txt"] };
  expect((await listOf(streamPages(given, options))).map(({ url }) => url)).toEqual(urls);
  const events = await listOf(crawl({ homepage: "example.org" }, options));
  expect(events.find(({ type }) => type === "start")).toMatchObject({ url: "http://example.org/" });
  await using tree = await sitemapTreeForHomepage(given, options);
  expect(tree.pageCount).toBe(1);
});

test("if https answers, it is used, http is never requested, and nothing is requested twice", async () => {
  const { client, asked } = website();
  await using tree = await sitemapTreeForHomepage("example.org", { ...brief, client });
  expect(tree.homepage).toBe("https://example.org/");
  expect(tree.root.problems).toEqual([]);
  expect(asked).toEqual(["https://example.org/robots.txt", "https://example.org/s.txt"]);
});

test.each<[string, CrawlTarget, StreamOptions, readonly string[]]>([
  ["robots.txt", "example.org", {}, ["robots.txt", "s.txt"]],
  ["a given sitemap", { sitemaps: ["example.org/s.txt"] }, {}, ["s.txt"]],
  ["the homepage, if robots.txt is not read", "example.org", { useRobots: false, useHomepage: true }, [""]],
])("the first request is for %s, and the crawl reuses its response", async (_, target, options, paths) => {
  for (const [failure, schemes] of [
    [undefined, ["https"]],
    [refused, ["https", "http"]],
  ] as const) {
    const { client, asked } = website(failure);
    const stream = streamPages(target, { ...brief, ...options, client, onUnreachable: "end" });
    await listOf(stream);
    const working = `${schemes.at(-1)}://example.org/`;
    const tried = schemes.slice(0, -1).map((scheme) => `${scheme}://example.org/${paths[0]}`);
    expect(asked).toEqual([...tried, ...paths.map((path) => working + path)]);
    expect((await stream.finished).totals.requests).toBe(asked.length);
  }
});

test("the first request counts toward the time limit", async () => {
  const silent: Client = { request: () => new Promise(() => {}) };
  const stream = streamPages("example.org", { ...brief, client: silent, limits: { time: 20 }, onUnreachable: "end" });
  expect(await listOf(stream)).toEqual([]);
  const { complete, problems } = await stream.finished;
  expect(complete).toBe(false);
  expect(problems.map(({ problem }) => problem.code)).toContain("robots-unreachable");
});

test("leaving the loop cancels the first request", async () => {
  const silent: Client = { request: () => new Promise(() => {}) };
  const iterator = crawl("example.org", { ...brief, client: silent })[Symbol.asyncIterator]();
  expect(await iterator.next()).toMatchObject({ value: { type: "request" } });
  expect(await iterator.return?.()).toMatchObject({ done: true });
});

test.each([
  ["a scheme that is given", "https://example.org/", refused, undefined],
  ["an invalid certificate of the same name", "example.org", problem("tls-certificate", { value: "CERT_HAS_EXPIRED" })],
  ["a port that refuses both", "example.org:8443", refused],
  ["a name that does not exist", "example.org", problem("dns-not-found")],
  ["http that does not answer either", "example.org", refused, refused],
])("the homepage stays https: %s", async (_, name, https, http?: Problem) => {
  await using tree = await sitemapTreeForHomepage(name, { ...brief, client: website(https, http).client });
  expect(tree.homepage).toMatch(/^https:/);
  expect(tree.reachable).toBe(false);
});
