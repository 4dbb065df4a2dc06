// The option `rewrite`: URLs below one prefix mean those below another, as on a local server whose sitemaps name production.
import { invalid, unexpected, urlText } from "./option-checks.ts";
import type { SitemapPage } from "./page.ts";
import { isHttpUrl } from "./url.ts";

/** Pairs of prefixes, without a slash at their end: what is below the first means what is below the second. */
export type Rewrite = readonly (readonly [from: string, to: string])[];

/** The check of the option. */
export function rewrite(name: string, value: unknown): Rewrite {
  if (!Array.isArray(value)) throw unexpected(name, "a list of pairs of URLs", value);
  return value.map((pair: unknown) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw unexpected(name, "a list of pairs of URLs", pair);
    const [from = "", to = ""] = pair.map(urlText).map((url) => {
      if (typeof url === "string" && isHttpUrl(url)) return url.replace(/\/+$/, "");
      throw invalid(
        `Expected \`${name}\` to have pairs of http or https URLs: the declared prefix and its replacement`,
      );
    });
    return [from, to];
  });
}

/** Whether a URL is the prefix, or below it. */
export function isBelow(url: string, prefix: string): boolean {
  return url.startsWith(prefix) && (url.length === prefix.length || /[/?#]/.test(url.charAt(prefix.length)));
}

/** The URL after the first pair that it is below. */
export function rewritten(url: string, pairs: Rewrite): string {
  const pair = pairs.find(([from]) => isBelow(url, from));
  return pair === undefined ? url : pair[1] + url.slice(pair[0].length);
}

/** Pages with their own URLs and those of their alternates rewritten. Images and videos stay where they are. */
export function rewrittenPages(pages: readonly SitemapPage[], pairs: Rewrite): SitemapPage[] {
  return pages.map((page) => {
    const alternates = page.alternates?.map((each) => ({ ...each, url: rewritten(each.url, pairs) }));
    return { ...page, url: rewritten(page.url, pairs), ...(alternates && { alternates }) };
  });
}
