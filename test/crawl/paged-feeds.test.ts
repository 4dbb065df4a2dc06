// Feeds in several pages: each is read, or its loss is reported. https://www.rfc-editor.org/rfc/rfc5005

import { expect, test } from "vitest";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { atom } from "../support/documents.ts";
import { home, outline, robots, site } from "../support/site.ts";

const page = (next: string, ...paths: string[]) =>
  atom(...(next === "" ? [] : [`<link rel="next" href="${next}"/>`]), ...paths);

/** The pages of a feed at `/feed`, `/feed?2`, and so on. */
async function read(page: (number: number) => string) {
  const { client, hits } = site((path) => {
    if (path === "/robots.txt") return robots("/feed");
    return path.startsWith("/feed") ? page(Number(path.slice("/feed?".length) || 1)) : undefined;
  });
  const options = { client, knownPaths: "never", useHomepage: false, limits: { sitemaps: 20 } } as const;
  const tree = await sitemapTreeForHomepage(home, options);
  const paths = (await outline(tree)).map((line) => line.trim()).filter((line) => /^\/\d/.test(line));
  const losses = [...tree.problems()].map(({ problem }) => `${problem.code} ${problem.value ?? ""}`.trim());
  await tree.close();
  return { paths, losses, complete: tree.complete, requests: hits.filter((path) => path.startsWith("/feed")).length };
}

test("a feed page without entries does not end the feed if it has a next page", async () => {
  const pages = [page("/feed?2", "/1"), page("/feed?3"), page("", "/3")];
  expect(await read((number) => pages[number - 1]!)).toEqual({
    paths: ["/1", "/3"],
    losses: ["no-entries"],
    complete: true,
    requests: 3,
  });
});

test.each([
  ["empty pages", (number: number) => (number === 1 ? page("/feed?2", "/1") : page(`/feed?${number + 1}`)), 3],
  ["the last page again", (number: number) => page(`/feed?${number + 1}`, number === 1 ? "/1" : "/2"), 3],
])("a feed that continues endlessly with %s is cut off, which is a loss", async (_, page, requests) => {
  const result = await read(page);
  expect(result).toMatchObject({ complete: false, requests });
  expect(result.losses).toContain("feed-next this page repeats the one before it");
});

test.each([
  ["the first page", "/feed"],
  ["itself, by another URL", "/feed?2"],
])("a next page that redirects to %s is a loss", async (_, to) => {
  const { client } = site({
    "/robots.txt": robots("/feed"),
    "/feed": page("/feed?2", "/1"),
    "/feed?2": to === "/feed" ? { to } : page("/feed?3", "/2"),
    "/feed?3": { to },
  });
  await using tree = await sitemapTreeForHomepage(home, { client, knownPaths: "never", useHomepage: false });
  expect(tree.pageCount).toBe(to === "/feed" ? 1 : 2);
  expect([...tree.problems()].map(({ problem }) => problem.code)).toEqual(["feed-next"]);
  expect(tree.complete).toBe(false);
});

test("a next page that is the first one, or that another feed has, is no loss", async () => {
  const { client } = site({
    "/robots.txt": robots("/a", "/b"),
    "/a": page("/c", "/1"),
    "/b": page("/c", "/2"),
    "/c": page("/a", "/3"),
  });
  await using tree = await sitemapTreeForHomepage(home, { client, knownPaths: "never", useHomepage: false });
  expect(tree).toMatchObject({ pageCount: 3, complete: true });
});

test("a next page that cannot be requested is a loss", async () => {
  const result = await read(() => page(`/${"x".repeat(9000)}`, "/1"));
  expect(result).toMatchObject({ paths: ["/1"], complete: false });
  expect(result.losses[0]).toMatch(/^feed-next invalid URL/);
});

test.each([
  ["was guessed before, in vain", "feed", "/sitemap.xml"],
  ["would be guessed later", "feed", "/atom.xml"],
])("a next page that is missing is a loss, even if it %s", async (_, path, next) => {
  const { client } = site({ [`/${path}`]: page(next, "/1") });
  await using tree = await sitemapTreeForHomepage(home, { client, useFeeds: true });
  expect(tree.pageCount).toBe(1);
  expect([...tree.problems()].map(({ url, problem }) => [url, problem.code])).toEqual([
    [`${home}${next.slice(1)}`, "http-404"],
  ]);
  expect(tree.complete).toBe(false);
});
