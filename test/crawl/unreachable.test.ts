// Websites that cannot be reached, on real sockets: few requests, a timely end, and the reason as data.
import path from "node:path";
import { describe, expect, test } from "vitest";
import { crawl, streamPages } from "../../src/crawl/crawl.ts";
import { knownPaths } from "../../src/discover/known-paths.ts";
import type { FinishedEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { problem } from "../../src/model/problem.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { selfSigned } from "../support/certificates.ts";
import { codesOf, urlsOf } from "../support/collected.ts";
import { type Fault, faults } from "../support/fault-server.ts";
import { tenPages, testServer } from "../support/fetching.ts";
import { site } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const everything = (fault: Fault) => new Proxy({}, { get: () => fault }) as Record<string, Fault>;
const xml =
  (text: string): Fault =>
  (exchange) =>
    exchange.respond(200, { "content-type": "text/xml" }, text);
// Thirty seconds would be too long for a test.
const brief: Options = { timeout: { firstByte: 300 } };

async function finished(target: string, options: Options): Promise<FinishedEvent> {
  for await (const event of crawl(target, options)) if (event.type === "finished") return event;
  throw new Error("It never ended");
}

describe("a website that is down", () => {
  test("and accepts connections but never responds gets two requests for robots.txt and one for its homepage", async () => {
    const server = await testServer(everything(faults.silence()));
    const save = path.join(newFolder(), "down.warc");
    await using tree = await sitemapTreeForHomepage(server.origin, { ...brief, save });
    await using again = await openTree(save);
    expect(again.toJSON()).toEqual(tree.toJSON());
    expect(server.requests.map(({ path }) => path)).toEqual(["/robots.txt", "/robots.txt", "/"]);
    const reason = { code: "timeout-first-byte", limit: 300 };
    // With robots.txt and the homepage.
    const unreachable = { outcome: "failed", reason, documents: knownPaths.length + 2 };
    expect(tree.toJSON()).toMatchObject({ reachable: false, complete: false, unreachable });
    expect(new Set(tree.discovery.map(({ reason }) => reason?.code))).toEqual(new Set(["timeout-first-byte"]));
  });

  const refused = async () => {
    const server = await testServer({});
    await server.close();
    return server;
  };
  const untrusted = () => testServer({}, { tls: selfSigned({ names: ["127.0.0.1"] }) });
  const down = (fault: Fault) => () => testServer(everything(fault));

  test.each([
    ["resets connections", down(faults["reset before headers"]()), "connection-reset", 3],
    ["closes connections", down(faults["empty reply"]()), "connection-reset", 3],
    ["does not speak HTTP", down(faults["not http"]()), "http-protocol", 2],
    ["refuses connections", refused, "connection-refused", 3],
    ["has a certificate that is not valid", untrusted, "tls-certificate", 2],
  ])("and %s gets few requests, and is reported as unreachable", async (_, serve, code, requests) => {
    const { origin } = await serve();
    const unreachable = { outcome: "failed", reason: { code } };
    expect(await finished(origin, brief)).toMatchObject({ reachable: false, unreachable, totals: { requests } });
  });

  test("gets one more request for a known path if neither robots.txt nor the homepage is requested", async () => {
    const server = await testServer(everything(faults["reset before headers"]()));
    const options: Options = { useRobots: false, useHomepage: false, concurrency: 1 };
    const unreachable = { documents: knownPaths.length };
    expect(await finished(server.origin, options)).toMatchObject({ complete: false, unreachable });
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });

  test("is reported as unreachable for a given sitemap, too", async () => {
    const server = await testServer(everything(faults["reset before headers"]()));
    const given = Array.from({ length: 50 }, (_, at) => `${server.origin}/${at}.xml`);
    await using tree = await sitemapTreeForHomepage({ sitemaps: given }, { concurrency: 4 });
    expect(tree.unreachable).toMatchObject({ outcome: "failed", documents: 50 });
    expect(server.requests.length).toBeLessThanOrEqual(6);
  });
});

describe("a website whose robots.txt does not respond", () => {
  test("is not down if other requests succeed", async () => {
    const server = await testServer({
      "/robots.txt": faults["reset before headers"](),
      "/": "<html></html>",
      "/sitemap.xml": xml(tenPages),
    });
    await using tree = await sitemapTreeForHomepage(server.origin, brief);
    expect(tree).toMatchObject({ pageCount: 10, reachable: true, complete: false });
    // The homepage was requested once, before everything else.
    const paths = server.requests.map(({ path }) => path);
    expect(paths.filter((path) => path === "/")).toHaveLength(1);
    expect(paths.slice(0, 3)).toEqual(["/robots.txt", "/robots.txt", "/"]);
  });

  test("gets no other request with strictRobots", async () => {
    const server = await testServer(everything(faults["reset before headers"]()));
    await finished(server.origin, { strictRobots: true });
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(["/robots.txt"]));
  });
});

describe("a website that refuses everything", () => {
  test.each([403, 401, 451])(
    "with %i counts as blocked, after requests for robots.txt, the homepage and three guesses, one after the other",
    async (status) => {
      const server = await testServer(everything((exchange) => exchange.respond(status)));
      await using tree = await sitemapTreeForHomepage(server.origin);
      expect(tree.root.problems.map(({ code }) => code)).toEqual(["homepage-unreachable", "website-unreachable"]);
      const unreachable = { outcome: "blocked", reason: { code: `http-${status}` }, documents: 5 };
      expect(tree).toMatchObject({ complete: false, reachable: false, unreachable });
      expect(server.requests).toHaveLength(5);
    },
  );

  test("with a Retry-After of a day gets only a few requests", async () => {
    const server = await testServer(everything((exchange) => exchange.respond(429, { "retry-after": "86400" })));
    const unreachable = { outcome: "blocked", reason: { code: "rate-limited" } };
    expect(await finished(server.origin, {})).toMatchObject({ unreachable });
    expect(server.requests.length).toBeLessThanOrEqual(5);
  });

  test.each<[string, Parameters<typeof site>[0]]>([
    ["the homepage exists", (path) => (path === "/" ? "<html></html>" : { status: 403 })],
    ["one document is only missing", (path) => ({ status: path === "/robots.txt" ? 404 : 403 })],
  ])("still counts as reachable if %s", async (_, routes) => {
    expect((await finished("https://example.org/", { client: site(routes).client })).reachable).toBe(true);
  });
});

test("a sitemap on another host that is down costs a few requests, and only that sitemap is lost", async () => {
  const dead = await testServer(everything(faults.silence()), { host: "127.0.0.2" });
  const children = Array.from({ length: 60 }, (_, at) => `<sitemap><loc>${dead.origin}/${at}.xml</loc></sitemap>`);
  const server = await testServer({
    "/robots.txt": (exchange) => exchange.respond(200, {}, `Sitemap: ${exchange.headers.get("host")}`),
    "/index.xml": xml(`<sitemapindex>${children.join("")}<sitemap><loc>/own.xml</loc></sitemap></sitemapindex>`),
    "/own.xml": xml(tenPages),
  });
  await using tree = await sitemapTreeForHomepage(
    { sitemaps: [`${server.origin}/index.xml`] },
    { ...brief, network: "allow-private" },
  );
  expect(tree).toMatchObject({ pageCount: 10, reachable: true });
  expect(dead.requests.length).toBeLessThanOrEqual(5);
  expect(codesOf(tree).filter((code) => code === "timeout-first-byte")).toHaveLength(60);
});

describe("a stream of pages", () => {
  const pagesOf = (target: string, options?: Options) => urlsOf(streamPages(target, options));

  test.each<[string, Fault, string, string]>([
    ["does not answer", faults["reset before headers"](), "failed", "connection-reset"],
    ["refuses everything", (exchange) => exchange.respond(403), "blocked", "http-403"],
  ])("of a website that %s ends with an error, unless told otherwise", async (_, fault, outcome, code) => {
    const server = await testServer(everything(fault));
    const error = { name: "SitemapError", code: "unreachable", outcome, problem: { code } };
    await expect(pagesOf(server.origin, brief)).rejects.toMatchObject(error);
    expect(await pagesOf(server.origin, { ...brief, onUnreachable: "end" })).toEqual([]);
  });

  test("of a website without a sitemap ends without an error", async () => {
    expect(await pagesOf((await testServer({})).origin)).toEqual([]);
  });
});

test("the caller's client decides what is reachable, but a limit that ended the crawl does not", async () => {
  const client = { request: async () => problem("dns-not-found") };
  const unreachable = { reason: { code: "dns-not-found" } };
  expect(await finished("https://example.org/", { client })).toMatchObject({ reachable: false, unreachable });
  expect(await finished("https://example.org/", { client, limits: { time: 0 } })).toMatchObject({ reachable: true });
});
