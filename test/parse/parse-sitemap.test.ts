import { expect, test } from "vitest";
import { SitemapError } from "../../src/model/errors.ts";
import * as entryPoint from "../../src/parse/parse-sitemap.ts";
import { parseSitemap } from "../../src/parse/parse-sitemap.ts";
import { entry, urlset } from "../support/parsed.ts";

test("the entry point exports one function", () => {
  expect(Object.keys(entryPoint)).toEqual(["parseSitemap"]);
});

test("a sitemap gives its pages, and what was wrong with them", () => {
  expect(
    parseSitemap(urlset(entry("https://example.org/1"), entry("/2")), { url: "https://example.org/s.xml" }),
  ).toEqual({
    kind: "pages",
    format: "xml",
    pages: [
      { url: "https://example.org/1", priority: 0.5 },
      { url: "https://example.org/2", priority: 0.5 },
    ],
    complete: true,
    problems: [{ code: "url-relative", message: "Resolved a relative URL: /2", value: "/2", line: 8 }],
  });
});

test("an index gives the sitemaps that it names", () => {
  expect(
    parseSitemap("<sitemapindex><sitemap><loc>https://example.org/a</loc></sitemap></sitemapindex>"),
  ).toMatchObject({
    kind: "index",
    format: "xml",
    sitemaps: [{ url: "https://example.org/a" }],
    complete: true,
  });
});

test("an index that also lists pages has them; any other has not even the field", () => {
  const sitemap = "<sitemap><loc>https://example.org/a</loc></sitemap>";
  const mixed = parseSitemap(`<urlset>${sitemap}${entry("https://example.org/p")}</urlset>`);
  expect(mixed).toMatchObject({ kind: "index", pages: [{ url: "https://example.org/p" }] });
  expect("pages" in parseSitemap(`<sitemapindex>${sitemap}</sitemapindex>`)).toBe(false);
});

test("robots.txt is recognized by its URL", () => {
  expect(parseSitemap("Sitemap: /s.xml", { url: "https://example.org/robots.txt" })).toMatchObject({
    kind: "index",
    format: "robots",
    sitemaps: [{ url: "https://example.org/s.xml" }],
  });
});

test("a document that is not a sitemap is invalid, with a reason", () => {
  expect(parseSitemap("<html></html>")).toMatchObject({
    kind: "invalid",
    reason: { code: "not-a-sitemap", value: "html" },
  });
  expect(parseSitemap("")).toMatchObject({ kind: "invalid", reason: { code: "empty" } });
});

test("`strict` stops at the first thing that is not well-formed", () => {
  const text = urlset(
    entry("https://example.org/1"),
    entry("https://example.org/2?a&b"),
    entry("https://example.org/3"),
  );
  expect(parseSitemap(text, { strict: true })).toMatchObject({
    pages: [{ url: "https://example.org/1" }],
    complete: false,
  });
  expect(parseSitemap(text)).toMatchObject({ complete: true, pages: { length: 3 } });
});

test("wrong options are the caller's mistake", () => {
  const parse = (options: object) => () => parseSitemap("", options);
  expect(parse({ url: "/sitemap.xml" })).toThrow(SitemapError);
  expect(parse({ stric: true })).toThrow(/Unknown option `stric`/);
  expect(parse({ strict: 1 })).toThrow(SitemapError);
  expect(parse({ limits: { urlLength: -1 } })).toThrow(SitemapError);
  expect(parse({ limits: { urlLength: undefined } })()).toMatchObject({ kind: "invalid" });
});

test("limits can be set one by one", () => {
  const text = urlset(entry("https://example.org/1"), entry("https://example.org/2"));
  expect(parseSitemap(text, { limits: { documentEntries: 1 } })).toMatchObject({
    pages: { length: 1 },
    complete: false,
  });
});
