// `order: "arrival"`: what arrives is listed at once, and the result is that of the declared order.
import { expect, test } from "vitest";
import { crawl, streamPages } from "../../src/crawl/crawl.ts";
import type { StreamOptions } from "../../src/model/options.ts";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { openTree } from "../../src/tree/build.ts";
import { serve } from "../cli/website.ts";
import { slowed } from "../support/any-order.ts";
import { atom } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { randomWebsite } from "../support/random-website.ts";
import { home, index, type Route, robots, site, urlset } from "../support/site.ts";
import { testFolder } from "../support/test-folder.ts";

const file = testFolder();

// `hangs.xml` is declared first, in three places.
const routes: Record<string, string> = {
  "/robots.txt": robots("/hangs.xml", "/index.xml", "/feed.xml", "/last.xml"),
  "/hangs.xml": urlset("/hangs/1"),
  "/index.xml": index("/hangs.xml#2", "/nested.xml", "/a.xml"),
  "/nested.xml": index("/hangs.xml#3", "/b.xml", "/c.xml"),
  "/feed.xml": atom('<link rel="next" href="{home}feed2.xml"/>', "/feed/1"),
  "/feed2.xml": atom("/feed/2"),
  ...Object.fromEntries(["a", "b", "c", "last"].map((name) => [`/${name}.xml`, urlset(`/${name}/1`, `/${name}/2`)])),
};
const others = ["a/1", "a/2", "b/1", "b/2", "c/1", "c/2", "feed/1", "feed/2", "last/1", "last/2"];

/** A website on a real server. `hangs.xml` answers once `release` was called: nothing of it, or only its end, comes before. */
async function hanging(given: "nothing" | "beginning") {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const { homepage } = await serve(async ({ url = "/", headers }, response) => {
    const body = routes[url]?.replaceAll(home, "{home}").replaceAll("{home}", `http://${headers.host}/`);
    if (body === undefined) return response.writeHead(404).end();
    if (url !== "/hangs.xml") return response.end(body);
    if (given === "beginning") response.write(body.slice(0, 60));
    await released;
    return response.end(given === "beginning" ? body.slice(60) : body);
  });
  return { homepage, release };
}

test.each(["nothing", "beginning"] as const)(
  "a sitemap that hangs delays no other, if %s of it has arrived",
  async (given) => {
    const website = await hanging(given);
    const stream = streamPages(website.homepage, { order: "arrival", knownPaths: "never" });
    const listed: string[] = [];
    for await (const { url } of stream)
      if (listed.push(url.slice(website.homepage.length)) === others.length) website.release();
    expect(listed.slice(0, -1).sort()).toEqual(others);
    expect(listed.at(-1)).toBe("hangs/1");
    expect(await stream.finished).toMatchObject({ end: "end", complete: true, totals: { pages: 11, sitemaps: 11 } });
  },
);

test("a time limit loses only the sitemap that hangs; pages already listed stay in the tree", async () => {
  const website = await hanging("nothing");
  const found = await result(website.homepage, { order: "arrival", knownPaths: "never", limits: { time: 1500 } });
  expect(found.pages.map((url) => url.slice(website.homepage.length)).sort()).toEqual(others);
  expect(found.finished).toMatchObject({ complete: false, totals: { pages: 10 } });
  expect(sumOfPages(found.sitemaps)).toBe(10);
});

test("a given sitemap does not wait for those given before it", async () => {
  const website = await hanging("nothing");
  const sitemaps = ["hangs.xml", "a.xml", "nested.xml"].map((name) => website.homepage + name);
  const listed: string[] = [];
  for await (const { url } of streamPages({ sitemaps }, { order: "arrival" }))
    if (listed.push(url.slice(website.homepage.length)) === 6) website.release();
  expect(listed.slice(0, 6).sort()).toEqual(others.slice(0, 6));
  expect(listed.slice(6)).toEqual(["hangs/1"]);
});

test("leaving the loop or reaching the limit ends a crawl even if a request hangs", async () => {
  const website = await hanging("nothing");
  const options = { order: "arrival", knownPaths: "never" } as const;
  for await (const _ of streamPages(website.homepage, options)) break;
  const stream = streamPages(website.homepage, { ...options, limit: 4 });
  let count = 0;
  for await (const _ of stream) if (++count === 4) website.release();
  expect(count).toBe(4);
  expect(await stream.finished).toMatchObject({ end: "limit", complete: true });
});

test("an error thrown by the caller's function ends a crawl even if a request hangs", async () => {
  const website = await hanging("nothing");
  const error = new Error("the caller's");
  const recurse = ({ url }: { url: string }) => {
    if (url.endsWith("/c.xml")) throw error;
    return true;
  };
  const reading = result(website.homepage, { order: "arrival", knownPaths: "never", recurse });
  await expect(reading).rejects.toBe(error);
});

test("a sample is the same in declared order and in order of arrival", async () => {
  const { client } = site(routes);
  const sampled = (order: "declared" | "arrival") => result(home, { client, order, sample: 4 });
  expect((await sampled("arrival")).pages).toEqual((await sampled("declared")).pages);
});

async function result(homepage: string, options: StreamOptions) {
  const pages: string[] = [];
  const sitemaps: { readonly sitemap: Sitemap; readonly depth: number }[] = [];
  for await (const event of crawl(homepage, options)) {
    if (event.type === "pages") pages.push(...event.pages.map(({ url }) => url));
    if (event.type === "sitemap") sitemaps.push({ sitemap: event.sitemap, depth: event.depth });
    if (event.type === "finished") return { pages, sitemaps, finished: event };
  }
  throw new Error("The crawl has no end");
}

// Repeated nodes share their pages.
function sumOfPages(sitemaps: readonly { readonly sitemap: Sitemap }[]): number {
  const counts = new Map<string, number>();
  for (const { sitemap } of sitemaps)
    for (const each of [sitemap, ...(sitemap.kind === "index" ? sitemap.children : [])])
      if (each.kind === "pages") counts.set(each.url, each.pageCount);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "every website has the same pages, tree, archive and completeness in order of arrival (part %i)",
  async (part) => {
    for (let number = part; number <= some(160, 16); number += 8) {
      const { routes, limits } = randomWebsite(new Random(number));
      const random = new Random(number);
      const run = async (order: "declared" | "arrival", limited: boolean, filter: StreamOptions = {}) => {
        const { client } = site(routes as Record<string, Route>);
        const options = { retries: 0, concurrency: 2 + random.below(8), limits: limited ? limits : {}, ...filter };
        return result(home, { ...options, client: slowed(client, () => random.below(4)), order });
      };
      const declared = await run("declared", false);
      const save = file(`${number}.warc`);
      const arrived = await run("arrival", false, { save });
      await using tree = await openTree(save);
      expect(tree.root, `website ${number}`).toEqual(declared.sitemaps.at(-1)?.sitemap);
      expect(arrived.pages.toSorted(), `website ${number}`).toEqual(declared.pages.toSorted());
      expect(arrived.sitemaps, `website ${number}`).toEqual(declared.sitemaps);
      expect({ ...arrived.finished, totals: undefined }, `website ${number}`).toEqual({
        ...declared.finished,
        totals: undefined,
      });
      const once = (await run("arrival", false, { unique: true })).pages;
      expect(once.toSorted(), `website ${number}`).toEqual([...new Set(declared.pages)].sort());
      // Within limits, which pages are listed depends on arrival, but their number is what the tree counts.
      const limited = await run("arrival", true);
      expect(limited.pages.length, `website ${number}`).toBe(limited.finished.totals.pages);
      expect(limited.pages.length).toBeLessThanOrEqual(limits.pages ?? Number.POSITIVE_INFINITY);
      expect(sumOfPages(limited.sitemaps), `website ${number}, limited`).toBe(limited.pages.length);
      // Well-known paths that a limit leaves untried are no loss.
      const isTried = limited.finished.discovery.every(({ reason }) => !reason?.code.startsWith("limit-"));
      if (!limited.finished.complete || !isTried) continue;
      expect(limited.pages.toSorted(), `website ${number}`).toEqual(declared.pages.toSorted());
    }
  },
);
