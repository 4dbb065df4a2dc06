// Reads what a page tells search engines in its HTML and headers: its robots and canonical tags, its alternate pages, and the date of its
// last change.

import { linkValues } from "../../discover/homepage-links.ts";
import { HtmlTags } from "../../discover/html-tags.ts";
import type { HeaderList } from "../../model/exchange.ts";
import { type Rewrite, rewriteUnlessTarget } from "../../model/rewrite.ts";
import { parseUrl } from "../../model/url.ts";
import { lineCounter } from "../line-counter.ts";

export interface PageHead {
  /** The crawlers that must not index the page, in lower case, each with the line of its tag (none for a header). `robots` means all. */
  readonly noindex: ReadonlyMap<string, number | undefined>;
  /** The canonical URL that the page names, absolute. The option `rewrite` has been applied to all URLs here. */
  readonly canonical: string | undefined;
  /** The absolute URL that a meta refresh, or a script that only redirects, leads to. */
  readonly refresh: string | undefined;
  /** The URLs of alternate pages. The key is the language in lower case. */
  readonly alternates: ReadonlyMap<string, string>;
  /** When the page says that its content changed: the newest of `article:modified_time` and `dateModified` in JSON-LD. */
  readonly modified: string | undefined;
  /** The line of the tag for each of these values. */
  readonly lines: Partial<Record<"canonical" | "refresh" | "alternates", number>>;
}

export function readPageHead(url: string, headers: HeaderList, html: string, rewrite: Rewrite = []): PageHead {
  const noindex = new Map<string, number | undefined>();
  let base = url;
  let canonical: string | undefined;
  let refresh: string | undefined;
  const alternates = new Map<string, string>();
  const lines: PageHead["lines"] = {};
  const resolved = (text: string) => {
    const { href } = parseUrl(text.trim(), base) ?? {};
    return href && rewriteUnlessTarget(href, rewrite);
  };
  for (const [name, value] of headers) {
    if (name === "x-robots-tag") readRobotsTag(value, noindex);
    if (name !== "link") continue;
    for (const { target, relation } of linkValues(value))
      if (/\bcanonical\b/i.test(relation)) canonical ??= resolved(target);
  }
  let modified: string | undefined;
  const dated = (date: unknown) => {
    // A date without a time zone may mean the day before or after; comparisons allow for that.
    if (typeof date === "string" && date.length < 64 && !(Date.parse(date) <= Date.parse(modified ?? "")))
      modified = Number.isNaN(Date.parse(date)) ? modified : date.trim();
  };
  // Search engines ignore canonical and alternate links in the body, but not robots tags.
  let isBody = false;
  const lineAt = lineCounter(html);
  const tags = new HtmlTags(readTags, (name, { href = "", ...attributes }, at) => {
    const { content = "", rel = "" } = attributes;
    const line = () => lineAt(at);
    const found = (what: keyof PageHead["lines"]) => {
      lines[what] ??= line();
    };
    if (name === "script") {
      if (/^\s*application\/ld\+json\b/i.test(attributes["type"] ?? ""))
        for (const date of datesIn(html, at)) dated(date);
    } else if (name === "body") isBody = true;
    else if (name === "base") base = parseUrl(href, url)?.href ?? base;
    else if (name === "meta") {
      const [, target] = /^\s*[\d.]*\s*[;,]\s*url\s*=\s*["']?([^"']*)/i.exec(content) ?? [];
      if (/^refresh$/i.test(attributes["http-equiv"]?.trim() ?? "") && target !== undefined) {
        refresh ??= resolved(target);
        found("refresh");
      } else if (/^article:modified_time$/i.test((attributes["property"] ?? attributes["name"] ?? "").trim())) {
        dated(content);
      } else if (isNoindex(content)) {
        const agent = attributes["name"]?.trim().toLowerCase() ?? "";
        noindex.set(agent, noindex.get(agent) ?? line());
      }
    } else if (!isBody) {
      const relations = rel.toLowerCase().split(/\s+/);
      const language = attributes["hreflang"]?.trim().toLowerCase();
      if (relations.includes("canonical") && href !== "") {
        canonical ??= resolved(href);
        found("canonical");
      }
      if (relations.includes("alternate") && language && alternates.size < mostAlternates) {
        alternates.set(language, resolved(href) ?? href);
        found("alternates");
      }
    }
  });
  tags.write(html);
  tags.end(true);
  if (refresh === undefined) {
    const [at = 0, target] = scriptRedirect(html) ?? [];
    if (target !== undefined) {
      refresh = resolved(target);
      lines.refresh = lineCounter(html)(at);
    }
  }
  return { noindex, canonical, refresh, alternates, modified, lines };
}

const readTags: ReadonlySet<string> = new Set(["meta", "link", "base", "script", "body"]);

// Returns `dateModified` of the objects in a script with JSON-LD, and in their `@graph`, but not of objects inside these, such as comments.
function datesIn(html: string, at: number): unknown[] {
  const start = html.indexOf(">", at) + 1;
  const length = html.slice(start, start + longestData).search(/<\/script/i);
  try {
    const data: unknown = JSON.parse(html.slice(start, start + length));
    const objects = [data].flat().flatMap((each) => [each, (Object(each) as Record<string, unknown>)["@graph"]].flat());
    return objects.slice(0, mostObjects).map((each) => (Object(each) as Record<string, unknown>)["dateModified"]);
  } catch {
    return [];
  }
}

const longestData = 256 * 1024;
const mostObjects = 100;

// Reads a header such as `googlebot: noindex, nofollow`:
// https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag#xrobotstag
function readRobotsTag(value: string, noindex: Map<string, number | undefined>): void {
  let agent = "robots";
  for (const part of value.split(",")) {
    const [, name, rest = ""] = /^\s*([\w-]+)\s*:(.*)$/s.exec(part) ?? [];
    const isScoped = name !== undefined && !/^(?:max-|unavailable_after)/i.test(name);
    if (isScoped) agent = name.toLowerCase();
    if (isNoindex(isScoped ? rest : part)) noindex.set(agent, undefined);
  }
}

function isNoindex(content: string): boolean {
  return content.split(",").some((word) => /^\s*(?:noindex|none)\s*$/i.test(word));
}

// Finds a script that does nothing but redirect, such as `location.href = "/new" + location.search`, in a small page. A script with more
// code may redirect only some visitors.
function scriptRedirect(html: string): readonly [at: number, target: string] | undefined {
  if (html.length > largestStub) return undefined;
  for (const { 1: code = "", index } of html.matchAll(/<script(?:\s[^>]*)?>([^<]{1,1000})<\/script/gi)) {
    const [, assigned, called] = redirectingCode.exec(code.trim()) ?? [];
    const target = assigned ?? called;
    if (target !== undefined) return [index, target];
  }
  return undefined;
}

const largestStub = 5000;
const redirectingCode =
  /^(?:(?:window|document|self|top)\.)?location(?:(?:\.href)?\s*=\s*["'`]([^"'`$]+)["'`]|\.(?:replace|assign)\(\s*["'`]([^"'`$]+)["'`])(?:\s*\+\s*[\w.]+)*\s*\)?;?$/;

const mostAlternates = 1000;
