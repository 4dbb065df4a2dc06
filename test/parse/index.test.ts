import { expect, test } from "vitest";
import { parsed } from "../support/parsed.ts";

const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const index = (inside: string) => `<?xml version="1.0"?>\n<sitemapindex ${namespace}>\n${inside}\n</sitemapindex>`;
const child = (url: string, rest = "") => `<sitemap><loc>${url}</loc>${rest}</sitemap>`;

// https://www.sitemaps.org/protocol.html#index
test("spec: children come in declared order, with their lastmod", () => {
  const result = parsed(
    index(
      `${child("https://example.org/b.xml", "<lastmod>2024-05-06</lastmod>")}\n${child("https://example.org/a.xml")}`,
    ),
  );
  expect(result.outcome).toEqual({ kind: "index", format: "xml" });
  expect(result.sitemaps).toEqual([
    { url: "https://example.org/b.xml", lastModified: "2024-05-06" },
    { url: "https://example.org/a.xml" },
  ]);
  expect(result.pages).toEqual([]);
  expect(result.problems).toEqual([]);
});

const page = "<url><loc>https://example.org/page</loc></url>";

test("lenient: an index inside of a urlset, and a urlset inside of an index, are read", () => {
  const inside = `<sitemapindex>${child("https://example.org/a.xml")}</sitemapindex>`;
  const result = parsed(`<urlset ${namespace}>${page}${inside}</urlset>`);
  expect([result.sitemaps.length, result.pages.length]).toEqual([1, 1]);
  expect(result.codes).toEqual(["xml-mixed"]);
  expect(parsed(index(`<urlset>${page}</urlset>`)).outcome).toEqual({ kind: "pages", format: "xml" });
});
