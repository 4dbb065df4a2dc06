// Texts that hold several URLs in place of one, in every format.
import { describe, expect, test } from "vitest";
import { inPieces } from "../support/cuts.ts";
import { atom, child, entry, index, richUrlset, rss } from "../support/documents.ts";
import { noFastPath } from "../support/no-fast-path.ts";
import { parsed, parsePieces, urlsOf } from "../support/parsed.ts";
import { expectSameUrls } from "../support/same-urls.ts";

const one = "https://example.org/1";
const two = "https://example.org/2";
const other = "http://other.example/c?d";
const many = (from: number): string[] => Array.from({ length: 20 }, (_, n) => entry(`https://example.org/${from + n}`));

test.each([
  ["white space", `${one} ${two}`, [one, two]],
  ["line breaks", `\n  ${one}\n  ${other}\t${two}\n`, [one, other, two]],
  ["a comma and white space", `${one}, ${two}`, [one, two]],
  ["nothing, where a line break was lost", `${one}${two}`, [one, two]],
])("lenient: a <loc> whose URLs are separated by %s is several entries, wherever it is", (_, text, urls) => {
  for (const around of [[], many(100)]) {
    const result = parsed(richUrlset(...around, entry(text)));
    expect(urlsOf(result).slice(around.length)).toEqual(urls);
    expect(result.problems).toMatchObject([{ code: "url-several", value: urls[1] }]);
  }
});

test("several URLs in one <loc> are read the same with and without the fast path, also with `urlsOnly`", () => {
  const text = richUrlset(...many(100), entry(`${one} ${two}`), ...many(200), entry(`${other}`), ...many(300));
  for (const pieces of [[text], inPieces(text, 300)]) {
    expectSameUrls(pieces);
    expect(parsePieces(pieces)).toEqual(parsePieces(pieces, { fastPath: noFastPath }));
  }
});

test("lenient: several URLs in one <loc> of an index, or in one link of a feed, are several", () => {
  expect(parsed(index(child(`${one} ${two}`)))).toMatchObject({
    sitemaps: [{ url: one }, { url: two }],
    codes: ["url-several"],
  });
  for (const document of [
    rss(`${one} ${two}`),
    rss(`<item><guid>${one}\n${two}</guid></item>`),
    atom(`${one} ${two}`),
    JSON.stringify({ version: "https://jsonfeed.org/version/1", items: [{ url: `${one} ${two}` }] }),
  ]) {
    const result = parsed(document);
    expect({ urls: urlsOf(result), codes: result.codes }).toEqual({ urls: [one, two], codes: ["url-several"] });
  }
});

test.each(["\n", "\r\n", "\t", "&#10;"])(
  "a URL in an attribute with %j inside is invalid, as it is in an element",
  (line) => {
    const href = `https://example.org/a${line}b`;
    expect(parsed(atom(href, ` \n ${one}\n`))).toMatchObject({ pages: [{ url: one }], codes: ["url-invalid"] });
    const link = `<xhtml:link rel="alternate" hreflang="de" href="${href}"/>`;
    const result = parsed(richUrlset(...many(10), entry(one, link), ...many(40)));
    expect(result.pages).toHaveLength(41);
    expect(result.pages.filter(({ alternates }) => alternates)).toEqual([]);
    expect(result.codes).toEqual(["url-invalid"]);
  },
);

test("several URLs in place of an image are invalid", () => {
  const image = (loc: string) => `<image:image><image:loc>${loc}</image:loc></image:image>`;
  const result = parsed(richUrlset(...many(10), entry(one, image(`${one}.png`) + image(`${one}.png ${two}.png`))));
  expect(result.pages.at(-1)?.images).toEqual([{ url: `${one}.png` }]);
  expect(result.problems).toMatchObject([{ code: "url-invalid", value: `${one}.png ${two}.png` }]);
});

describe("in a text", () => {
  test("lenient: two URLs of a host without a line break between them are two pages", () => {
    const result = parsed(`${one}\nhttps://example.org/ahttps://example.org/b.html${two}\n${other}\n`);
    expect(urlsOf(result)).toEqual([one, "https://example.org/a", "https://example.org/b.html", two, other]);
    expect(result.problems).toMatchObject([{ code: "text-extra", line: 2 }]);
  });

  test.each([
    "https://example.org/web/2020/https://example.org/",
    "https://example.org/https://example.org/",
    "https://example.org/?url=https://example.org/",
    "https://example.org/?url%3Dhttps://example.org/",
    "https://example.org/a?b&https://example.org/",
    "https://example.org/proxy:https://example.org/",
    "https://example.org/ahttps://other.example/b",
  ])("a URL that contains another is one page: %s", (url) => {
    for (const document of [`${one}\n${url}\n`, richUrlset(...many(10), entry(url.replace("&", "&amp;")))]) {
      const result = parsed(document);
      expect(urlsOf(result).at(-1)).toBe(url);
      expect(result.problems).toEqual([]);
    }
  });
});
