// Several workers on one iterator: whatever the library hands out as an async iterable queues calls, as a generator does.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crawl, flatten, streamPages } from "../../src/crawl/crawl.ts";
import { diffTrees } from "../../src/diff/diff-trees.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { listOf } from "../support/collected.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";

const perSitemap = 300;
const names = Array.from({ length: 6 }, (_, number) => `/s${number}.xml`);
const pageOf = (name: string, number: number) => `${name.slice(0, -4)}/${number}`;
const pages = (name: string) => urlset(...Array.from({ length: perSitemap }, (_, number) => pageOf(name, number)));
const { client } = site({
  "/robots.txt": robots("/i.xml"),
  "/i.xml": index(...names),
  ...Object.fromEntries(names.map((name) => [name, pages(name)])),
});
const options = { client, knownPaths: "never", useHomepage: false } as const;

let tree: SitemapTree;
beforeAll(async () => {
  tree = await sitemapTreeForHomepage(home, options);
});
afterAll(() => tree.close());

const one = async function* () {
  yield Buffer.from(`${home}another`);
};

const handedOut: Record<string, () => AsyncIterable<unknown>> = {
  streamPages: () => streamPages(home, options),
  "tree.pages": () => tree.pages(),
  "tree.pages, each URL once": () => tree.pages({ unique: true }),
  crawl: () => crawl(home, options),
  diffTrees: () => diffTrees(tree, { name: "one.txt", bytes: one() }),
};

// Times and sizes of single responses differ from run to run.
const comparable = (items: unknown[]) =>
  items
    .map((item) => JSON.stringify(item))
    .filter((item) => !/"type":"(request|response|sitemap|finished)"/.test(item));

describe.each(Object.entries(handedOut))("%s", (_, open) => {
  test("eight workers get every item once, in the order of their calls", async () => {
    const expected = comparable(await listOf(open()));
    expect(expected.length).toBeGreaterThan(0);
    const iterator = open()[Symbol.asyncIterator]();
    const got: unknown[] = [];
    const worker = async () => {
      for (let step = await iterator.next(); !step.done; step = await iterator.next()) got.push(step.value);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(comparable(got)).toEqual(expected);
    expect(await iterator.next()).toEqual({ value: undefined, done: true });
  });

  test("return() waits for earlier calls, and ends later ones", async () => {
    const iterator = open()[Symbol.asyncIterator]();
    const order: number[] = [];
    const calls = [iterator.next(), iterator.next(), iterator.return?.(), iterator.next()];
    const steps = await Promise.all(calls.map((call, at) => call?.finally(() => order.push(at))));
    expect(steps.map((step) => step?.done)).toEqual([false, expect.any(Boolean), true, true]);
    expect(order).toEqual([0, 1, 2, 3]);
  });
});

test("an error reaches the call that caused it, and later calls get the end", async () => {
  const source = async function* () {
    yield [1, 2];
    yield [];
    throw new Error("broken");
  };
  const iterator = flatten(source());
  const steps = await Promise.allSettled(Array.from({ length: 5 }, () => iterator.next()));
  const seen = steps.map((step) => (step.status === "fulfilled" ? step.value.value : String(step.reason)));
  expect(seen).toEqual([1, 2, "Error: broken", undefined, undefined]);
});
