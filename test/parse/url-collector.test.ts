import fc from "fast-check";
import { expect, test } from "vitest";
import { resolveListedUrl } from "../../src/model/url-forms.ts";
import { UrlCollector } from "../../src/parse/entries.ts";
import { some } from "../support/long.ts";

const base = "https://example.org/maps/sitemap.xml";

test("the first declaration of a URL counts, whatever way it was written", () => {
  const urls = new UrlCollector(base, 8192);
  expect(urls.take("https://example.org/a")).toBe("https://example.org/a");
  expect(urls.take("https://example.org/b")).toBe("https://example.org/b");
  expect(urls.take("https://example.org/a")).toBeUndefined();
  expect(urls.problem).toBe("url-repeated");
  expect(urls.take("/b")).toBeUndefined();
  expect(urls.problem).toBe("url-repeated");
  expect(urls.take("/c")).toBe("https://example.org/c");
  expect(urls.problem).toBe("url-relative");
  expect(urls.take("https://example.org/c")).toBeUndefined();
  expect(urls.size).toBe(3);
});

test("URLs are compared as they were written", () => {
  const urls = new UrlCollector(base, 8192);
  const written = [
    "https://example.org/",
    "https://example.org",
    "https://EXAMPLE.org/",
    "https://example.org/#a",
    "https://example.org/%7E",
  ];
  expect(written.map((url) => urls.take(url))).toEqual(written);
});

test("what is unusable behind an origin that is known is found", () => {
  const urls = new UrlCollector(base, 30);
  urls.take("https://example.org/");
  for (const url of ["https://example.org/\n", "https://example.org/a\tb", "https://example.org/\u007f"]) {
    expect(urls.take(url)).toBeUndefined();
    expect(urls.problem).toBe("url-invalid");
  }
  expect(urls.take("https://example.org/\ufffd")).toBe("https://example.org/\ufffd");
  expect(urls.problem).toBe("url-damaged");
  expect(urls.take("https://example.org/a]]>")).toBe("https://example.org/a");
  expect(urls.problem).toBe("url-repaired");
  expect(urls.take("https://example.org/12345678901")).toBeUndefined();
  expect(urls.problem).toBe("limit-url-length");
});

test("an origin is not taken for a longer one", () => {
  const urls = new UrlCollector(base, 8192);
  urls.take("https://example.org/");
  for (const url of ["https://example.org:99999/", "https://example.org:x/", "https://example.org]/"]) {
    expect(urls.take(url)).toBeUndefined();
    expect(urls.problem).toBe("url-invalid");
  }
});

test("what it makes of a URL is what resolveListedUrl makes of it, whatever came before", () => {
  const piece = fc.constantFrom(
    "http://",
    "HTTPS://",
    "//",
    "/",
    "?",
    "#",
    "\\",
    ":",
    "@",
    "%",
    ".",
    " ",
    "\t",
    "a",
    "é",
    "[",
    "b.example",
    "1",
    "\ufffd",
  );
  const texts = fc.array(
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(texts, fc.constantFrom(base, undefined), (all, ownBase) => {
      const urls = new UrlCollector(ownBase, 20);
      const taken = new Set<string>();
      for (const text of all) {
        const expected = resolveListedUrl(text, ownBase, 20);
        const repeated = expected.url !== undefined && taken.has(expected.url);
        expect(urls.take(text)).toBe(repeated ? undefined : expected.url);
        expect(urls.problem).toBe(repeated ? "url-repeated" : expected.problem);
        if (expected.url !== undefined) taken.add(expected.url);
      }
      expect(urls.size).toBe(taken.size);
    }),
    { numRuns: some(1000) },
  );
});

test("300,000 URLs that differ in little are all taken, and none of them twice", () => {
  const urls = new UrlCollector(undefined, 8192);
  const url = (index: number) => `https://example.org/${index % 600}/${Math.trunc(index / 600)}`;
  for (let index = 0; index < 300_000; index++) urls.take(url(index));
  expect(urls.size).toBe(300_000);
  for (let index = 0; index < 300_000; index += 7) urls.take(url(index));
  expect(urls.size).toBe(300_000);
});
