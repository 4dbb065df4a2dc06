// `sample`: few pages that stand for all.
import { describe, expect, test } from "vitest";
import { PageSample } from "../../src/crawl/page-sample.ts";
import { sitemapTreeForHomepage, streamPages } from "../../src/index.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { listOf } from "../support/collected.ts";

const page = (url: string): SitemapPage => ({ url }) as SitemapPage;
const urlsOf = (count: number, section: string) =>
  Array.from({ length: count }, (_, at) => `https://example.org/${section}/${at}`);

// Passes them in batches of 100, as they come from a document.
function sampled(groups: Readonly<Record<string, readonly string[]>>, size: number, seed = 0): string[] {
  const sample = new PageSample<string>(size, seed);
  for (const [sitemap, urls] of Object.entries(groups))
    for (let from = 0; from < urls.length; from += 100)
      sample.add(sitemap, urls.slice(from, from + 100).map(page), sitemap);
  return [...sample.take()].flatMap(({ pages }) => pages.map(({ url }) => url));
}

test("a sample is the same in every process and on every port", () => {
  const urls = urlsOf(50, "a");
  // These are written down, because another process must choose the same.
  expect(sampled({ a: urls }, 3).map((url) => url.slice(22))).toEqual(["9", "22", "49"]);
  const here = urls.map((url) => url.replace("https://example.org", "http://127.0.0.1:4321"));
  const paths = (list: readonly string[]) => list.map((url) => new URL(url).pathname);
  expect(paths(sampled({ a: here }, 3))).toEqual(paths(sampled({ a: urls }, 3)));
});

describe("a sample", () => {
  const groups = {
    a: [...urlsOf(10_000, "shop"), ...urlsOf(100, "blog")],
    b: urlsOf(1, "about"),
    c: urlsOf(400, "news"),
  };
  const counts = (urls: readonly string[]) =>
    Object.fromEntries(
      ["shop", "blog", "about", "news"].map((name) => [name, urls.filter((url) => url.includes(`/${name}/`)).length]),
    );

  test("is spread over sections by the square root of their size, with at least one page of each", () => {
    const urls = sampled(groups, 131);
    expect(urls).toHaveLength(131);
    expect(new Set(urls).size).toBe(131);
    const { shop = 0, blog = 0, about, news = 0 } = counts(urls);
    expect(about).toBe(1);
    expect(shop / blog).toBeCloseTo(10, -1);
    expect(news / blog).toBeGreaterThan(1.5);
    expect(news / blog).toBeLessThan(2.5);
  });

  test("that is smaller than the number of sections has one page of each of the largest", () => {
    expect(counts(sampled(groups, 4))).toEqual({ shop: 1, blog: 1, about: 1, news: 1 });
    expect(counts(sampled(groups, 2))).toEqual({ shop: 1, blog: 0, about: 0, news: 1 });
  });

  test("is in declared order, and the same each time unless the seed changes", () => {
    const all = Object.values(groups).flat();
    const urls = sampled(groups, 50);
    expect(urls).toEqual(all.filter((url) => urls.includes(url)));
    expect(sampled(groups, 50)).toEqual(urls);
    expect(sampled(groups, 50, 1)).not.toEqual(urls);
    expect(sampled(groups, 50, 1)).toHaveLength(50);
  });

  test("that is larger than the website has all its pages", () => {
    expect(sampled(groups, 20_000)).toEqual(Object.values(groups).flat());
  });

  test("takes pages from everywhere in a sitemap, however long it is", () => {
    const places = sampled({ a: urlsOf(100_000, "x") }, 100).map((url) => Number(url.split("/").at(-1)));
    expect(places).toHaveLength(100);
    for (const quarter of [0, 1, 2, 3])
      expect(places.filter((at) => Math.floor(at / 25_000) === quarter).length).toBeGreaterThan(10);
  });
});

describe("a sample of a website", async () => {
  const list = (section: string, count: number) =>
    Array.from({ length: count }, (_, at) => `{base}/${section}/${at}`).join("\n");
  const site = await serve({
    "/robots.txt": "Sitemap: {base}/a.txt\nSitemap: {base}/b.txt\n",
    "/a.txt": list("blog", 90),
    "/b.txt": list("shop", 10),
  });

  test("is the same from a stream, a tree, and the program in every format", async () => {
    const options = { sample: 8, knownPaths: "never" } as const;
    const urls = (await listOf(streamPages(site.homepage, options))).map(({ url }) => url);
    expect(urls).toHaveLength(8);
    expect(urls.filter((url) => url.includes("/shop/")).length).toBeGreaterThan(1);
    await using tree = await sitemapTreeForHomepage(site.homepage, { knownPaths: "never" });
    expect((await listOf(tree.pages({ sample: 8 }))).map(({ url }) => url)).toEqual(urls);
    const flags = ["--sample", "8", "--no-known"];
    const lines = urls.map((url) => `${url}\n`).join("");
    expect(await sitegrove(["ls", site.homepage, "-f", "pages", ...flags])).toMatchObject({ code: 0, stdout: lines });
    const { stdout } = await sitegrove(["ls", site.homepage, ...flags]);
    expect(stdout.match(/\S+\/(blog|shop)\/\d+/g)).toEqual(urls);
    const other = await sitegrove(["ls", site.homepage, "-f", "pages", ...flags, "--seed", "7"]);
    expect(other.stdout).not.toBe(lines);
  });

  test("is taken after filters, and before --rewrite", async () => {
    const words = ["--sample", "5", "--include", "/shop/", "--rewrite", `${site.homepage}=http://127.0.0.1:1/`];
    const { stdout } = await sitegrove(["ls", site.homepage, "-f", "pages", "--no-known", ...words]);
    expect(stdout.match(/^http:\/\/127\.0\.0\.1:1\/shop\/\d+$/gm)).toHaveLength(5);
  });

  test("cannot be given a --seed without --sample", async () => {
    expect(await sitegrove(["ls", site.homepage, "--seed", "1"])).toMatchObject({ code: 2, stdout: "" });
  });
});
