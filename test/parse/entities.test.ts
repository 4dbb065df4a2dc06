import { decodeHTMLAttribute, decodeHTMLStrict, decodeXML } from "entities/decode";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHtmlReferences, htmlEntities } from "../../src/model/html-entities.ts";
import { decodeHtml, decodeReferences } from "../../src/parse/xml/text.ts";
import { entry, richUrlset as urlset } from "../support/documents.ts";
import { parsed, urlsOf } from "../support/parsed.ts";

function decode(text: string): { text: string; flaws: string[] } {
  const flaws: string[] = [];
  return { text: decodeReferences(text, { onReference: (flaw, value) => flaws.push(`${flaw} ${value}`) }), flaws };
}

// https://www.w3.org/TR/xml/#sec-references
test.each<[what: string, rows: [raw: string, text: string, ...flaws: string[]][]]>([
  [
    "spec: references are decoded",
    [
      ["&amp;&lt;&gt;&quot;&apos;", "&<>\"'"],
      ["&#65;&#x42;&#x1F600;&#0067;", "AB😀C"],
      ["&amp;lt;", "&lt;"],
      ["&#10;&#9;&#13;", "\n\t\r"],
      ["nothing", "nothing"],
    ],
  ],
  [
    "lenient: an & that starts no reference is text",
    ["?a=1&b=2", "?a=1&copy=2", "a & b;", "&", "&#;", "&#x;", "&#12"].map((raw) => [
      ...[raw, raw],
      `xml-bare-ampersand ${raw.slice(raw.indexOf("&"))}`,
    ]) as [string, string, string][],
  ],
  [
    "lenient: HTML entities are decoded, unknown ones stay as text; both are reported",
    [
      ["caf&eacute;&nbsp;", "café\u00a0", "xml-html-entity &eacute;", "xml-html-entity &nbsp;"],
      ["&nobody;&lol9;", "&nobody;&lol9;", "xml-unknown-entity &nobody;", "xml-unknown-entity &lol9;"],
    ],
  ],
])("%s", (_, rows) => {
  for (const [raw, text, ...flaws] of rows) expect(decode(raw)).toEqual({ text, flaws });
});

test("valid references are decoded as the entities package does", () => {
  const part = fc.oneof(
    fc.constantFrom("&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "x", ";", "#", "😀"),
    fc.integer({ min: 0x20, max: 0xd7ff }).map((code) => `&#${code};`),
    fc.integer({ min: 0xe000, max: 0xfffd }).map((code) => `&#x${code.toString(16)};`),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const raw = parts.join("");
      // That package reads some numbers as windows-1252, as HTML does.
      fc.pre(!/&#(?:12[89]|1[345]\d);/.test(raw));
      expect(decode(raw)).toEqual({ text: decodeXML(raw), flaws: [] });
    }),
  );
});

// https://html.spec.whatwg.org/multipage/named-characters.html lists 2,231, of which 106 have no semicolon.
test("every HTML entity is decoded as the entities package does, with and without a semicolon, in text and in attributes", () => {
  const { characters, open } = htmlEntities();
  expect([characters.size, open.size]).toEqual([2125, 106]);
  const differing = [...characters.keys()].flatMap((name) => {
    expect(decodeHtmlReferences(`&${name};`)).toBe(characters.get(name));
    const texts = [";", ";;", "", "=", ";=", "x", "1;", "_", " ", "&amp;"].map((after) => `&${name}${after}`);
    return texts.filter((text) => {
      const isSame = decodeHtmlReferences(text) === decodeHTMLStrict(text);
      return !isSame || decodeHtmlReferences(text, true) !== decodeHTMLAttribute(text);
    });
  });
  expect(differing).toEqual([]);
});

test("any HTML text is decoded as the entities package does", () => {
  const part = fc.oneof(
    fc.constantFrom("&", "&#", "&#x", "&#X", ";", "=", "amp", "lt", "copy", "notin", "fjlig", "a", "F", "0", "é", "😀"),
    fc.integer({ min: 0, max: 0x120000 }).map(String),
    fc.integer({ min: 0, max: 300 }).map((code) => `&#${code};`),
    fc.integer({ min: 0xd7f0, max: 0xe010 }).map((code) => `&#x${code.toString(16)};`),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join("");
      expect(decodeHtmlReferences(text)).toBe(decodeHTMLStrict(text));
      expect(decodeHtmlReferences(text, true)).toBe(decodeHTMLAttribute(text));
    }),
    { numRuns: 2000 },
  );
});

test("the second decoding of a text requires semicolons", () => {
  expect(decodeHtml("?a=1&copy=2&section;&amp;&eacute;")).toBe("?a=1&copy=2&section;&é");
});

describe("in a sitemap", () => {
  test.each([
    "&amp;lt;b&amp;gt;",
    "&amp;amp;",
    "&amp;#169;",
    "<![CDATA[&lt;b&gt; &amp;]]>",
    "a &amp;eacute; <!-- -->&amp;lt;",
  ])("spec: text is decoded once, even if it is about references: %s", (written) => {
    const text = decode(written.replaceAll(/<!\[CDATA\[|]]>|<!-- -->/g, "")).text;
    const shown = written.startsWith("<![") ? written.slice(9, -3) : text;
    const extensions = `<news:news><news:title>${written}</news:title><news:keywords>${written}</news:keywords></news:news>
        <image:image><image:loc>https://example.org/i</image:loc><image:caption>${written}</image:caption></image:image>`;
    for (const strict of [false, true]) {
      const { pages, codes } = parsed(urlset(entry("https://example.org/", extensions)), { strict });
      expect(pages).toMatchObject([{ newsStory: { title: shown, keywords: [shown] }, images: [{ caption: shown }] }]);
      expect(codes).not.toContain("url-double-escaped");
    }
    const item = `<item><link>https://example.org/</link><title>${written}</title></item>`;
    expect(parsed(`<rss><channel>${item}</channel></rss>`).pages).toMatchObject([{ newsStory: { title: shown } }]);
  });

  // https://www.rfc-editor.org/rfc/rfc4287#section-3.1.1.2
  test("spec: an Atom text of the type html contains escaped HTML, others do not", () => {
    const atom = (type: string) => `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://example.org/"/>
      <title${type}>Q&amp;amp;A &amp;lt;</title></entry></feed>`;
    const title = (type: string) => parsed(atom(type)).pages[0]?.newsStory?.title;
    expect([' type="html"', ' type="text"', ""].map(title)).toEqual(["Q&A <", "Q&amp;A &lt;", "Q&amp;A &lt;"]);
  });

  test("a bare & in one of ten locs loses nothing", () => {
    const locs = Array.from({ length: 10 }, (_, n) => `https://example.org/?n=${n}${n === 4 ? "&x=1" : ""}`);
    const document = urlset(...locs.map((loc) => entry(loc)));
    const result = parsed(document);
    expect(urlsOf(result)).toEqual(locs);
    expect(result.problems).toMatchObject([{ code: "xml-bare-ampersand", value: "&x=1", line: 11 }]);
    expect(result.complete).toBe(true);
    const strict = parsed(document, { strict: true });
    expect(urlsOf(strict)).toEqual(locs.slice(0, 4));
    expect(strict.codes).toEqual(["xml-bare-ampersand", "xml-not-well-formed"]);
    expect(strict.complete).toBe(false);
  });

  test.each(["&#0;", "&#x110000;", "&#xD800;", "&#99999999999999999999;", "&#xFFFE;", "&#8;"])(
    "an illegal character reference loses only its own value: %s",
    (reference) => {
      const image = `<image:image><image:loc>https://example.org/i</image:loc><image:caption>a${reference}</image:caption>`;
      const result = parsed(
        urlset(
          entry(`https://example.org/1${reference}`, "<priority>0.1</priority>"),
          entry("https://example.org/2", `<lastmod>2024${reference}</lastmod><priority>0.2</priority>`),
          entry("https://example.org/3", `<news:news><news:title>${reference}</news:title></news:news>`),
          entry("https://example.org/4", `<priority>0.4${reference}</priority><changefreq>daily</changefreq>`),
          entry("https://example.org/5", `${image}</image:image>`),
          entry("https://example.org/6"),
        ),
      );
      expect(result.pages).toMatchObject([
        { url: "https://example.org/2", priority: 0.2 },
        { url: "https://example.org/3" },
        { url: "https://example.org/4", changeFrequency: "daily" },
        { url: "https://example.org/5", images: [{ url: "https://example.org/i" }] },
        { url: "https://example.org/6" },
      ]);
      expect(result.pages[0]).not.toHaveProperty("lastModified");
      expect(result.problems.slice(0, 2)).toMatchObject([
        { code: "xml-char-reference", value: reference, count: 5 },
        { code: "url-invalid", value: "https://example.org/1\ufffd" },
      ]);
      expect(result.codes).not.toContain("url-missing");
    },
  );
});
