// The order of requests and events, and stopping without leaving anything behind.
import { expect, test } from "vitest";
import { crawl, streamPages } from "../../src/crawl/crawl.ts";
import type { Client } from "../../src/model/client.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { listOf } from "../support/collected.ts";
import { home, index, type Route, robots, site, urlset } from "../support/site.ts";

const wide: Record<string, Route> = {
  "/robots.txt": robots("/i.xml", "/j.xml"),
  "/i.xml": index(...paths("i")),
  "/j.xml": index(...paths("j")),
};
for (const path of [...paths("i"), ...paths("j")]) wide[path] = urlset(`${path}/1`, `${path}/2`);

function paths(prefix: string): string[] {
  return Array.from({ length: 20 }, (_, at) => `/${prefix}${at}.xml`);
}

// Delays some responses, so that what is declared first arrives last.
const uneven = (path: string): Route | undefined => {
  const body = wide[path];
  return typeof body === "string"
    ? { body, wait: (path.length * 7 + path.charCodeAt(path.length - 5) * 13) % 30 }
    : undefined;
};

test.each<[string, string, (url: string, pages: number) => boolean]>([
  // If children were fetched one by one, the last sibling would never be requested.
  ["one child does not keep the others from being fetched", "/i3.xml", (url) => url.endsWith("/i19.xml")],
  ["a guess delays nothing that is declared", "sitemap", (_, pages) => pages === 80],
])("%s, even if it hangs", async (_, name, isReleasing) => {
  const { client } = site(wide);
  let pages = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const hanging: Client = {
    async request(request) {
      if (isReleasing(request.url, pages)) release();
      if (request.url.includes(name)) await released;
      return client.request(request);
    },
  };
  for await (const _ of streamPages(home, { client: hanging, concurrency: 4 })) if (isReleasing("", ++pages)) release();
  expect(pages).toBe(80);
});

test("leaving the loop ends the crawl and its requests", async () => {
  const { client, hits } = site(uneven);
  for await (const page of streamPages(home, { client, concurrency: 2 })) {
    expect(page.url).toBe(`${home}i0.xml/1`);
    break;
  }
  const asked = hits.length;
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(hits.length).toBe(asked);
  expect(asked).toBeLessThan(40);
});

test("a signal ends everything promptly, with its own reason", async () => {
  for (const run of [
    (options: Options) => sitemapTreeForHomepage(home, options),
    (options: Options) => listOf(streamPages(home, options)),
    (options: Options) => listOf(crawl(home, options)),
  ]) {
    const controller = new AbortController();
    const reason = new Error("enough");
    const onEvent = (event: CrawlEvent) => {
      if (event.type === "request" && event.url.endsWith("/a.xml")) controller.abort(reason);
    };
    // The client hangs for a minute, so a crawl that does not end by itself exceeds the test's time limit.
    await expect(run({ client: hanging, signal: controller.signal, onEvent })).rejects.toBe(reason);
    const { client, hits } = site(wide);
    await expect(run({ client, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(hits).toEqual([]);
  }
});

const { client: hanging } = site((path) => (path === "/robots.txt" ? robots("/a.xml") : { wait: 60_000, body: "" }));

const isOrdered = ({ type }: CrawlEvent) => !["request", "response", "retry"].includes(type);

test("crawl() and onEvent report the same events, with pages before their sitemap", async () => {
  const watched: CrawlEvent[] = [];
  const { client } = site({
    "/robots.txt": robots("/i.xml"),
    "/i.xml": index("/a.xml", "/gone.xml"),
    "/a.xml": urlset("/1"),
  });
  const options = { client, knownPaths: "never", useHomepage: false } as const;
  const events = await listOf(crawl(home, { ...options, onEvent: (event) => watched.push(event) }));
  const inOrder = events.filter(isOrdered);
  const told = inOrder.map((event) => {
    const url = "url" in event ? event.url : event.type === "sitemap" ? event.sitemap.url : "";
    return `${event.type} ${url.slice(home.length)}`;
  });
  expect(told).toEqual([
    ...["start ", "start robots.txt", "start i.xml", "start a.xml", "pages a.xml", "sitemap a.xml"],
    ...["start gone.xml", "problem gone.xml", "sitemap gone.xml", "sitemap i.xml", "sitemap robots.txt", "sitemap "],
    "finished ",
  ]);
  expect(events.filter(({ type }) => type === "request")).toHaveLength(4);
  expect(events.filter(({ type }) => type === "response")).toHaveLength(4);
  // Events in declared order are identical; requests and responses are the same, but in any order.
  expect(watched.filter(isOrdered)).toEqual(inOrder);
  const sorted = (all: readonly CrawlEvent[]) => all.map((event) => JSON.stringify(event)).sort();
  expect(sorted(watched)).toEqual(sorted(events));
  const totals = { sitemaps: 2, invalid: 1, pages: 1, requests: 4 };
  expect(events.at(-1)).toMatchObject({ type: "finished", complete: false, totals });
  expect(JSON.parse(JSON.stringify(events))).toEqual(events);
});

test("the caller's client is not closed, because other crawls may use it", async () => {
  let closed = false;
  const client = Object.assign(site(wide).client, { close: () => (closed = true) });
  await (await sitemapTreeForHomepage(home, { client })).close();
  expect(closed).toBe(false);
});

test("the totals of a finished crawl do not change, whatever arrives afterwards", async () => {
  const { client: quick } = site({
    "/robots.txt": robots("/a.xml", "/j.xml"),
    "/a.xml": urlset("/1"),
    "/j.xml": urlset("/2"),
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let arrived = () => {};
  const late = new Promise<void>((resolve) => (arrived = resolve));
  const client: Client = {
    async request(request) {
      if (request.url.endsWith("/j.xml")) await released;
      return quick.request(request);
    },
  };
  const onEvent = (event: CrawlEvent) => {
    if (event.type === "response" && event.url.endsWith("/j.xml")) arrived();
  };
  for await (const event of crawl(home, { client, limit: 1, knownPaths: "never", useHomepage: false, onEvent })) {
    if (event.type !== "finished") continue;
    const before = structuredClone(event);
    release();
    await late;
    expect(event).toEqual(before);
  }
});
