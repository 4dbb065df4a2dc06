import { expect, test } from "vitest";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import { inEveryCut } from "../support/cuts.ts";

const home = "https://example.org/";

function read(pieces: string[], isCut = false) {
  const problems = new ProblemLog();
  const links = new HomepageLinks(home, problems);
  const html = links.html();
  for (const piece of pieces) html.write(piece);
  html.end(isCut);
  return { urls: links.candidates.map(({ url }) => url), problems: problems.toArray() };
}

const inHtml = (html: string) => inEveryCut(html, (pieces) => read(pieces)).urls;

function inHeader(...values: string[]) {
  const links = new HomepageLinks(home, new ProblemLog());
  links.addHeaders(values.map((value) => ["link", value]));
  return links.candidates.map(({ url }) => url);
}

test("a <link> whose relation is sitemap names a sitemap, relative to the page", () => {
  expect(
    inHtml('<head><link rel="sitemap" type="application/xml" href="/a.xml"><link rel=stylesheet href=x.css>'),
  ).toEqual([`${home}a.xml`]);
});

test("attributes come in any order, quoted or not, in any case, among other relations", () => {
  expect(inHtml("<LINK HREF=b.xml REL='alternate SiteMap' / >")).toEqual([`${home}b.xml`]);
  expect(inHtml('<link\n\trel = "sitemap"\n href = "/c.xml?a=1&amp;b=2" >')).toEqual([`${home}c.xml?a=1&b=2`]);
});

test("a <base> moves what follows", () => {
  expect(inHtml('<base href="https://cdn.example.net/x/"><link rel="sitemap" href="s.xml">')).toEqual([
    "https://cdn.example.net/x/s.xml",
  ]);
});

test("spec: the first <base> with a target counts", () => {
  const bases = '<base target="_top"><base href="/x/"><base href="/y/">';
  expect(inHtml(`${bases}<link rel="sitemap" href="s.xml">`)).toEqual([`${home}x/s.xml`]);
  expect(inHtml('<base href="https://["><base href="/y/"><link rel="sitemap" href="s.xml">')).toEqual([`${home}s.xml`]);
});

test("what stands in comments, scripts, styles and templates is no link", () => {
  const link = '<link rel="sitemap" href="/no.xml">';
  expect(
    inHtml(`<!-- ${link} --><script>var a = '${link}';</script><style>${link}</style><template>${link}</template>`),
  ).toEqual([]);
  expect(inHtml(`<script>${link}</script><link rel="sitemap" href="/yes.xml">`)).toEqual([`${home}yes.xml`]);
});

test("the names of comments and elements may be cut anywhere, and look like what they are not", () => {
  const link = '<link rel="sitemap" href="/no.xml">';
  const traps = `<!-- - -- ->${link}--><linker rel=sitemap href=/no.xml><script></scrip${link}</scripted>${link}</SCRIPT >`;
  expect(inHtml(`${traps}<link rel=sitemap href=/yes.xml><!-`)).toEqual([`${home}yes.xml`]);
});

test.each(["<!-- a -->", "<!-- a --!>", "<!-->", "<!--->", "<!----!>", "<!-- > -> --! --!>"])(
  "spec: %s is a whole comment",
  (comment) => {
    expect(inHtml(`${comment}<link rel=sitemap href=/yes.xml><!-- -->`)).toEqual([`${home}yes.xml`]);
  },
);

test("spec: <!--!> and <!---!> begin a comment that goes on", () => {
  expect(inHtml("<!--!><link rel=sitemap href=/no.xml>--><!---!><link rel=sitemap href=/no.xml>-->")).toEqual([]);
});

test("a link whose type is HTML is for people", () => {
  for (const type of ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"]) {
    expect(inHtml(`<link rel="sitemap" type="${type}" href="/sitemap.html">`)).toEqual([]);
    expect(inHeader(`</sitemap.html>; rel=sitemap; type="${type}", </a.xml>; rel=sitemap`)).toEqual([`${home}a.xml`]);
  }
});

test("a tag that is cut off with its document names nothing", () => {
  const html = '<link rel="sitemap" href="/a.xml"><link rel="sitemap" href="/sitemap-';
  expect(inEveryCut(html, (pieces) => read(pieces, true)).urls).toEqual([`${home}a.xml`]);
});

test("a tag without an end is given up, and what follows is read", () => {
  const html = `<link rel=sitemap href="${"x".repeat(70_000)}<link rel="sitemap" href="/a.xml">`;
  for (const size of [html.length, 65_535, 65_536, 1000]) {
    const pieces = html.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    expect(read(pieces).urls).toEqual([`${home}a.xml`]);
  }
});

test("unused links are reported: the hundred-and-first link, an invalid URL, one that is too long", () => {
  const links = Array.from({ length: 103 }, (_, number) => `<link rel="sitemap" href="/${number}.xml">`).join("");
  const hundred = read([links, links]);
  expect(hundred.urls).toHaveLength(100);
  expect(hundred.problems).toMatchObject([{ code: "homepage-too-many-links", limit: 100, count: 6 }]);
  expect(
    read([`<link rel=sitemap href="ftp://x/y"><link rel=sitemap><link rel=sitemap href="/${"x".repeat(9000)}">`])
      .problems,
  ).toMatchObject([
    { code: "homepage-link-invalid", value: "ftp://x/y", count: 2 },
    { code: "limit-url-length", limit: 8192 },
  ]);
});

test("a link without a target, or to another scheme, names nothing; each target counts once", () => {
  expect(inHtml('<link rel="sitemap"><link rel="sitemap" href="javascript:x">')).toEqual([]);
  expect(inHtml('<link rel="sitemap" href="/a.xml"><link rel="sitemap" href="/a.xml">')).toEqual([`${home}a.xml`]);
});

test("broken HTML costs nothing but its own tag", () => {
  expect(inHtml('<p title="<link rel=sitemap href=/q.xml>"><link rel="sitemap" href="/a.xml')).toEqual([
    `${home}q.xml`,
    `${home}a.xml`,
  ]);
  expect(inHtml("<".repeat(1000))).toEqual([]);
  expect(inHtml("<!-- never closed")).toEqual([]);
});

test("spec: RFC 8288, a Link header has targets with parameters, separated by commas", () => {
  expect(inHeader('</a.xml>; rel="sitemap"')).toEqual([`${home}a.xml`]);
  expect(inHeader('<https://x.example/,;y>; title="a, \\"b\\""; rel=preload, <b.xml>;rel="up sitemap"')).toEqual([
    `${home}b.xml`,
  ]);
  expect(inHeader("<c.xml>; REL=Sitemap", "<d.xml>; rel=other; rel=sitemap")).toEqual([`${home}c.xml`]);
});

test("a Link header that is not well-formed gives what stands before the fault", () => {
  expect(inHeader('<a.xml>; rel=sitemap, <b.xml; rel="sitemap')).toEqual([`${home}a.xml`]);
  expect(inHeader('garbage; "<>')).toEqual([]);
});
