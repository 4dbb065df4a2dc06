// Signals and time limits also stop work that never waits, neither for sockets nor for files.

import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { crawl, streamPages } from "../../src/crawl/crawl.ts";
import type { Client, ClientResponse } from "../../src/model/client.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { codesOf } from "../support/collected.ts";
import { some } from "../support/long.ts";
import { home, index, site, urlset } from "../support/site.ts";

// This is far more than can be visited or read before the limits are reached.
const many = 5_000_000;
const manyChildren = 100_000;

/** Responds at once with a document that is generated while it is read, and never waits. */
const answering = (pages: number): Client => ({
  async request({ url }) {
    const isIndex = url.endsWith("/i.xml");
    const entry = (at: number) =>
      isIndex ? `<sitemap><loc>${home}${at}/robots.txt</loc></sitemap>` : `<url><loc>${home}${at}</loc></url>`;
    const root = isIndex ? "sitemapindex" : "urlset";
    const count = isIndex ? manyChildren : pages;
    return {
      status: 200,
      headers: [],
      body: (async function* () {
        yield Buffer.from(`<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`);
        for (let at = 0; at < count; at += 1000) {
          yield Buffer.from(Array.from({ length: 1000 }, (_, more) => entry(at + more)).join(""));
        }
        yield Buffer.from(`</${root}>`);
      })(),
    };
  },
});
const endless = answering(many);

const limits = { sitemaps: many, documentBytes: 1e12, pages: 1e12, ...withFixedLimits({ documentEntries: 1e12 }) };

async function visited(url: string, signal: AbortSignal): Promise<number> {
  let count = 0;
  try {
    for await (const event of crawl({ sitemaps: [url] }, { client: endless, limits, signal })) {
      if (event.type === "sitemap") count += 1;
      if (event.type === "pages") count += event.pages.length;
    }
  } catch (error) {
    expect(error).toBe(signal.reason);
  }
  return count;
}

test.each([
  ["children that need no request", "i.xml", manyChildren],
  ["pages that have arrived", "p.xml", many],
])("aborting a signal ends a crawl in the middle of %s", async (_, path, most) => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 150);
  expect(await visited(home + path, controller.signal)).toBeLessThan(most);
  expect(controller.signal.aborted).toBe(true);
});

test("the time limit ends visits to children that need no request, and counts those that are left", async () => {
  let codes: readonly string[] = [];
  // Tries a shorter time if a fast machine visits all children.
  for (let time = 300; time > 1 && !codes.includes("limit-time"); time /= 4) {
    await using tree = await sitemapTreeForHomepage(
      { sitemaps: [`${home}i.xml`] },
      { client: endless, limits: { ...limits, time } },
    );
    codes = codesOf(tree);
    if (!codes.includes("limit-time")) continue;
    expect([...tree.sitemaps()].length).toBeLessThan(manyChildren);
    expect(tree.complete).toBe(false);
  }
  expect(codes).toContain("limit-time");
});

test("the time limit stops the reading of a document, and what was read is kept", async () => {
  let count = 0;
  // Tries a longer time if a busy machine reads nothing.
  for (let time = 50; count === 0 && time < 100_000; time *= 4)
    for await (const _ of streamPages({ sitemaps: [`${home}p.xml`] }, { client: endless, limits: { ...limits, time } }))
      count += 1;
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(many);
});

test("timers still run while a tree in memory is read", async () => {
  await using tree = await sitemapTreeForHomepage(
    { sitemaps: [`${home}p.xml`] },
    {
      client: answering(some(300_000, 150_000)),
      store: "memory",
      limits,
    },
  );
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  let between = 0;
  // Reads it again if the machine is so quick that no turn was due.
  for (let round = 0; between < 2 && round < 50; round += 1) {
    // Counts from the first page on, because there may be a turn before it.
    let first: number | undefined;
    for await (const _ of tree.pages()) first ??= turns;
    between += turns - (first ?? turns);
  }
  clearInterval(timer);
  expect(between).toBeGreaterThan(1);
});

test("timers still run while children are prefetched from a client that responds at once", async () => {
  let inRow = 0;
  let most = 0;
  const timer = setInterval(() => {
    inRow = 0;
  }, 1);
  const children = some(8000, 5000);
  const names = Array.from({ length: children }, (_, at) => `/${at}.xml`);
  const { client: plain } = site({ "/i.xml": index(...names) });
  const client: Client = {
    request(request) {
      inRow += 1;
      most = Math.max(most, inRow);
      return plain.request(request);
    },
  };
  await using tree = await sitemapTreeForHomepage({ sitemaps: [`${home}i.xml`] }, { client });
  clearInterval(timer);
  const [top] = tree.root.children;
  expect(top?.kind === "index" ? top.children : []).toHaveLength(children);
  expect(most).toBeLessThan(children * 0.8);
});

test("one signal can stop any number of crawls, and none leaves a listener on it", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const caller = new AbortController();
  const { signal } = caller;
  const { client } = site({ "/a.txt": `${home}1` });
  const read = async (options: Options) => {
    let count = 0;
    for await (const _ of streamPages({ sitemaps: [`${home}a.txt`] }, options)) count += 1;
    return count;
  };
  const counts = await Promise.all(Array.from({ length: 20 }, () => read({ client, signal })));
  let asked = 0;
  const pending: Client = {
    request: () => {
      if (++asked === 20) caller.abort(new Error("all of them"));
      return new Promise(() => {});
    },
  };
  const stopped = Promise.allSettled(Array.from({ length: 20 }, () => read({ client: pending, signal })));
  const reasons = (await stopped).map((result) => result.status === "rejected" && result.reason.message);
  // Warnings come a moment later.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect([new Set(counts), new Set(reasons), warnings]).toEqual([new Set([1]), new Set(["all of them"]), []]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("leaving the loop closes a body of the caller's client, wherever it is left", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `/${at}.xml`);
  const { client } = site({
    "/i.xml": index(...names),
    ...Object.fromEntries(names.map((name) => [name, urlset("/1", "/2")])),
  });
  const open = new Set<string>();
  const watched: Client = {
    async request(request) {
      const answer = (await client.request(request)) as ClientResponse;
      const bytes = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      open.add(request.url);
      const close = () => open.delete(request.url);
      const body: AsyncIterableIterator<Uint8Array> = {
        [Symbol.asyncIterator]: () => body,
        async next() {
          const step = await bytes.next();
          if (step.done) close();
          return step;
        },
        async return() {
          close();
          return { done: true, value: undefined };
        },
      };
      return { ...answer, body };
    },
  };
  for (const [stream, order] of [
    [crawl, "declared"],
    [streamPages, "declared"],
    [streamPages, "arrival"],
  ] as const)
    for (let items = 1; items < 12; items += 1) {
      const iterator = stream({ sitemaps: [`${home}i.xml`] }, { client: watched, order })[Symbol.asyncIterator]();
      for (let item = 0; item < items; item += 1) await iterator.next();
      await iterator.return?.();
      expect([...open]).toEqual([]);
    }
});
