// Checks the arguments of a crawl when it is called: a homepage or given sitemaps, and the options. Options that affect the tree are saved
// in archives, and used to replay them. Archives are not trusted: these options are checked again, and cannot raise a limit.
import { homepageFor } from "../discover/candidates.ts";
import { SitemapError } from "../model/errors.ts";
import { withFixedLimits } from "../model/fixed-limits.ts";
import { expectObject, invalid as invalidOption, suggestion, urlText } from "../model/option-checks.ts";
import { checkOption, limitOptions, type OptionRow } from "../model/option-row.ts";
import {
  type ArchiveSettings,
  type Limits,
  type Options,
  type PageFilterSettings,
  resolveOptions,
  resolveStreamOptions,
  type Settings,
  type StreamOptions,
  type StreamSettings,
  shapingOptions,
} from "../model/options.ts";
import type { Rewrite } from "../model/rewrite.ts";
import { hasScheme, isHttpUrl, withAssumedScheme, withoutCredentials } from "../model/url.ts";

/** A website's homepage, or known sitemaps. Without a scheme, https is used, or http on this machine or if https does not answer. */
export type CrawlTarget =
  | string
  | URL
  | { readonly homepage: string | URL }
  | { readonly sitemaps: readonly (string | URL)[] };

/** Where to begin: at a homepage, or at given sitemaps. The URLs have no credentials. */
export interface Start {
  /** The URL of the root, which ends in a slash. */
  readonly homepage: string;
  readonly sitemaps?: readonly string[] | undefined;
}

interface CheckedTarget {
  readonly isHomepage: boolean;
  /** The homepage or the sitemaps, with their credentials. */
  readonly urls: readonly [string, ...string[]];
  /** Those that were given without a scheme, so https is only assumed. */
  readonly assumed: readonly string[];
}

/** Returns the URLs as strings. Throws a `SitemapError` (`invalid-homepage`) if the target is invalid. */
export function checkTarget(target: CrawlTarget): CheckedTarget {
  const given: unknown = urlText(target);
  const assumed: string[] = [];
  const homepageAt = (url: unknown) =>
    ({ isHomepage: true, urls: [httpUrl(url, "homepage", assumed)], assumed }) as const;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return homepageAt(given);
  const { homepage, sitemaps, ...more } = given as { homepage?: unknown; sitemaps?: unknown };
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) {
    const hint = suggestion(unknown, ["homepage", "sitemaps"]);
    throw invalid(`Unknown key \`${unknown.slice(0, 100)}\` in the website${hint}`);
  }
  if (sitemaps === undefined) return homepageAt(homepage);
  if (homepage !== undefined) throw invalid("Expected either a homepage or sitemaps, got both");
  if (!Array.isArray(sitemaps)) throw unexpected("sitemaps", "a list of URLs", sitemaps);
  const [first, ...others] = sitemaps.map((url) => httpUrl(url, "sitemap", assumed));
  if (first === undefined) throw invalid("Expected at least one sitemap URL");
  return { isHomepage: false, urls: [first, ...others], assumed };
}

// Adds the URL to `assumed` if its scheme is https only by default.
function httpUrl(value: unknown, what: string, assumed: string[]): string {
  const given = urlText(value);
  if (typeof given !== "string") throw unexpected(what, "an http or https URL", given);
  const text = given.trim();
  const url = looksLikeHost.test(text) ? withAssumedScheme(text) : text;
  if (!isHttpUrl(url)) throw unexpected(what, "an http or https URL", given);
  if (!hasScheme(text) && url.startsWith("https:")) assumed.push(url);
  return url;
}

// Matches `example.org`, `example.org:8080/path` and `localhost`, but not `a.xml`, which is more likely a file.
const looksLikeHost =
  /^(?![^/?#]+\.(?:xml|gz|txt|csv|json|html?|warc)$)(?:[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+\.?|localhost|\[[\da-f:.]+\])(?::\d{1,5})?(?:[/?#]\S*)?$/iu;

/** Removes the scheme from an https URL, so that http is used if https does not answer. Keeps it if the rest does not look like a host. */
export function withoutScheme(homepage: string): string {
  const name = homepage.replace(/^https:\/\//, "");
  return looksLikeHost.test(name) ? name : homepage;
}

function unexpected(what: string, expected: string, got: unknown): SitemapError {
  const kind = got === null ? "null" : typeof got;
  const shown =
    typeof got === "string" ? JSON.stringify(withoutCredentials(got)) : kind === "object" ? "an object" : String(got);
  return invalid(`Expected the ${what} to be ${expected}, got \`${shown}\` (${kind})`);
}

function invalid(message: string): SitemapError {
  return new SitemapError("invalid-homepage", message);
}

/** A crawl with checked arguments. */
export interface Prepared {
  readonly start: Start;
  readonly settings: Settings;
  /** Which pages are reported; absent unless `prepareStream` is used. */
  readonly filters?: PageFilterSettings | undefined;
  /** The start URLs with their credentials. */
  readonly startUrls: readonly string[];
  /** The start URLs that were given without a scheme, so https is only assumed. */
  readonly assumed: readonly string[];
  readonly target: CrawlTarget;
  readonly options: Options | undefined;
}

/** Checks the arguments for a stream of pages. */
export function prepareStream(target: CrawlTarget, options?: StreamOptions): Prepared {
  const prepared = prepare(target, options, resolveStreamOptions);
  return { ...prepared, filters: prepared.settings as StreamSettings };
}

/** Checks the arguments. Throws a `SitemapError` if they are wrong. */
export function prepare(
  target: CrawlTarget,
  options?: Options,
  resolve: (options?: Options) => Settings = resolveOptions,
): Prepared {
  const { isHomepage, urls: startUrls, assumed } = checkTarget(target);
  const settings = resolve(options);
  if (settings.save !== undefined && settings.resume !== undefined) {
    throw invalidOption("Expected either `save` or `resume`, got both: a resumed run continues its own archive");
  }
  const sitemaps = isHomepage ? undefined : startUrls.map(withoutCredentials);
  const homepage = homepageFor(startUrls[0], isHomepage && settings.path !== "ignore");
  const start = { homepage, sitemaps };
  return { start, settings, startUrls, assumed, target, options };
}

/** Returns the settings to save in an archive, ready for JSON. A limit of `Infinity` is omitted. */
export function archivedSettings(settings: Settings): Record<string, unknown> {
  return shapingValues(shapingOptions, settings as unknown as Record<string, unknown>);
}

function shapingValues(rows: readonly OptionRow[], values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    rows
      .filter(({ name, shapesTree }) => shapesTree !== false && values[name] !== Number.POSITIVE_INFINITY)
      .map(({ name, members }) => [
        name,
        members === undefined ? values[name] : shapingValues(members, values[name] as Record<string, unknown>),
      ]),
  );
}

/** Returns the options of a replay. Throws a `SitemapError` if the archive's settings are not valid. */
export function replayOptions(archived: Readonly<Record<string, unknown>>, reader: ArchiveSettings): Options {
  const fields = new Map(Object.entries(archived));
  const fixed = withFixedLimits(reader.limits);
  const options: Record<string, unknown> = { ...reader, limits: { ...smallerLimits(reader.limits, {}), ...fixed } };
  for (const row of shapingOptions) {
    const value = fields.get(row.name);
    if (value === undefined) continue;
    const checked =
      row.name === "limits" ? { ...smallerLimits(reader.limits, value), ...fixed } : checkOption(row, value);
    options[row.name] = row.name === "rewrite" ? [...reader.rewrite, ...(checked as Rewrite)] : checked;
  }
  return options as Options;
}

function smallerLimits(own: Limits, archived: unknown): Limits {
  expectObject("limits", archived);
  const given = new Map<string, unknown>(Object.entries(archived as object));
  const limits = limitOptions.map((row) => {
    const name = row.name as keyof Limits;
    const value = row.shapesTree === false ? undefined : given.get(name);
    if (value === undefined) return [name, own[name]];
    return [name, Math.min(own[name], checkOption(row, value, `limits.${name}`) as number)];
  });
  return Object.fromEntries(limits) as Limits;
}
