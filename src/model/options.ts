// The options of a crawl as callers pass them, and the settings that they become when they are checked.
// The comments are the documentation: `npm run tables` writes them into docs/options.md. Defaults, checks and flags are in option-table.ts.
import type { Client } from "./client.ts";
import type { CrawlEvent } from "./event.ts";
import type { FixedLimits } from "./fixed-limits.ts";
import { invalid, optionsIn } from "./option-checks.ts";
import { type OptionRow, resolve, resolveAll } from "./option-row.ts";
import { optionSections, pageOptions } from "./option-table.ts";
import type { Pattern } from "./pattern.ts";
import type { Problem } from "./problem.ts";
import type { Rewrite } from "./rewrite.ts";
import type { SitemapReference } from "./sitemap.ts";

export { version } from "./version.ts";

/** Options of `sitemapTreeForHomepage`, `streamPages` and `crawl`. Times are milliseconds, sizes bytes. */
export interface Options {
  /** Read robots.txt. @default true */
  useRobots?: boolean | undefined;
  /** Whether to try the well-known paths. `"if-needed"` skips them if robots.txt lists a readable sitemap. @default "always" */
  knownPaths?: "always" | "if-needed" | "never" | undefined;
  /** Read the homepage's `Link` header and its `<link rel="sitemap">`. @default true */
  useHomepage?: boolean | undefined;
  /** Also try these paths, relative to the homepage. @default [] @example ["sitemaps/all.xml"] */
  extraKnownPaths?: readonly string[] | undefined;
  /**
   * Also read feeds: those in the homepage's `<link rel="alternate">` (a missing one is a loss), and any at common paths such as `feed`
   * and `feed.json`.
   * @default false
   */
  useFeeds?: boolean | undefined;
  /** Also read llms.txt: the pages it links to, with their title and section. @default false */
  useLlms?: boolean | undefined;
  /**
   * Where to look for the sitemaps of a website at `/docs/`. `"ignore"`: at the host's root. `"keep"`: under that path first, then at the
   * root. `"only"`: only under that path.
   * @default "ignore"
   */
  path?: "ignore" | "keep" | "only" | undefined;
  /**
   * Stop if robots.txt cannot be reached, as RFC 9309 requires of crawlers. By default discovery continues, and the tree is incomplete.
   * @default false
   */
  strictRobots?: boolean | undefined;
  /**
   * Replaces URL prefixes, given as pairs `[from, to]`, in the URLs of pages and alternates. The first matching pair is used.
   * If the crawl starts at `to`, sitemap URLs are rewritten, too.
   * @default []
   * @example [["https://example.org/", "http://localhost:3000/"]]
   */
  rewrite?: readonly (readonly [from: string | URL, to: string | URL])[] | undefined;
  /**
   * For a copy of a website, such as a preview: URLs on the original's host are rewritten to the address that you give, both to read
   * sitemaps and to list pages.
   * @default false
   */
  here?: boolean | undefined;
  /** Whether to follow a child of an index. @example (child) => !child.url.includes("archive") */
  recurse?: ((child: SitemapReference, context: RecurseContext) => boolean | Promise<boolean>) | undefined;
  /** Which children of an index to follow, and in which order. Called before `recurse`. */
  recurseList?:
    | ((
        children: readonly SitemapReference[],
        context: RecurseContext,
      ) => readonly SitemapReference[] | Promise<readonly SitemapReference[]>)
    | undefined;
  /** Stop reading an XML document at the first error. Entries before it are kept. @default false */
  strict?: boolean | undefined;
  /**
   * Maximum number of parallel requests. A number is the limit per host; the total is then four times as many.
   * @default { perHost: 4, total: 16 }
   */
  concurrency?: number | { perHost?: number | undefined; total?: number | undefined } | undefined;
  /**
   * Pause between requests to one host. `random` multiplies each pause by a random factor from 0.5 to 1.5.
   * @default { milliseconds: 0, random: false }
   * @example { milliseconds: 1000, random: true }
   */
  delay?: number | { milliseconds?: number | undefined; random?: boolean | undefined } | undefined;
  /** Respect the `Crawl-delay` in robots.txt if it is longer than `delay`, up to 60 seconds. @default false */
  useCrawlDelay?: boolean | undefined;
  /** Retries after temporary failures. A host that has never responded gets one in total. @default 3 */
  retries?: number | undefined;
  /**
   * Decides, instead of `retries`, whether to retry a request whose nth attempt failed. A number is the time to wait first, in
   * milliseconds.
   * @example (failure, attempt) => failure.status === 502 && attempt < 5 && 2000
   */
  retry?: ((failure: Problem, attempt: number) => boolean | number) | undefined;
  /** Maximum times to wait for a website. A number sets `total`. */
  timeout?: number | Given<Timeouts> | undefined;
  /**
   * Which addresses may be connected to. `default`: private ones only if you start there, never because a website refers to them.
   * `allow-private`: any. `public-only`: only public ones, even for the start URL.
   * @default "default"
   */
  network?: NetworkPolicy | undefined;
  /**
   * Request headers, sent only to the homepage's origin: an object, `Headers` or a `Map`.
   * @default {}
   * @example { authorization: "Bearer …" }
   */
  headers?: Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]> | undefined;
  /** User-Agent header to send. @default "sitegrove/<version> (+https://www.npmjs.com/package/sitegrove)" */
  userAgent?: string | undefined;
  /**
   * HTTP proxy, as a URL or `host:port`. `"environment"`: from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. `false`:
   * none. A function is called with each URL; undefined means none. The proxy resolves host names, so the address policy sees only host
   * names and literal addresses.
   * @default "environment"
   */
  proxy?: string | URL | false | ((url: string) => string | undefined) | undefined;
  /**
   * `verify: false` accepts any certificate; `ca` adds PEM certificates to those trusted by Node.js.
   * @default { verify: true, ca: [] }
   */
  tls?: { verify?: boolean | undefined; ca?: string | readonly string[] | undefined } | undefined;
  /** Your own HTTP client. The address policy then sees only URLs; DNS, `proxy` and `tls` are up to the client. */
  client?: Client | undefined;
  /** Limits and budgets. `0` means zero; `Infinity` means no limit. */
  limits?: Given<Limits> | undefined;
  /**
   * Where documents are kept until the tree is closed: in `memory`, in a private temporary `file`, or `auto`: in memory for small websites.
   * @default "auto"
   */
  store?: StoreKind | undefined;
  /** Save all responses to this archive, compressed if its name ends in `.gz`. It must not exist. */
  save?: string | undefined;
  /** Archives of earlier runs, to reuse unchanged documents. The pages are the same as without it. */
  previous?: string | readonly string[] | undefined;
  /** Continue an interrupted run from its archive: fetch what is missing, and append it. */
  resume?: string | undefined;
  /** Aborts the run: the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with each event of `crawl()`. */
  onEvent?: ((event: CrawlEvent) => void) | undefined;
  /**
   * The order of pages in `streamPages` and `crawl`: as declared, or by `arrival`, so that a slow sitemap does not delay others. The pages and
   * `complete` are the same, but `unique` may keep another copy of a page, and a limit may cut off other pages. Sitemaps found by the homepage or
   * at well-known paths still come last. With `sample`, there is no difference.
   * @default "declared"
   */
  order?: "declared" | "arrival" | undefined;
  /**
   * What `streamPages` does if the website cannot be reached or refuses everything: `throw` a `SitemapError`
   * (`unreachable`), or `end`.
   * @default "throw"
   */
  onUnreachable?: "throw" | "end" | undefined;
}

/** How long to wait, in milliseconds. */
export interface Timeouts {
  /** To connect, including TLS and a proxy's response. DNS lookups have another 10 seconds. @default 10_000 */
  readonly connect: number;
  /** From the request to the end of the response headers. @default 30_000 */
  readonly firstByte: number;
  /** Between two chunks of the body. @default 15_000 */
  readonly idle: number;
  /** For one attempt to fetch a document. @default 120_000 */
  readonly total: number;
}

/** Limits for each document, and for a whole website (budgets). `0` means zero; `Infinity` means no limit. */
export interface Limits {
  /** Pages per website. @default Infinity */
  readonly pages: number;
  /** Sitemaps per website, including repeated and refused ones. @default 50_000 */
  readonly sitemaps: number;
  /** Nesting depth of sitemap indexes. @default 11 */
  readonly depth: number;
  /** Bytes transferred per website. @default Infinity */
  readonly bytes: number;
  /** Maximum size of a document, both transferred and decoded. @default 104_857_600 */
  readonly documentBytes: number;
  /** Time per website, in milliseconds. @default Infinity */
  readonly time: number;
}

/** The limits that users set, and the fixed ones. */
export interface AllLimits extends Limits, FixedLimits {}

/** Which pages are listed: options of `streamPages`, `crawl` and `tree.pages()`. */
export interface PageFilters {
  /** Only pages whose URL matches one of these patterns. @default [] @example ["https://example.org/blog/*", /news/i] */
  include?: Pattern | readonly Pattern[] | undefined;
  /** Skip pages whose URL matches one of these patterns. @default [] */
  exclude?: Pattern | readonly Pattern[] | undefined;
  /**
   * Only pages modified since a date, or within a period such as `36h`, `7d` or `2w`. Without `lastModified`, the date of the news story
   * or feed item is used.
   * @example "7d"
   */
  since?: string | Date | undefined;
  /** With `since`: whether to keep or drop pages without a date. @default "drop" */
  undated?: "drop" | "keep" | undefined;
  /**
   * `"host"`: only pages on the homepage's host, with or without `www.`. `"site"`: only those on its registrable domain (by the Public
   * Suffix List): for `www.example.co.uk`, also `shop.example.co.uk`.
   * @default "any"
   */
  scope?: "any" | "site" | "host" | undefined;
  /**
   * Only pages that this crawler may fetch according to the robots.txt of their host. As in RFC 9309, a missing robots.txt (4xx) allows
   * everything, an unreachable one nothing.
   * @example "Googlebot"
   */
  allowedFor?: string | undefined;
  /** List each URL once, even if several sitemaps contain it. @default false */
  unique?: boolean | undefined;
  /** Stop after this many pages. @default Infinity */
  limit?: number | undefined;
  /**
   * List only this many pages, once all sitemaps are read. They are spread over sitemaps and sections by the square root of their size, with
   * at least one page of each if possible, and are the same each time. Applied after the other filters.
   * @default Infinity
   */
  sample?: number | undefined;
  /** With `sample`: random seed, to select other pages. @default 0 */
  seed?: number | undefined;
  /**
   * Only read child sitemaps that match. Sitemaps found by discovery are always read, since they may be indexes, but their pages are
   * listed only if the sitemap matches.
   * @default []
   */
  includeSitemap?: Pattern | readonly Pattern[] | undefined;
  /** Skip sitemaps that match. @default [] */
  excludeSitemap?: Pattern | readonly Pattern[] | undefined;
}

type Checked<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };
/** Some of the fields. Undefined means the default. */
type Given<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

/** Settings whose type differs from that of the option, or that have no default. */
interface OtherSettings extends Pick<Options, "recurse" | "recurseList" | "client" | "signal" | "onEvent"> {
  // If `retry` returns undefined, `retries` decides.
  readonly retry: ((failure: Problem, attempt: number) => boolean | number | undefined) | undefined;
  readonly rewrite: Rewrite;
  readonly concurrency: { readonly perHost: number; readonly total: number };
  readonly delay: { readonly milliseconds: number; readonly random: boolean };
  readonly timeout: Timeouts;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: string | false | ((url: string) => string | undefined);
  readonly tls: { readonly verify: boolean; readonly ca: readonly string[] };
  readonly limits: AllLimits;
  readonly save: string | undefined;
  readonly previous: readonly string[] | undefined;
  readonly resume: string | undefined;
}

/** The options of a crawl after they were checked, with the defaults filled in. */
export interface Settings extends Omit<Checked<Options>, keyof OtherSettings>, OtherSettings {}

interface OtherFilterSettings
  extends Readonly<Record<"include" | "exclude" | "includeSitemap" | "excludeSitemap", readonly Pattern[]>> {
  readonly since: number | undefined;
  readonly allowedFor: string | undefined;
}

export interface PageFilterSettings
  extends Omit<Checked<PageFilters>, keyof OtherFilterSettings>,
    OtherFilterSettings {}

/** Which addresses may be connected to. */
export type NetworkPolicy = "default" | "allow-private" | "public-only";

/** Where documents are kept until the tree is closed. */
export type StoreKind = "auto" | "memory" | "file";

/** The position of the children passed to `recurse` and `recurseList`. */
export interface RecurseContext {
  /** The URL of the index that lists the children. */
  readonly parent: string;
  /** The URLs from the root to the parent. */
  readonly ancestors: readonly string[];
  /** The depth of the children; 1 for those of the root. */
  readonly depth: number;
}

const allRows = optionSections.flatMap(({ rows }) => rows);
const rows = allRows.filter((row) => !pageOptions.includes(row));

/** The options that archives save, because they affect the tree, with a few that must not be saved (`shapesTree: false`). */
export const shapingOptions: readonly OptionRow[] = optionSections.flatMap(({ shapesTree, rows }) =>
  shapesTree ? rows : [],
);

/** The names of the page filters. */
export const pageFilterNames: readonly string[] = pageOptions.map(({ name }) => name);

/** Options of `streamPages` and `crawl`. */
export interface StreamOptions extends Options, PageFilters {}
export interface StreamSettings extends Settings, PageFilterSettings {}

/** Options of `openTree`. */
export type ArchiveOptions = Pick<Options, "limits" | "rewrite" | "signal" | "onEvent">;
export type ArchiveSettings = Pick<Settings, "limits" | "rewrite" | "signal" | "onEvent">;

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveOptions(options?: Options): Settings {
  const isGiven = ({ name }: OptionRow) =>
    (options as StreamOptions | undefined)?.[name as keyof PageFilters] !== undefined;
  const filter = pageOptions.find(isGiven);
  if (filter)
    throw invalid(
      `\`${filter.name}\` is not an option of a tree; pass it to \`tree.pages()\`, \`streamPages\` or \`crawl\``,
    );
  return resolveAll(rows, options);
}

/**
 * Picks the options of a crawl from those of a function: all but the function's `own`. Throws for invalid values, and for names that are
 * unknown or that the function `refuses`. `isStream` also accepts page filters.
 */
export function crawlOptionsIn(
  options: object,
  own: readonly string[],
  refuses: readonly (keyof Options)[] = [],
  isStream = false,
): StreamOptions {
  const known = isStream ? allRows : rows;
  const isRefused = (name: string) =>
    refuses.includes(name as keyof Options) && (options as Options | null)?.[name as keyof Options] !== undefined;
  const names = known.map(({ name }) => name).filter((name) => !isRefused(name));
  const given = optionsIn("options", options, [...own, ...names]);
  const crawl = Object.fromEntries([...given].filter(([name]) => !own.includes(name)));
  resolveAll(known, crawl);
  return crawl;
}

/** Checks the options of a stream of pages, and fills in the defaults. */
export function resolveStreamOptions(options?: StreamOptions): StreamSettings {
  return resolveAll(allRows, options);
}

/** Checks the filters for pages of a tree or a document, and fills in the defaults. */
export function resolvePageFilters(filters?: PageFilters): PageFilterSettings {
  return resolve(pageOptions, filters);
}

/** Checks the options for opening an archive, and fills in the defaults. */
export function resolveArchiveOptions(options?: ArchiveOptions): ArchiveSettings {
  const names = ["limits", "rewrite", "signal", "onEvent"];
  const known = rows.filter(({ name }) => names.includes(name));
  return resolveAll(known, options);
}
