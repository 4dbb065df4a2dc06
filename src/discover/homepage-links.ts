// Finds the sitemaps that a homepage links to: in `Link` headers, and in its HTML by `<link rel="sitemap" href="…">`
// (https://html.spec.whatwg.org/multipage/links.html#linkTypes). Lists each once, up to a limit, and reports links that it cannot use.
import type { HeaderList } from "../model/exchange.ts";
import type { ProblemLog } from "../model/problem.ts";
import { resolveUrl } from "../model/url.ts";
import type { Candidate } from "./candidates.ts";
import { type Attributes, HtmlTags, longestTag } from "./html-tags.ts";
import type { PlatformHints } from "./platforms.ts";

// Hardly any homepage has more links to sitemaps.
const mostLinks = 100;
const longestUrl = 8192;

export class HomepageLinks {
  readonly #url: string;
  readonly #problems: ProblemLog;
  readonly #found = new Map<string, Candidate>();

  /** `url` is the URL of the homepage. */
  constructor(url: string, problems: ProblemLog) {
    this.#url = url;
    this.#problems = problems;
  }

  /** The candidates, in the order of their first links. */
  get candidates(): Candidate[] {
    return [...this.#found.values()];
  }

  addHeaders(headers: HeaderList): void {
    for (const [name, value] of headers) {
      if (name !== "link") continue;
      for (const { target, relation, type } of linkValues(value)) {
        if (isSitemap(relation, type)) this.#add(target, type, this.#url, "homepage-header");
      }
    }
  }

  /** Returns a reader for HTML, which adds its sitemap links and, with `useFeeds`, its feeds. `hints` collects signs of the CMS. */
  html(hints?: PlatformHints, useFeeds = false): HtmlTags {
    // The `href` of the first <base> that has one, as in browsers.
    let base: string | undefined;
    const onTag = (name: string, attributes: Attributes): void => {
      const { href, rel = "", type = "" } = attributes;
      hints?.addTag(name, attributes);
      if (name === "base" && href !== undefined)
        base ??= resolveUrl(href.trim(), this.#url, longestUrl).url ?? this.#url;
      if (name !== "link") return;
      if (isSitemap(rel, type)) this.#add(href ?? "", type, base ?? this.#url, "homepage-link");
      // A feed of comments lists no pages.
      else if (useFeeds && isFeed(rel, type) && !/\/comments\/feed\b/.test(href ?? ""))
        this.#add(href ?? "", type, base ?? this.#url, "homepage-link", true);
    };
    // Long tags often contain an icon as a `data:` URL, which is no loss.
    const onLongTag = (name: string, { rel, href = "", type = "" }: Attributes): void => {
      const mayMatter = name === "link" && !href.startsWith("data:");
      if (mayMatter && (rel === undefined || isSitemap(rel, type) || (useFeeds && isFeed(rel, type)))) {
        this.#problems.add("limit-xml-token", { value: "<link>", limit: longestTag });
      }
    };
    return new HtmlTags(new Set(["link", "base", "meta", "script", "img"]), onTag, onLongTag);
  }

  #add(target: string, type: string, base: string, by: Candidate["by"], isFeed = false): void {
    const value = target.trim();
    const { url, problem } = resolveUrl(value, base, longestUrl);
    if (problem === "limit-url-length") this.#problems.add(problem, { limit: longestUrl });
    else if (url === undefined) this.#problems.add("homepage-link-invalid", { value });
    else if (this.#found.has(url)) return;
    else if (this.#found.size >= mostLinks) this.#problems.add("homepage-too-many-links", { limit: mostLinks });
    else
      this.#found.set(url, { url, by, isFeed, isForPrograms: !isFeed && (dataType.test(type) || dataName.test(url)) });
  }
}

function isFeed(relations: string, type: string): boolean {
  if (!/^\s*application\/(?:rss\+xml|atom\+xml|feed\+json)\s*(?:;|$)/i.test(type)) return false;
  return /(?:^|\s)alternate(?:\s|$)/i.test(relations);
}

// Match the content types and the names of sitemaps for programs.
const dataType = /^\s*(?:application|text)\/(?:[\w.+-]*\bxml|plain)\s*(?:;|$)/i;
const dataName = /^[^?#]*\.(?:xml|txt)(?:\.gz)?(?:[?#]|$)/i;

// Links to HTML sitemaps are ignored, because those are for people.
function isSitemap(relations: string, type: string): boolean {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type)) return false;
  return /(?:^|[\t\n\f\r ])sitemap(?:[\t\n\f\r ]|$)/i.test(relations);
}

// Matches one parameter (`name`, `name=token` or `name="quoted"`) and any text up to the next one.
const parameter = /([^=;,]*)(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"?|([^;,]*)))?[^;,]*/sy;

/** Yields the links in a `Link` header, `<URL>; name=value; …, <URL>; …`: https://www.rfc-editor.org/rfc/rfc8288#section-3 */
export function* linkValues(value: string): Generator<{ target: string; relation: string; type: string }, void> {
  for (let at = 0; at < value.length; at += 1) {
    const open = value.indexOf("<", at);
    const close = value.indexOf(">", open + 1);
    if (open === -1 || close === -1) return;
    const parameters = new Map<string, string>();
    at = close + 1;
    while (at < value.length && value[at] !== ",") {
      parameter.lastIndex = at + 1;
      const [, written = "", quoted, token = ""] = parameter.exec(value) ?? [];
      const name = written.trim().toLowerCase();
      // "The rel parameter MUST NOT appear more than once", so the first one counts.
      if (!parameters.has(name)) parameters.set(name, quoted?.replaceAll(/\\(.)/gs, "$1") ?? token.trim());
      at = parameter.lastIndex;
    }
    const [relation = "", type = ""] = [parameters.get("rel"), parameters.get("type")];
    yield { target: value.slice(open + 1, close), relation, type };
  }
}
