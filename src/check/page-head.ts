// What a page tells search engines: the robots and canonical tags and the alternate pages in its HTML and in its
// headers.

import { linkValues } from "../discover/homepage-links.ts";
import { HtmlTags } from "../discover/html-tags.ts";
import type { HeaderList } from "../model/exchange.ts";
import { placed, type Rewrite } from "../model/rewrite.ts";
import { parseUrl } from "../model/url.ts";

export interface PageHead {
  /** Which crawlers must not index it, in lower case; `robots` means all. */
  readonly noindex: ReadonlySet<string>;
  /** The URL that it names as canonical, absolute; like the others, after the option `rewrite`. */
  readonly canonical: string | undefined;
  /** Where a meta refresh leads, absolute. */
  readonly refresh: string | undefined;
  /** By language, in lower case. */
  readonly alternates: ReadonlyMap<string, string>;
  /** The lines of the tags that say so. */
  readonly lines: Partial<Record<"noindex" | "canonical" | "refresh" | "alternates", number>>;
}

export function readPageHead(url: string, headers: HeaderList, html: string, rewrite: Rewrite = []): PageHead {
  const noindex = new Set<string>();
  let base = url;
  let canonical: string | undefined;
  let refresh: string | undefined;
  const alternates = new Map<string, string>();
  const lines: PageHead["lines"] = {};
  const resolved = (text: string) => {
    const { href } = parseUrl(text.trim(), base) ?? {};
    return href && placed(href, rewrite);
  };
  for (const [name, value] of headers) {
    if (name === "x-robots-tag") readRobotsTag(value, noindex);
    if (name !== "link") continue;
    for (const { target, relation } of linkValues(value))
      if (/\bcanonical\b/i.test(relation)) canonical ??= target.trim();
  }
  const tags = new HtmlTags(new Set(["meta", "link", "base"]), (name, { href = "", ...attributes }, at) => {
    const { content = "", rel = "" } = attributes;
    const found = (what: keyof PageHead["lines"]) => {
      lines[what] ??= html.slice(0, at).split("\n").length;
    };
    if (name === "base") base = parseUrl(href, url)?.href ?? base;
    else if (name === "meta") {
      const [, target] = /^\s*[\d.]*\s*[;,]\s*url\s*=\s*["']?([^"']*)/i.exec(content) ?? [];
      if (/^refresh$/i.test(attributes["http-equiv"]?.trim() ?? "") && target !== undefined) {
        refresh ??= resolved(target);
        found("refresh");
      } else if (isNoindex(content)) {
        noindex.add(attributes["name"]?.trim().toLowerCase() ?? "");
        found("noindex");
      }
    } else {
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
  return { noindex, canonical: canonical && resolved(canonical), refresh, alternates, lines };
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
