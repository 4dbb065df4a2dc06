// `streamPages()`: each page knows its sitemap, and `finished` says how the stream ended.
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { streamPages } from "../../src/crawl/crawl.ts";
import type { StreamOptions } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { listOf } from "../support/collected.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";

const { client } = site({
  "/robots.txt": robots("/i.xml", "/gone.xml"),
  "/i.xml": index("/a.xml", "/b.xml"),
  "/a.xml": urlset("/1", "/2"),
  "/b.xml": { to: `${home}c.xml` },
  "/c.xml": urlset("/3"),
});
const open = (options: StreamOptions = {}) =>
  streamPages(home, { client, useHomepage: false, knownPaths: "never", ...options });

test("each page has the final URL of its sitemap, in streams and in trees", async () => {
  const expected = ["1 a.xml", "2 a.xml", "3 c.xml"].map((pair) => home + pair.replace(" ", ` ${home}`));
  const pairs = (pages: { url: string; sitemap: string }[]) => pages.map(({ url, sitemap }) => `${url} ${sitemap}`);
  expect(pairs(await listOf(open()))).toEqual(expected);
  await using tree = await sitemapTreeForHomepage(home, { client, useHomepage: false, knownPaths: "never" });
  expect(pairs(await listOf(tree.pages()))).toEqual(expected);
});

describe("`finished` is settled", () => {
  test("at the end, with problems, totals and discovery", async () => {
    const stream = open();
    await listOf(stream);
    const finished = await stream.finished;
    expect(finished).toMatchObject({ end: "end", complete: false, reachable: true, totals: { pages: 3, sitemaps: 3 } });
    expect(finished.problems).toMatchObject([{ url: `${home}gone.xml`, problem: { code: "http-404" } }]);
    expect(finished.discovery).toMatchObject([{ url: `${home}robots.txt`, outcome: "found" }]);
  });

  test("at the limit, which is not a loss", async () => {
    const stream = open({ limit: 2 });
    expect(await listOf(stream)).toHaveLength(2);
    expect(await stream.finished).toMatchObject({ end: "limit", complete: true, problems: [], totals: { pages: 2 } });
  });

  test.each([0, 1, 2])("after a break, %i pages later", async (after) => {
    const stream = open();
    let count = 0;
    for await (const _ of stream) if (count++ === after) break;
    const finished = await stream.finished;
    expect(finished).toMatchObject({ end: "break", complete: false });
    expect(finished.totals.requests).toBeGreaterThan(0);
  });

  test("if the loop is left before its first page", async () => {
    const stream = open();
    await stream[Symbol.asyncIterator]().return?.();
    expect(await stream.finished).toMatchObject({ end: "break", complete: false, totals: { requests: 0 } });
  });

  test("after an abort, with or without a loop, and no listener is left on the signal", async () => {
    const controller = new AbortController();
    const reason = new Error("stop");
    const [used, unused] = [open({ signal: controller.signal }), open({ signal: controller.signal })];
    const reading = (async () => {
      for await (const _ of used) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(await used.finished).toMatchObject({ end: "abort", complete: false });
    expect(await unused.finished).toMatchObject({ end: "abort", complete: false });
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    expect(await open({ signal: controller.signal }).finished).toMatchObject({ end: "abort" });
  });

  test("if the website cannot be reached or a callback throws, and only the loop gets the error", async () => {
    const stream = streamPages(home, { client: site(() => ({ status: 403 })).client, retries: 0 });
    await expect(listOf(stream)).rejects.toMatchObject({ code: "unreachable" });
    expect(await stream.finished).toMatchObject({ end: "end", complete: false, reachable: false });
    const failing = open({
      recurse: () => {
        throw new Error("mine");
      },
    });
    await expect(listOf(failing)).rejects.toThrow("mine");
    expect(await failing.finished).toMatchObject({ end: "abort", complete: false });
  });
});

test("`recurse` may be async, and gets the depth and the ancestors of a child", async () => {
  const seen: unknown[] = [];
  const recurse: StreamOptions["recurse"] = async (child, { depth, ancestors }) => {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push([child.url, depth, ancestors]);
    return !child.url.endsWith("a.xml");
  };
  expect((await listOf(open({ recurse }))).map(({ url }) => url)).toEqual([`${home}3`]);
  expect(seen).toContainEqual([`${home}a.xml`, 3, [home, `${home}robots.txt`, `${home}i.xml`]]);
  const wrong = (async () => "yes") as unknown as () => boolean;
  await expect(listOf(open({ recurse: wrong }))).rejects.toMatchObject({ code: "invalid-option" });
});
