import { expect, test } from "vitest";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import { type ParseOptions, parseSitemap } from "../../src/parse/parse-sitemap.ts";
import { entry, richUrlset as urlset } from "../support/documents.ts";

test("the result has both the pages and the problems", () => {
  expect(
    parseSitemap(urlset(entry("https://example.org/1"), entry("./2")), { url: "https://example.org/s.xml" }),
  ).toEqual({
    kind: "pages",
    format: "xml",
    pages: [{ url: "https://example.org/1" }, { url: "https://example.org/2" }],
    complete: true,
    problems: [{ code: "url-relative", message: "Resolved a relative URL: ./2", value: "./2", line: 8 }],
  });
});

test("an index has the field `pages` only if it lists pages", () => {
  const sitemap = "<sitemap><loc>https://example.org/a</loc></sitemap>";
  const mixed = parseSitemap(`<urlset>${sitemap}${entry("https://example.org/p")}</urlset>`);
  expect(mixed).toMatchObject({ kind: "index", pages: [{ url: "https://example.org/p" }] });
  expect("pages" in parseSitemap(`<sitemapindex>${sitemap}</sitemapindex>`)).toBe(false);
});

const three = urlset(...["1", "2?a&b", "3"].map((path) => entry(`https://example.org/${path}`)));

test.each<[what: string, text: string, options: ParseOptions, expected: object]>([
  [
    "an index gives the sitemaps that it names",
    "<sitemapindex><sitemap><loc>https://example.org/a</loc></sitemap></sitemapindex>",
    {},
    { kind: "index", format: "xml", sitemaps: [{ url: "https://example.org/a" }], complete: true },
  ],
  [
    "robots.txt is recognized by its URL",
    "Sitemap: /s.xml",
    { url: "https://example.org/robots.txt" },
    { kind: "index", format: "robots", sitemaps: [{ url: "https://example.org/s.xml" }] },
  ],
  ["an HTML page is not a sitemap", "<html></html>", {}, { reason: { code: "not-a-sitemap", value: "html" } }],
  ["an empty document is invalid", "", {}, { kind: "invalid", reason: { code: "empty" } }],
  ["mistakes in XML are repaired", three, {}, { complete: true, pages: { length: 3 } }],
  ["`strict` stops there", three, { strict: true }, { complete: false, pages: [{ url: "https://example.org/1" }] }],
  [
    "limits can be set one by one",
    three,
    { limits: withFixedLimits({ documentEntries: 1 }) },
    { complete: false, pages: { length: 1 } },
  ],
])("%s", (_, text, options, expected) => {
  expect(parseSitemap(text, options)).toMatchObject(expected);
});
