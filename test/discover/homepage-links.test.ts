import { expect, test } from "vitest";
import { linksInHeaders, linksInHtml } from "../../src/discover/homepage-links.ts";

const home = "https://example.org/";
const inHtml = (html: string) => linksInHtml(html, home).map(({ url }) => url);
const inHeader = (...values: string[]) =>
  linksInHeaders(
    values.map((value) => ["link", value] as const),
    home,
  ).map(({ url }) => url);

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

test("what stands in comments, scripts, styles and templates is no link", () => {
  const link = '<link rel="sitemap" href="/no.xml">';
  expect(
    inHtml(`<!-- ${link} --><script>var a = '${link}';</script><style>${link}</style><template>${link}</template>`),
  ).toEqual([]);
  expect(inHtml(`<script>${link}</script><link rel="sitemap" href="/yes.xml">`)).toEqual([`${home}yes.xml`]);
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
