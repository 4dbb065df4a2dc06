// Documents with mistakes: what is kept, and what is reported.
import { describe, expect, test } from "vitest";
import { entry, richUrlset as urlset } from "../support/documents.ts";
import { isLong } from "../support/long.ts";
import { parsed, summary, urlsOf } from "../support/parsed.ts";

const sitemapNamespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
const two = ["https://example.org/1", "https://example.org/2"].map((url) => entry(url));
const [one = "", other = ""] = two;
const both = ["https://example.org/1", "https://example.org/2"];

describe("document type declarations", () => {
  test.each([
    "<!DOCTYPE urlset>",
    '<!DOCTYPE urlset SYSTEM "http://192.0.2.1/x.dtd">',
    `<!DOCTYPE urlset PUBLIC "-//X//Y 'Z'" 'http://192.0.2.1/>.dtd'>`,
    "<!DOCTYPE urlset [<!-- > ]> <!ENTITY --><!ELEMENT urlset ANY> <?pi ]> ?> <!ATTLIST url a CDATA ']>'>]>",
    "<!doctype urlset>",
  ])("lenient: a DOCTYPE without entities is skipped and reported: %s", (doctype) => {
    const result = parsed(urlset(...two).replace("<urlset", `${doctype}\n<urlset`));
    expect(urlsOf(result)).toEqual(both);
    expect(result.problems).toMatchObject([{ code: "xml-doctype", line: 2 }]);
    expect(result.complete).toBe(true);
  });

  test.each([
    '<!DOCTYPE urlset [<!ENTITY a "b">]>',
    '<!DOCTYPE urlset SYSTEM "x" [ <!-- --> <!ENTITY % a SYSTEM "file:///etc/passwd"> %a; ]>',
    "<!DOCTYPE urlset [<!entity a 'b'>",
    // Each line expands to ten times the one before.
    '<!DOCTYPE urlset [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
  ])("a document whose DOCTYPE declares entities is refused: %s", (doctype) => {
    const result = parsed(urlset(...two).replace("<urlset", `${doctype}<urlset`));
    expect(result.outcome).toMatchObject({ kind: "invalid", reason: { code: "xml-dtd-refused" } });
    expect(result.pages).toEqual([]);
  });

  test("a DOCTYPE with entities is refused even after junk", () => {
    const result = parsed(`<br/>${urlset(...two).replace("<urlset", '<!DOCTYPE a [<!ENTITY a "b">]><urlset')}`);
    expect(result.outcome).toMatchObject({ kind: "invalid", reason: { code: "xml-dtd-refused" } });
  });
});

describe("mismatched tags", () => {
  const unknown =
    "<foo>This is <b>no</b> <![CDATA[ good ]]> tag<p:url xmlns:p='urn:p'><loc>https://no.example/</loc></p:url></foo>";
  const left = "<url><loc>https://example.org/1</url>";
  test.each<[what: string, entries: string[], urls: string[], codes: string[]]>([
    ["a DOCTYPE in the middle is skipped", [one, "<!DOCTYPE x>", other], both, ["xml-malformed-tag"]],
    [
      "lenient: the text of an unclosed field is not used",
      [left, "<url><loc>https://example.org/3<loc></url>", other],
      both.slice(1),
      ["xml-mismatched-tag", "url-missing"],
    ],
    [
      "lenient: an end tag in another case closes its element",
      ["<url><loc>https://example.org/1</LOC></Url>", other],
      both,
      ["xml-mismatched-tag"],
    ],
    [
      "lenient: an unclosed tag ends at the next tag",
      ["<url <loc>https://example.org/1</loc></url", other],
      both,
      ["xml-malformed-tag"],
    ],
    [
      "unknown elements are skipped with their content",
      [unknown, one, unknown, `<url>${unknown}<loc>https://example.org/2</loc></url>`],
      both,
      [],
    ],
  ])("%s", (_, entries, urls, codes) => {
    expect(summary(urlset(...entries))).toMatchObject({ urls, codes });
  });

  test("lenient: a < in text is read as text", () => {
    const result = parsed(
      urlset(
        entry("https://example.org/1?a<1"),
        entry("https://example.org/2?a<b"),
        entry("https://example.org/3", "<lastmod>2024-01-01<</lastmod>"),
        entry("https://example.org/4", "<news:news><news:title>a < b <c d</news:title></news:news>"),
      ),
    );
    expect(urlsOf(result)).toEqual([
      "https://example.org/1?a<1",
      "https://example.org/2?a<b",
      "https://example.org/3",
      "https://example.org/4",
    ]);
    expect(result.pages[3]?.newsStory?.title).toBe("a < b <c d");
    expect(result.codes).toContain("xml-stray-text");
    expect(result.complete).toBe(false);
  });

  // https://www.w3.org/TR/xml/#NT-AttValue
  test("a < in the value of an attribute may be another tag, so it is a loss", () => {
    const pages = Array.from({ length: 50 }, (_, n) => `https://example.org/${n}`);
    const link = '<xhtml:link rel="alternate" hreflang="de" href="https://example.org/x"/>';
    const entries = pages.map((url) => `<url><loc>${url}</loc>${link}</url>`).join("\n");
    const good = `<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">${entries}</urlset>`;
    expect(parsed(good).codes).toEqual(["xml-namespace"]);
    const without = good.replace('"de" href="https://example.org/x"', '"<loc>https://example.org/y</loc>" href="/x"');
    expect(parsed(without)).toMatchObject({ complete: false, codes: expect.arrayContaining(["xml-malformed-tag"]) });
    const last = good.replace(/(.*)"https:\/\/example.org\/x"/s, '$1"https://example.org/x<y"');
    expect(parsed(last)).toMatchObject({ complete: false, codes: expect.arrayContaining(["xml-malformed-tag"]) });
  });

  test("lenient: attributes without quotes or values, and stray characters, are skipped", () => {
    const result = parsed(
      urlset(
        `<url class=x checked "><loc a = 'b' / >https://example.org/1</loc></url>`,
        entry("https://example.org/2", '<xhtml:link rel=alternate hreflang="de"href="https://example.org/de"/>'),
      ),
    );
    expect(urlsOf(result)).toEqual(both);
    expect(result.pages[1]?.alternates).toEqual([{ language: "de", url: "https://example.org/de" }]);
    expect(result.codes).toEqual(["xml-malformed-tag"]);
  });
});

test("wherever a document ends, complete entries are kept and nothing is invented", () => {
  const whole = urlset(
    entry("https://example.org/1"),
    entry("https://example.org/2?a&amp;b", "<lastmod>2024</lastmod>"),
    "<url><loc><![CDATA[https://example.org/3]]></loc><!-- comment --></url>",
  );
  const all = urlsOf(parsed(whole));
  for (let end = whole.indexOf("<url>"); end < whole.length - 1; end += 1) {
    if (!isLong && end % 5 > 0 && whole[end - 1] !== "<") continue;
    const urls = all.slice(0, whole.slice(0, end).split("</url>").length - 1);
    expect(summary(whole.slice(0, end))).toEqual({ urls, codes: ["xml-truncated"], complete: false });
  }
});

describe("namespaces and names", () => {
  const body = two.join("");

  test.each([
    ["the right one", `<urlset xmlns="${sitemapNamespace}">${body}</urlset>`, []],
    ["https", `<urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9">${body}</urlset>`, ["xml-namespace"]],
    ["a slash too many", `<urlset xmlns="${sitemapNamespace}/">${body}</urlset>`, ["xml-namespace"]],
    ["any other", `<urlset xmlns="http://www.example.org/whatever">${body}</urlset>`, ["xml-namespace"]],
    ["an undeclared prefix", `<s:urlset>${body.replace(/<(\/?)/g, "<$1s:")}</s:urlset>`, ["xml-namespace"]],
    [
      "one that children take back",
      `<urlset xmlns="${sitemapNamespace}">${body.replaceAll("<url>", '<url xmlns="">')}</urlset>`,
      ["xml-namespace"],
    ],
    [
      "another one for the children",
      `<urlset xmlns="${sitemapNamespace}">${body.replaceAll("<url>", '<url xmlns="urn:x">')}</urlset>`,
      ["xml-namespace"],
    ],
    [
      "upper case",
      `<URLSET xmlns="${sitemapNamespace}">${body.replaceAll("loc>", "LOC>")}</URLSET>`,
      ["xml-root-name", "xml-element-name"],
    ],
  ])("lenient: the namespace or name may be %s", (_, text, codes) => {
    expect(summary(text)).toEqual({ urls: both, codes, complete: true });
  });

  test("lenient: extensions with a wrong or missing declaration are recognized by their usual prefix", () => {
    const result = parsed(
      `<urlset xmlns="${sitemapNamespace}" xmlns:news="http://example.org/mistaken"><url><loc>https://example.org/1</loc>
      <image:image><image:loc>https://example.org/i</image:loc></image:image><news:news><news:title>T</news:title></news:news></url></urlset>`,
    );
    expect(result.pages).toMatchObject([{ images: [{ url: "https://example.org/i" }], newsStory: { title: "T" } }]);
    expect(result.problems[0]).toMatchObject({ code: "xml-namespace", value: "image:", count: 2 });
  });

  test("extensions are recognized by their namespace, whatever the prefix", () => {
    const result = parsed(
      `<urlset xmlns="${sitemapNamespace}" xmlns:a="http://www.google.com/schemas/sitemap-image/1.1"><url><loc>https://example.org/1</loc>
      <a:image><a:loc>https://example.org/i</a:loc></a:image>
      <image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>https://example.org/j</loc></image></url></urlset>`,
    );
    expect(result.pages[0]?.images).toEqual([{ url: "https://example.org/i" }, { url: "https://example.org/j" }]);
    expect(result.problems).toEqual([]);
  });
});

describe("XML that is not well-formed", () => {
  test.each([
    '<?xml version="1.0" encoding="UTF-8">',
    "<?xml version='1.0'>\n<?xml-stylesheet type=\"text/xsl\" href='a>b.xsl'>",
    '<?xml-stylesheet type="text/xsl" href="a.xsl">\n<!-- c -->',
    "<?xml>",
    '<?xml version="1.0 encoding="UTF-8"?>',
  ])("lenient: %s before the document is accepted", (before) => {
    const codes = before.replaceAll("?>", "").includes(">") ? ["xml-unclosed-instruction"] : [];
    const text = `${before}\n${urlset(...two).replace(/^<\?xml.*\?>\n/, "")}`;
    expect(summary(text)).toEqual({ urls: both, codes, complete: true });
  });

  test.each(["<!-- c --!>", "<!----!>", "<!-- a -- b --!>", "<!-- <url> --!-- --!>"])("lenient: %s", (comment) => {
    const result = parsed(urlset(one, comment, other, "<!-- d -->"));
    expect(urlsOf(result)).toEqual(both);
    expect(result).toMatchObject({ problems: [{ code: "xml-comment-end", value: "--!>" }], complete: true });
  });

  test.each(["<!-- c -->", "<!---->", "<!----->", "<!-- a -- b -->", "<!-- !> -- !> --->"])(
    "%s is read as a comment",
    (comment) => expect(summary(urlset(one, comment, other))).toMatchObject({ urls: both, codes: [] }),
  );
});

test("xml:base, XInclude and stylesheets have no effect", () => {
  const result = parsed(
    `<?xml version="1.0"?><?xml-stylesheet href="http://192.0.2.1/x.xsl"?>
    <urlset xmlns="${sitemapNamespace}" xml:base="https://other.example/" xmlns:xi="http://www.w3.org/2001/XInclude">
    <xi:include href="file:///etc/passwd"/><url xml:base="https://other.example/"><loc>/1</loc></url></urlset>`,
  );
  expect(urlsOf(result)).toEqual(["https://example.org/1"]);
});

test("lenient: a urlset inside an HTML page is read; an element called feed is not a feed", () => {
  const result = parsed(`<html><head><title>x</title></head><body><div>${urlset(...two)}</div></body></html>`);
  expect(result.outcome).toEqual({ kind: "pages", format: "xml" });
  expect(urlsOf(result)).toEqual(both);
  expect(result.codes).toContain("xml-root-name");
  expect(parsed("<html><feed><entry><link href='/1'/></entry></feed></html>").outcome.kind).toBe("invalid");
});

test("any other unclosed processing instruction extends to the end, so the document is cut off", () => {
  const closed = urlset(one, "<?php if (1 > 0) echo '<url>'; ?>", other);
  expect(summary(closed)).toEqual({ urls: both, codes: [], complete: true });
  const unclosed = urlset(one, "<?php echo 1>", other);
  expect(summary(unclosed)).toEqual({ urls: both.slice(0, 1), codes: ["xml-truncated"], complete: false });
});

test("lenient: an end tag in another case closes its element, even after one in the right case was closed", () => {
  const entries = Array.from({ length: 40 }, (_, n) => entry(`https://example.org/${n}`, `</x><x>${n}</x><X>${n}</x>`));
  const result = parsed(urlset(...entries));
  expect(urlsOf(result)).toHaveLength(40);
  expect(result.problems).toMatchObject([{ code: "xml-mismatched-tag", value: "</x>", count: 80 }]);
});
