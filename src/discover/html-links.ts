// The sitemaps that the HTML of a homepage names: `<link rel="sitemap" href="…">`
// (https://html.spec.whatwg.org/multipage/links.html#linkTypes).
import { type HeaderList, header } from "../model/exchange.ts";
import { resolveUrl } from "../model/url.ts";
import { type HomepageLinks, isFeed, isSitemap } from "./homepage-links.ts";
import { HtmlTags } from "./html-tags.ts";
import type { PlatformHints } from "./platforms.ts";

const longestUrl = 8192;

/** Whether the response is HTML, by its headers. */
export function looksLikeHtml(headers: HeaderList): boolean {
  return /html|^$/i.test(header(headers, "content-type") ?? "");
}

/** Reads HTML, adds what it names to `links`, and what it tells about its making to `hints`. With `useFeeds`, feeds are among the links. */
export function htmlLinks(
  url: string,
  links: HomepageLinks,
  { hints, useFeeds = false }: { readonly hints?: PlatformHints; readonly useFeeds?: boolean } = {},
): HtmlTags {
  // The `href` of the first <base> that has one, as in browsers.
  let base: string | undefined;
  return new HtmlTags(new Set(["link", "base", "meta", "script", "img"]), (name, attributes) => {
    const { href, rel = "", type = "" } = attributes;
    hints?.takeTag(name, attributes);
    if (name === "base")
      base ??= href === undefined ? undefined : (resolveUrl(href.trim(), url, longestUrl).url ?? url);
    else if (name === "link" && isSitemap(rel, type)) links.add(href ?? "", base ?? url, "homepage-link");
    // Comments are not pages.
    else if (name === "link" && useFeeds && isFeed(rel, type) && !/\/comments\/feed\b/.test(href ?? "")) {
      links.add(href ?? "", base ?? url, "feed");
    }
  });
}
