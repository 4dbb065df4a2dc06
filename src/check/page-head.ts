// What a page tells search engines: the robots and canonical tags and the alternate pages in its HTML and in its
// headers.
import { HtmlTags } from "../discover/html-tags.ts";
import { linkValues } from "../discover/link-header.ts";
import type { HeaderList } from "../model/exchange.ts";
import { parseUrl } from "../model/url.ts";

export interface PageHead {
  /** Which crawlers must not index it, in lower case; `robots` means all. */
  readonly noindex: ReadonlySet<string>;
  /** The URL that it names as canonical, absolute. */
  readonly canonical: string | undefined;
  /** By language, in lower case. */
  readonly alternates: ReadonlyMap<string, string>;
}

export function readPageHead(url: string, headers: HeaderList, html: string): PageHead {
  const noindex = new Set<string>();
  let base = url;
  let canonical: string | undefined;
  const alternates = new Map<string, string>();
  for (const [name, value] of headers) {
    if (name === "x-robots-tag") readRobotsTag(value, noindex);
    if (name !== "link") continue;
    for (const { target, relation } of linkValues(value))
      if (/\bcanonical\b/i.test(relation)) canonical ??= target.trim();
  }
  const tags = new HtmlTags(new Set(["meta", "link", "base"]), (name, { href = "", ...attributes }) => {
    if (name === "base") base = parseUrl(href, url)?.href ?? base;
    else if (name === "meta") {
      if (isNoindex(attributes["content"] ?? "")) noindex.add(attributes["name"]?.trim().toLowerCase() ?? "");
    } else {
      const rel = (attributes["rel"] ?? "").toLowerCase().split(/\s+/);
      const language = attributes["hreflang"]?.trim().toLowerCase();
      if (rel.includes("canonical") && href !== "") canonical ??= parseUrl(href.trim(), base)?.href;
      if (rel.includes("alternate") && language && alternates.size < mostAlternates) {
        alternates.set(language, parseUrl(href.trim(), base)?.href ?? href);
      }
    }
  });
  tags.write(html);
  tags.end(true);
  return { noindex, canonical: canonical && parseUrl(canonical, base)?.href, alternates };
}

// https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag#xrobotstag: `googlebot: noindex, nofollow`
function readRobotsTag(value: string, noindex: Set<string>): void {
  let agent = "robots";
  for (const part of value.split(",")) {
    const [, name, rest = ""] = /^\s*([\w-]+)\s*:(.*)$/s.exec(part) ?? [];
    const isScoped = name !== undefined && !/^(?:max-|unavailable_after)/i.test(name);
    if (isScoped) agent = name.toLowerCase();
    if (isNoindex(isScoped ? rest : part)) noindex.add(agent);
  }
}

function isNoindex(content: string): boolean {
  return content.split(",").some((word) => /^\s*(?:noindex|none)\s*$/i.test(word));
}

const mostAlternates = 1000;
