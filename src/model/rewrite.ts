// The option `rewrite`: replaces one URL prefix with another, as for a local server whose sitemaps contain production URLs.
import { invalid, unexpected, urlText } from "./option-checks.ts";
import type { SitemapPage } from "./page.ts";
import { itemTypes, listFields, pageFields } from "./page-fields.ts";
import type { PageList } from "./page-list.ts";
import { isHttpUrl, parseUrl } from "./url.ts";

/** Pairs of URL prefixes, with normalized origins and without a trailing slash. The first of each pair is replaced with the second. */
export type Rewrite = readonly (readonly [from: string, to: string])[];

/** Checks the option. */
export function rewrite(name: string, value: unknown): Rewrite {
  if (!Array.isArray(value)) throw unexpected(name, "a list of pairs of URLs", value);
  return value.map((pair: unknown) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw unexpected(name, "a list of pairs of URLs", pair);
    const [from = "", to = ""] = pair.map(urlText).map((url) => {
      if (typeof url === "string" && isHttpUrl(url)) return url;
      throw invalid(
        `Expected \`${name}\` to have pairs of http or https URLs: the declared prefix and its replacement`,
      );
    });
    return [withoutSlash(withNormalOrigin(from)), withoutSlash((parseUrl(to) as URL).href)];
  });
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

// Normalizes what comes before the path: case, a default port and user names make no difference. The path stays as written.
function withNormalOrigin(url: string): string {
  const [start = ""] = /^https?:[\\/]*[^\\/?#]*/i.exec(url) ?? [];
  return (parseUrl(start)?.origin ?? start) + url.slice(start.length);
}

/** Whether a URL equals the prefix or is under it. */
export function isBelow(url: string, prefix: string): boolean {
  const normal = withNormalOrigin(url);
  return normal.startsWith(prefix) && /^(?:$|[\\/?#])/.test(normal.slice(prefix.length));
}

/** Rewrites a URL by the first pair that matches. */
export function rewritten(url: string, pairs: Rewrite): string {
  const pair = pairs.find(([from]) => isBelow(url, from));
  return pair === undefined ? url : pair[1] + withNormalOrigin(url).slice(pair[0].length);
}

/** Like `rewritten`, but a URL that is already under the second prefix of a pair stays unchanged. */
export function rewriteUnlessTarget(url: string, pairs: Rewrite): string {
  return pairs.some(([, to]) => isBelow(url, to)) ? url : rewritten(url, pairs);
}

/** Rewrites the URLs of pages and of their alternates. URLs of images and videos stay. */
export function rewrittenPages(pages: PageList, pairs: Rewrite): SitemapPage[] {
  return pages.map((page) => {
    const renamed: Record<string, unknown> & { url: string } = { ...page, url: rewritten(page.url, pairs) };
    for (const [list, field] of pageUrls) {
      const items = page[list] as readonly Readonly<Record<string, string>>[] | undefined;
      if (items !== undefined)
        renamed[list] = items.map((each) => ({ ...each, [field]: rewritten(each[field]!, pairs) }));
    }
    if (renamed.url !== page.url) originals.set(renamed, page.url);
    return renamed;
  });
}

// The lists that contain URLs of pages, each with the field that has the URL.
const pageUrls = listFields.flatMap((list) =>
  Object.entries(itemTypes(pageFields[list].type) ?? {}).flatMap(([field, type]) =>
    type === "page" ? [[list, field] as const] : [],
  ),
);

const originals = new WeakMap<SitemapPage, string>();

/** The URL of a page before it was rewritten. */
export function originalUrl(page: SitemapPage): string {
  return originals.get(page) ?? page.url;
}
