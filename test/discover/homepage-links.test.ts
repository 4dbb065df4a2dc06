import { expect, test } from "vitest";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import { inEveryCut, inPieces } from "../support/cuts.ts";

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

const no = '<link rel="sitemap" href="/no.xml">';
const yes = "<link rel=sitemap href=yes.xml>";
const traps = `<!-- - -- ->${no}--><linker rel=sitemap href=/no.xml><script></scrip${no}</scripted>${no}</SCRIPT >`;

test.each<[string, string, string[]]>([
  ["a <link> with the relation sitemap", `<head><link rel=stylesheet href=x.css>${yes}`, ["yes.xml"]],
  ["any case, any order, other relations", "<LINK HREF=b.xml REL='alternate SiteMap' / >", ["b.xml"]],
  ["quotes and entities", '<link\n\trel = "sitemap"\n href = "/c.xml?a=1&amp;b=2" >', ["c.xml?a=1&b=2"]],
  ["a <base> changes the URLs after it", `<base href="/x/">${yes}`, ["x/yes.xml"]],
  ["the first <base> with a target", `<base target="_top"><base href="/x/"><base href="/y/">${yes}`, ["x/yes.xml"]],
  ["a first <base> that is not a URL", `<base href="https://["><base href="/y/">${yes}`, ["yes.xml"]],
  ["comments, scripts, styles", `<!-- ${no} --><script>'${no}';</script><style>${no}</style>${yes}`, ["yes.xml"]],
  ["a custom element is not the element that its name begins with", `<title-bar>${yes}</title-bar>`, ["yes.xml"]],
  ["templates", `<template>${no}</template>`, []],
  ["names that look like what they are not", `${traps}${yes}<!-`, ["yes.xml"]],
  ...["<!-- a -->", "<!-- a --!>", "<!-->", "<!--->", "<!----!>", "<!-- > -> --! --!>"].map(
    (comment): [string, string, string[]] => [`${comment} is whole`, `${comment}${yes}<!-- -->`, ["yes.xml"]],
  ),
  ["<!--!> and <!---!> begin a comment that goes on", `<!--!>${no}--><!---!>${no}-->`, []],
  ["no target, or another scheme", '<link rel="sitemap"><link rel="sitemap" href="javascript:x">', []],
  ["each target once", yes + yes, ["yes.xml"]],
  ["broken HTML", `<p title="<link rel=sitemap href=/q.xml>"><link rel="sitemap" href="/a.xml`, ["q.xml", "a.xml"]],
  ["nothing but tags that begin", "<".repeat(1000), []],
  ["a comment that never ends", "<!-- never closed", []],
])("%s", (_, html, expected) => {
  expect(inHtml(html)).toEqual(expected.map((path) => home + path));
});

test("a link to an HTML sitemap is ignored", () => {
  for (const type of ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"]) {
    expect(inHtml(`<link rel="sitemap" type="${type}" href="/sitemap.html">`)).toEqual([]);
    expect(inHeader(`</sitemap.html>; rel=sitemap; type="${type}", </a.xml>; rel=sitemap`)).toEqual([`${home}a.xml`]);
  }
});

test("a tag that is cut off is not used", () => {
  const html = '<link rel="sitemap" href="/a.xml"><link rel="sitemap" href="/sitemap-';
  expect(inEveryCut(html, (pieces) => read(pieces, true)).urls).toEqual([`${home}a.xml`]);
});

test("an unclosed tag is skipped, and the rest is read", () => {
  const html = `<link rel=sitemap href="${"x".repeat(70_000)}<link rel="sitemap" href="/a.xml">`;
  for (const size of [html.length, 65_535, 65_536, 1000]) {
    expect(read(inPieces(html, size)).urls).toEqual([`${home}a.xml`]);
  }
});

test("links that are not used are reported: more than a hundred, invalid URLs, overlong URLs", () => {
  const links = Array.from({ length: 103 }, (_, number) => `<link rel="sitemap" href="/${number}.xml">`).join("");
  const hundred = read([links, links]);
  expect(hundred.urls).toHaveLength(100);
  expect(hundred.problems).toMatchObject([{ code: "homepage-too-many-links", limit: 100, count: 6 }]);
  const unused = ["ftp://x/y", "", `/${"x".repeat(9000)}`].map(
    (href) => `<link rel=sitemap${href && ` href="${href}"`}>`,
  );
  expect(read(unused).problems).toMatchObject([
    { code: "homepage-link-invalid", value: "ftp://x/y", count: 2 },
    { code: "limit-url-length", limit: 8192 },
  ]);
});

test("spec: RFC 8288, a Link header has targets with parameters, separated by commas", () => {
  expect(inHeader('</a.xml>; rel="sitemap"')).toEqual([`${home}a.xml`]);
  expect(inHeader('<https://x.example/,;y>; title="a, \\"b\\""; rel=preload, <b.xml>;rel="up sitemap"')).toEqual([
    `${home}b.xml`,
  ]);
  expect(inHeader("<c.xml>; REL=Sitemap", "<d.xml>; rel=other; rel=sitemap")).toEqual([`${home}c.xml`]);
});

test("the links before an error in a Link header are used", () => {
  expect(inHeader('<a.xml>; rel=sitemap, <b.xml; rel="sitemap')).toEqual([`${home}a.xml`]);
  expect(inHeader('garbage; "<>')).toEqual([]);
});

test("an overlong <link> tag is a loss, unless it cannot name a sitemap", () => {
  const long = "x".repeat(70_000);
  const codes = (tag: string) => read([`${tag}${yes}`]).problems.map(({ code }) => code);
  for (const tag of [
    `<link rel="sitemap" title="${long}" href="/a.xml">`,
    `<link title="${long}" rel="sitemap" href="/a.xml">`,
    `<link href="/a.xml" title="${long}" rel="sitemap">`,
  ]) {
    expect(codes(tag)).toEqual(["limit-xml-token"]);
  }
  for (const tag of [
    `<link rel="icon" href="data:image/png;base64,${long}">`,
    `<link href="data:image/png;base64,${long}" rel="icon">`,
    `<link rel="stylesheet" title="${long}">`,
    `<img alt="${long}">`,
  ]) {
    expect(read([`${tag}${yes}`])).toEqual({ urls: [`${home}yes.xml`], problems: [] });
  }
});
