// The sitemaps that the HTML of a homepage names: `<link rel="sitemap" href="…">`
// (https://html.spec.whatwg.org/multipage/links.html#linkTypes).
import { type HeaderList, header } from "../model/exchange.ts";
import { resolveUrl } from "../model/url.ts";
import { type HomepageLinks, isSitemap } from "./homepage-links.ts";
import { HtmlTags } from "./html-tags.ts";

const longestUrl = 8192;

/** Whether the response is HTML, by its headers. */
export function looksLikeHtml(headers: HeaderList): boolean {
  return /html|^$/i.test(header(headers, "content-type") ?? "");
}

/** Reads HTML, and adds what it names to `links`. */
export function htmlLinks(url: string, links: HomepageLinks): HtmlTags {
  // The `href` of the first <base> that has one, as in browsers.
  let base: string | undefined;
  return new HtmlTags(new Set(["link", "base"]), (name, { href, rel = "", type = "" }) => {
    if (name === "base")
      base ??= href === undefined ? undefined : (resolveUrl(href.trim(), url, longestUrl).url ?? url);
    else if (isSitemap(rel, type)) links.add(href ?? "", base ?? url, "homepage-link");
  });
}
