// Where feeds have their links, against the specifications: what is read, and what is reported.
import { describe, expect, test } from "vitest";
import { parsed, summary, urlsOf } from "../support/parsed.ts";

const one = "https://example.org/1";
const two = "https://example.org/2";
const rss = (content: string) =>
  `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>${content}</channel></rss>`;
const atom = (content: string) => `<feed xmlns="http://www.w3.org/2005/Atom">${content}</feed>`;
const rdf = (content: string, more = "") =>
  `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"${more}>${content}</rdf:RDF>`;
const rss1 = ' xmlns="http://purl.org/rss/1.0/"';

describe("the links of an item", () => {
  test.each<[content: string, urls: string[], codes: string[]]>([
    [`<link>${one}</link><link>${two}</link>`, [one, two], ["url-several"]],
    [`<link>${one}</link><title>t</title><link>${one}</link>`, [one], []],
    [`<link/><link>${one}</link>`, [one], []],
    [`<link href="${one}"/>`, [one], ["xml-namespace"]],
    [`<link href="${one}"></link>`, [one], ["xml-namespace"]],
    [`<link rel="alternate" href="${one}"/><link rel="self" href="${two}"/>`, [one], ["xml-namespace"]],
    [`<LINK HREF="${one}"/>`, [one], ["xml-element-name", "xml-namespace"]],
    [`<link href="${one}">${two}</link>`, [one, two], ["xml-namespace", "url-several"]],
    [`<link>${one}</link><atom:link href="${two}"/>`, [one], []],
    [`<link>${one}</link><atom:link rel="replies" href="${two}"/>`, [one], []],
    [`<link/>${one}<title>t</title>`, [one], ["xml-misplaced"]],
    [one, [one], ["xml-misplaced"]],
  ])("lenient: in RSS may be several or odd: %s", (content, urls, codes) => {
    const result = parsed(rss(`<item>${content}</item>`));
    expect({ urls: urlsOf(result), codes: result.codes, complete: result.complete }).toEqual({
      urls,
      codes,
      complete: true,
    });
  });

  test.each<[content: string, urls: string[], codes: string[]]>([
    [`<LINK HREF="${one}"/>`, [one], ["xml-element-name"]],
    [`<link HREF="${one}" Rel="alternate"/>`, [one], ["xml-element-name"]],
    [`<link REL="edit" href="${two}"/><link href="${one}"/>`, [one], ["xml-element-name"]],
    [`<link>${one}</link>`, [one], ["xml-namespace"]],
    [`<link rel="enclosure">${two}</link><link href="${one}"/>`, [one], []],
    [`<link href="${one}"/><link href="${two}"/>`, [one, two], ["url-several"]],
    [`<link href="${one}"/><link type="text/html" hreflang="de" href="${two}"/>`, [one, two], ["url-several"]],
    [`<link hreflang="en" href="${one}"/><link hreflang="de" href="${two}"/>`, [one, two], ["url-several"]],
  ])("lenient: in Atom may be several or odd: %s", (content, urls, codes) => {
    const result = parsed(atom(`<entry>${content}</entry>`));
    expect({ urls: urlsOf(result), codes: result.codes }).toEqual({ urls, codes });
  });

  test("too many links in one item are a loss", () => {
    const links = Array.from({ length: 150 }, (_, n) => `<link>https://example.org/${n}</link>`).join("");
    const result = parsed(rss(`<item>${links}</item>`));
    expect(result.pages).toHaveLength(101);
    expect(result).toMatchObject({ complete: false });
  });
});

test.each([
  rss(`<link rel="next" href="${two}"/><item><link>${one}</link></item>`),
  rss(`<atom:link rel="next" href="${two}"/><item><link>${one}</link></item>`),
  atom(`<LINK REL="next" HREF="${two}"/><entry><link href="${one}"/></entry>`),
  atom(`<link rel="self next" href="${two}"/><entry><link href="${one}"/></entry>`),
  atom(`<link rel="next" href="${two}"/>`),
])("the link to the next page is found: %s", (text) => {
  expect(parsed(text).outcome).toMatchObject({ kind: "pages", next: two });
});

describe("a feed inside another document", () => {
  const item = `<item><link>${one}</link></item>`;
  test.each([
    `<html><body>${rss(item)}</body></html>`,
    `<!DOCTYPE html><html><body><pre>${rss(item)}</pre></body></html>`,
    `<html><head></head><body>${atom(`<entry><link href="${one}"/></entry>`)}</body></html>`,
    `<html><body>${rdf(item, rss1)}</body></html>`,
    `<data>${rss(item)}</data>`,
  ])("lenient: %s is read", (text) => {
    expect(summary(text)).toMatchObject({ urls: [one], codes: expect.arrayContaining(["xml-root-name"]) });
  });

  test.each(["<feed>x</feed>", `<svg><metadata>${rdf("")}</metadata></svg>`, "<entry/>", "<channel/>"])(
    "an HTML page with %s is not a feed",
    (content) => {
      expect(parsed(`<html><body>${content}</body></html>`).outcome).toMatchObject({
        kind: "invalid",
        reason: { code: "not-a-sitemap", value: "html" },
      });
    },
  );
});

describe("an RDF document", () => {
  test("is a feed if it has items, a channel or the namespace of RSS", () => {
    for (const text of [rdf("", rss1), rdf("<channel/>"), rdf("", ' xmlns:rss="http://purl.org/rss/1.0/"')]) {
      expect(parsed(text)).toMatchObject({ outcome: { kind: "pages", format: "rss" }, codes: ["no-entries"] });
    }
  });

  test.each([
    rdf('<rdf:Description rdf:about="https://example.org/x"/>'),
    rdf("<foaf:Person/>", ' xmlns:foaf="http://xmlns.com/foaf/0.1/"'),
    rdf(""),
  ])("is not a feed without any of these: %s", (text) => {
    expect(parsed(text).outcome).toMatchObject({ kind: "invalid", reason: { code: "not-a-sitemap", value: "rdf" } });
  });
});

test("of several next pages, only the first is followed, and the others are a loss", () => {
  const links = `<link rel="next" href="${two}"/><link rel="next" href="${one}"/>`;
  const result = parsed(atom(`${links}<entry><link href="${one}"/></entry>`));
  expect(result.outcome).toMatchObject({ next: two });
  expect(result.codes).toEqual(["feed-next"]);
  expect(result.complete).toBe(false);
  expect(parsed(atom(`<link rel="next" href="${two}"/><link rel="next" href="${two}"/>`)).complete).toBe(true);
});
