// What a crawl is asked for: a website's homepage, or sitemaps that are known already. Checked at the call.
import { SitemapError } from "../model/errors.ts";
import { readable, suggestion, urlText } from "../model/option-checks.ts";
import { isHttpUrl, withoutCredentials } from "../model/url.ts";

/** A website's homepage, or sitemaps that are known already. */
export type CrawlTarget =
  | string
  | URL
  | { readonly homepage: string | URL }
  | { readonly sitemaps: readonly (string | URL)[] };

/** Where to begin: a homepage to discover from, or sitemaps that are given. URLs without credentials. */
export interface Start {
  /** Ends in a slash; the URL of the root. */
  readonly homepage: string;
  readonly sitemaps?: readonly string[] | undefined;
}

/** The URLs as strings. Throws a `SitemapError` (`invalid-homepage`). */
export function checkTarget(target: CrawlTarget): CheckedTarget {
  return readable("target", () => checked(urlText(target)));
}

type CheckedTarget = { homepage: string } | { sitemaps: readonly [string, ...string[]] };

function checked(given: unknown): CheckedTarget {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { homepage: httpUrl(given, "homepage") };
  const { homepage, sitemaps, ...more } = given as { homepage?: unknown; sitemaps?: unknown };
  const isHomepage = sitemaps === undefined && (homepage !== undefined || !("sitemaps" in given));
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) {
    throw invalid(
      `Unknown name \`${unknown.slice(0, 100)}\` beside the homepage or the sitemaps${suggestion(unknown, ["homepage", "sitemaps"])}`,
    );
  }
  if (isHomepage) return { homepage: httpUrl(homepage, "homepage") };
  if (homepage !== undefined) throw invalid("Expected either a homepage or sitemaps, got both");
  if (!Array.isArray(sitemaps)) throw unexpected("sitemaps", "a list of URLs", sitemaps);
  const [first, ...others] = sitemaps.map((url) => httpUrl(url, "sitemap"));
  if (first === undefined) throw invalid("Expected at least one sitemap URL");
  return { sitemaps: [first, ...others] };
}

function httpUrl(value: unknown, what: string): string {
  const url = urlText(value);
  if (typeof url === "string" && isHttpUrl(url.trim())) return url.trim();
  throw unexpected(what, "an http or https URL", url);
}

function unexpected(what: string, expected: string, got: unknown): SitemapError {
  const isObject = typeof got === "object" && got !== null;
  const shown =
    typeof got === "string" ? JSON.stringify(withoutCredentials(got)) : isObject ? "an object" : String(got);
  return invalid(`Expected the ${what} to be ${expected}, got \`${shown}\` (${got === null ? "null" : typeof got})`);
}

function invalid(message: string): SitemapError {
  return new SitemapError("invalid-homepage", message);
}
