import { expect, test } from "vitest";
import { index, urlset } from "../support/documents.ts";
import { parsed } from "../support/parsed.ts";

// https://www.sitemaps.org/protocol.html#index
test("spec: children are listed in declared order, with their lastmod", () => {
  const dated = "<sitemap><loc>https://example.org/b.xml</loc><lastmod>2024-05-06</lastmod></sitemap>";
  expect(parsed(index(dated, "/a.xml"))).toMatchObject({
    outcome: { kind: "index", format: "xml" },
    sitemaps: [{ url: "https://example.org/b.xml", lastModified: "2024-05-06" }, { url: "https://example.org/a.xml" }],
    pages: [],
    problems: [],
  });
});

const withoutDeclaration = (document: string) => document.replace(/^<\?.*?\?>/, "");

test("lenient: an index inside a urlset, and a urlset inside an index, are read", () => {
  const result = parsed(urlset("/page", withoutDeclaration(index("/a.xml"))));
  expect([result.sitemaps.length, result.pages.length]).toEqual([1, 1]);
  expect(result.codes).toEqual(["xml-mixed"]);
  expect(parsed(index(withoutDeclaration(urlset("/page")))).outcome).toEqual({ kind: "pages", format: "xml" });
});
