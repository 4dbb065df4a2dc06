// Parts of sitemaps in unexpected places: they are read, or their loss is reported.
import { describe, expect, test } from "vitest";
import { entry, index, richUrlset as urlset } from "../support/documents.ts";
import { parsed, summary, urlsOf } from "../support/parsed.ts";

const one = "https://example.org/1";
const two = "https://example.org/2";
const namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";

describe("after the root", () => {
  const prefixed = (url: string) => `<s:url><s:loc>${url}</s:loc></s:url>`;
  test.each([
    `<s:urlset xmlns:s="${namespace}">${prefixed(one)}</s:urlset>${prefixed(two)}`,
    `<s:urlset xmlns:s="${namespace}">${prefixed(one)}</s:urlset><s:urlset>${prefixed(two)}</s:urlset>`,
    `<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:link href="${one}"/></a:entry></a:feed><a:entry><a:link href="${two}"/></a:entry>`,
  ])("lenient: the root's namespaces stay in scope: %s", (text) => {
    expect(summary(text)).toMatchObject({ urls: [one, two], codes: ["xml-junk-after-root"] });
  });

  test("the namespaces of other elements do not stay in scope, which is a loss", () => {
    const other = `<x xmlns:s="${namespace}"/><s:url><s:loc>${two}</s:loc></s:url>`;
    expect(summary(`${urlset(entry(one))}${other}`)).toMatchObject({ urls: [one], complete: false });
  });

  test.each([`<loc>${two}</loc>`, `<loc>${two}</loc> `])(
    "lenient: a URL at the very end, outside an entry, is read: %j",
    (late) => {
      expect(summary(`${urlset(entry(one))}${late}`)).toMatchObject({ urls: [one, two], complete: true });
    },
  );

  test.each([
    two,
    `\n${two}\n`,
    `${"- ".repeat(500)}\n${two}`,
    `<rss><channel><item><link>${two}</link></item></channel></rss>`,
    `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="${two}"/></entry></feed>`,
  ])("a possible entry is a loss: %j", (late) => {
    const result = parsed(`${urlset(entry(one))}${late}`);
    expect(urlsOf(result)).toEqual([one]);
    expect(result.codes).toContain("xml-entry-skipped");
    expect(result.complete).toBe(false);
  });

  test.each(["<!-- https://example.org/ -->", '<script src="https://example.org/a.js"></script>', "1.2 s"])(
    "%s is not a loss",
    (late) => expect(parsed(`${urlset(entry(one))}${late}`).complete).toBe(true),
  );
});

test("a URL on a line before the document is a loss", () => {
  const result = parsed(`${two}\n${urlset(entry(one))}`);
  expect(urlsOf(result)).toEqual([one]);
  expect(result.codes).toContain("xml-entry-skipped");
  expect(result.complete).toBe(false);
});

describe("a root with the namespace of another format", () => {
  const namespaces = [
    "http://www.google.com/schemas/sitemap-image/1.1",
    "http://www.google.com/schemas/sitemap-news/0.9",
    "http://www.w3.org/1999/xhtml",
    "http://www.w3.org/2005/Atom",
    namespace,
  ];
  test.each(namespaces)("lenient: %s is accepted", (other) => {
    for (const [root, content] of [
      ["urlset", entry(one) + entry(two)],
      ["rss", `<channel><item><link>${one}</link></item><item><link>${two}</link></item></channel>`],
      ["feed", `<entry><link href="${one}"/></entry><entry><link href="${two}"/></entry>`],
    ] as const) {
      const result = parsed(`<${root} xmlns="${other}">${content}</${root}>`);
      expect(urlsOf(result), root).toEqual([one, two]);
      const page = `<html xmlns="${other}"><body><${root}>${content}</${root}></body></html>`;
      if (root !== "feed") expect(urlsOf(parsed(page)), `${root} in a page`).toEqual([one, two]);
    }
  });
});

describe("an entry of another format is a loss", () => {
  const item = `<item><link>${two}</link></item>`;
  const atomEntry = `<entry><link href="${two}"/></entry>`;
  const rss = (content: string) => `<rss><channel><item><link>${one}</link></item>${content}</channel></rss>`;
  const atom = (content: string) =>
    `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="${one}"/></entry>${content}</feed>`;
  test.each([
    urlset(entry(one), item),
    urlset(entry(one), atomEntry),
    urlset(entry(one), `<x:url><x:loc>${two}</x:loc></x:url>`),
    urlset(entry(one), `<url xmlns="http://www.w3.org/1999/xhtml"><loc>${two}</loc></url>`),
    rss(atomEntry),
    rss(entry(two)),
    rss(`<urlset>${entry(two)}</urlset>`),
    atom(item),
    atom(entry(two)),
  ])("such as %s", (text) => {
    expect(summary(text)).toEqual({ urls: [one], codes: ["xml-entry-skipped"], complete: false });
  });

  test.each([
    urlset(entry(one), `<x:url xmlns:x="https://example.org/ns"><x:loc>${two}</x:loc></x:url>`),
    rss("<url>https://example.org/</url>"),
    rss(`<x:entry xmlns:x="https://example.org/ns"/>`),
  ])("an element of an extension is not an entry: %s", (text) => expect(parsed(text).complete).toBe(true));
});

describe("inside an entry", () => {
  test.each(["url", "sitemap", "loc", "a"])("lenient: a CDATA section in <%s> in a <loc> is its URL", (name) => {
    for (const space of ["", "\n  "]) {
      const loc = `${space}<${name}>${space}<![CDATA[${one}]]>${space}</${name}>${space}`;
      expect(summary(urlset(entry(loc), entry(two)))).toMatchObject({ urls: [one, two], complete: true });
    }
    const sitemaps = parsed(index(`<sitemap><loc><${name}><![CDATA[${one}]]></${name}></loc></sitemap>`)).sitemaps;
    expect(sitemaps).toEqual([{ url: one }]);
  });

  test.each<[content: string, urls: string[], codes: string[]]>([
    [one, [one], ["xml-misplaced"]],
    [`\n ${one}\n`, [one], ["xml-misplaced"]],
    [`<![CDATA[${one}]]>`, [one], ["xml-misplaced"]],
    ["https://example.org/?a=1&amp;b", ["https://example.org/?a=1&b"], ["xml-misplaced"]],
    [`${one}<lastmod>2024-01-01</lastmod>`, [one], ["xml-misplaced"]],
    [`${one}<loc>${two}</loc>`, [one, two], ["xml-misplaced", "url-several"]],
    [`<loc>${two}</loc>${one}`, [two, one], ["xml-misplaced", "url-several"]],
    ["none", [], ["url-missing"]],
  ])("lenient: a URL may be the text of the entry: %s", (content, urls, codes) => {
    const pages = parsed(urlset(`<url>${content}</url>`));
    expect([urlsOf(pages), pages.codes]).toEqual([urls, codes]);
    const sitemaps = parsed(index(`<sitemap>${content}</sitemap>`));
    expect([sitemaps.sitemaps.map(({ url }) => url), sitemaps.codes]).toEqual([urls, codes]);
    const known = parsed(
      urlset(...Array.from({ length: 20 }, (_, n) => entry(`${two}/${n}`)), `<url>${content}</url>`),
    );
    expect(urlsOf(known).slice(20)).toEqual(urls);
  });
});

test.each([
  '<?xml version="1.0" encoding="UTF-8"\n',
  '<?xml version="1.0" encoding="UTF-8"?\n',
  '<?xml version="1.0"',
  '<?xml version="1.0" encoding="UTF-8\n',
  '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/x.xsl"\n',
  '<?xml version="1.0"\n<!-- made by hand -->',
])("lenient: an unclosed processing instruction ends at the next tag: %j", (start) => {
  const result = parsed(`${start}<urlset xmlns="${namespace}">${entry(one)}</urlset>`);
  expect(urlsOf(result)).toEqual([one]);
  expect(result.codes).toEqual(["xml-unclosed-instruction"]);
});

describe("a long text before the document", () => {
  const text = "Warning: something is wrong\n".repeat(400);
  test("lenient: is skipped, however the document begins", () => {
    for (const document of [urlset(entry(one)), `<rss><channel><item><link>${one}</link></item></channel></rss>`]) {
      expect(summary(text + document)).toMatchObject({ urls: [one], codes: ["xml-junk-before-root"] });
    }
  });

  test("is read as a text sitemap if it has URLs, and the document after it is a loss", () => {
    const result = parsed(`${two}\n${text}${urlset(entry(one))}`);
    expect(urlsOf(result)).toEqual([two]);
    expect(result).toMatchObject({ codes: ["text-junk", "xml-malformed-tag"], complete: false });
  });

  test("is not a sitemap if no document follows", () => {
    expect(parsed(text).outcome).toMatchObject({ kind: "invalid", reason: { code: "not-a-sitemap" } });
  });
});

test("a free text in an image's license is not read as a URL", () => {
  const license = (text: string) =>
    parsed(
      urlset(entry(one, `<image:image><image:loc>/i</image:loc><image:license>${text}</image:license></image:image>`)),
    );
  for (const text of ["All rights reserved", "CC-BY", "CC BY 4.0", "MIT"]) {
    const { pages, codes } = license(text);
    expect(pages[0]?.images).toEqual([{ url: "https://example.org/i" }]);
    expect(codes).toContain("image-license");
  }
  for (const text of ["https://example.org/license", "/license", "../license", "license.html"]) {
    expect(license(text).pages[0]?.images?.[0]?.license).toMatch(/^https:\/\/example\.org\/(?:maps\/)?license/);
  }
});
