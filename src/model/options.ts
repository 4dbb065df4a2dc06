// Every option: what a caller may give, and the settings that all other code uses. Options are checked once, at the call.
// The comments are the documentation: `npm run tables` writes them into docs/options.md. Defaults, checks and flags are in option-table.ts.
import type { Client } from "./client.ts";
import type { CrawlEvent } from "./event.ts";
import { boolean, invalid, number, optionsIn, readable } from "./option-checks.ts";
import { type OptionRow, optionSections, pageOptions, urlOption } from "./option-table.ts";
import type { Pattern } from "./pattern.ts";
import type { Rewrite } from "./rewrite.ts";
import type { SitemapReference } from "./sitemap.ts";

export { version } from "./version.ts";

/** Options of `sitemapTreeForHomepage`, `sitemapTreeFrom`, `streamPages` and `crawl`. Times are milliseconds, sizes bytes. */
export interface Options {
  /** Read robots.txt for the sitemaps that it names. @default true */
  useRobots?: boolean | undefined;
  /**
   * Try the well-known paths. `if-needed` skips them where robots.txt names a sitemap that can be read.
   * @default true
   */
  useKnownPaths?: boolean | "if-needed" | undefined;
  /** Read the homepage's `Link` header and its `<link rel="sitemap">`. @default true */
  useHomepage?: boolean | undefined;
  /**
   * Further paths to try after the well-known ones, relative to the homepage.
   * @default []
   * @example ["sitemaps/all.xml"]
   */
  extraKnownPaths?: readonly string[] | undefined;
  /**
   * Read feeds, too: those that the homepage names by `<link rel="alternate">`, and those at usual paths such as `feed`
   * and `feed.json`.
   * @default false
   */
  useFeeds?: boolean | undefined;
  /** Read llms.txt, too: the pages that it links to, with title and section. @default false */
  useLlms?: boolean | undefined;
  /**
   * Look for robots.txt and the well-known paths below the path of the homepage first, and then at the root of its
   * host. Otherwise the path is left out.
   * @default false
   */
  keepPath?: boolean | undefined;
  /** Look below the path of the homepage alone. @default false */
  onlyPath?: boolean | undefined;
  /**
   * Stop if robots.txt cannot be reached, as RFC 9309 asks of crawlers. Otherwise discovery goes on, and the tree is
   * not complete.
   * @default false
   */
  strictRobots?: boolean | undefined;
  /**
   * Pages and alternates below the first URL of a pair are listed below the second; the first pair that fits counts.
   * Where the crawl starts below the second, sitemaps below the first are fetched there, too.
   * @default []
   * @example [["https://example.org/", "http://localhost:3000/"]]
   */
  rewrite?: readonly (readonly [from: string | URL, to: string | URL])[] | undefined;
  /**
   * Whether to follow one child of an index. Called before anything is fetched. A child that is not followed is not in
   * the tree.
   * @example (child) => !child.url.includes("archive")
   */
  recurse?: ((child: SitemapReference, context: RecurseContext) => boolean) | undefined;
  /** Which children of an index to follow, and in which order. Called before `recurse`, with all of them. */
  recurseList?:
    | ((children: readonly SitemapReference[], context: RecurseContext) => readonly SitemapReference[])
    | undefined;
  /**
   * Stop reading an XML document at the first thing that is not well-formed. What came before is kept.
   * @default false
   */
  strict?: boolean | undefined;
  /**
   * How many documents are fetched at a time. A number is the limit for one host; in total, four times as many.
   * @default { perHost: 4, total: 16 }
   */
  concurrency?: number | { perHost?: number | undefined; total?: number | undefined } | undefined;
  /**
   * The pause between two requests to one host, in milliseconds. `random` draws each from half to one and a half times
   * of it.
   * @default { milliseconds: 0, random: false }
   * @example { milliseconds: 1000, random: true }
   */
  delay?: number | { milliseconds?: number | undefined; random?: boolean | undefined } | undefined;
  /** Respect the `Crawl-delay` of robots.txt where it is longer than `delay`, up to 60 seconds. @default false */
  useCrawlDelay?: boolean | undefined;
  /**
   * How often a request is retried after a temporary failure. A host that has never answered anything gets one retry in
   * all.
   * @default 3
   */
  retries?: number | undefined;
  /**
   * How long to wait, in milliseconds. A number is the limit for one attempt at a document, first to last byte
   * (`total`).
   */
  timeout?: number | Partial<Timeouts> | undefined;
  /**
   * Which addresses may be connected to. `default`: private addresses only where the caller named them, never where a
   * website does. `allow-private`: any. `public-only`: public ones only, even at the start.
   * @default "default"
   */
  network?: NetworkPolicy | undefined;
  /**
   * Headers for requests to the origin of the homepage, as an object, `Headers` or a `Map`. They are never sent
   * elsewhere.
   * @default {}
   * @example { authorization: "Bearer …" }
   */
  headers?: Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]> | undefined;
  /** The User-Agent header to send. @default "sitegrove/<version> (+https://www.npmjs.com/package/sitegrove)" */
  userAgent?: string | undefined;
  /**
   * The HTTP proxy to use, as a URL or `host:port`. `"environment"`: the one that `HTTP_PROXY` and `HTTPS_PROXY` name,
   * but not for hosts in `NO_PROXY`. `false`: none. The proxy resolves host names: the address policy then sees only
   * names and literal addresses.
   * @default "environment"
   */
  proxy?: string | URL | false | undefined;
  /**
   * `verify: false` accepts any certificate; `ca` are certificates to trust (PEM), besides those that Node.js trusts.
   * @default { verify: true, ca: [] }
   */
  tls?: { verify?: boolean | undefined; ca?: string | readonly string[] | undefined } | undefined;
  /**
   * What answers the requests, instead of the built-in client. The address policy then judges only the URL; name
   * resolution, `proxy` and `tls` are up to the client.
   */
  client?: Client | undefined;
  /** Limits and budgets. `0` means zero; `Infinity` means none. */
  limits?: Partial<Limits> | undefined;
  /**
   * Where documents are kept until the tree is closed: in `memory`, in a private temporary `file`, or `auto`: in memory
   * while the website is small.
   * @default "auto"
   */
  store?: StoreKind | undefined;
  /**
   * Save the documents to a WARC archive at this path, written during the crawl. `openTree` reads it. A name that ends
   * in `.gz` is compressed. The file must not exist.
   */
  save?: string | undefined;
  /**
   * Archives of earlier runs: documents that the website says are unchanged are taken from them. The tree is the same
   * as without.
   */
  previous?: string | readonly string[] | undefined;
  /**
   * With `previous`: do not ask for sitemaps whose `lastmod` in their index is the same as before, but for about a
   * seventh of them each day. They are marked as `notAsked` in the tree.
   * @default false
   */
  trustLastmod?: boolean | undefined;
  /**
   * Continue the archive at this path, whose run was killed, stopped or cut short: only what is missing is fetched, and
   * appended to it.
   */
  resume?: string | undefined;
  /** Stops the run: what was called rejects with the signal's reason, and leaves nothing behind. */
  signal?: AbortSignal | undefined;
  /** Called for everything that happens, with the events that `crawl()` yields. */
  onEvent?: ((event: CrawlEvent) => void) | undefined;
  /**
   * What `streamPages` does if the website cannot be reached, or refuses everything: `throw` a `SitemapError` with the
   * code `unreachable`, or `end` without a page.
   * @default "throw"
   */
  onUnreachable?: "throw" | "end" | undefined;
}

/** How long to wait, in milliseconds. */
export interface Timeouts {
  /** To connect, including a proxy's answer and TLS. Looking up the name has 10 seconds of its own. @default 10_000 */
  readonly connect: number;
  /** From the request to the first byte of the response. @default 30_000 */
  readonly firstByte: number;
  /** Between two chunks of the body. @default 15_000 */
  readonly idle: number;
  /** For one attempt at a document, first to last byte. @default 120_000 */
  readonly total: number;
}

/** Limits of one document, on the way to one, and of one website (budgets). `0` means zero; `Infinity` means none. */
export interface Limits {
  /** Bytes of robots.txt. @default 512_000 */
  readonly robotsBytes: number;
  /** Bytes of one document, transferred and decoded. @default 104_857_600 */
  readonly documentBytes: number;
  /** Entries of one document. @default 1_000_000 */
  readonly documentEntries: number;
  /** Layers of compression. @default 3 */
  readonly encodingLayers: number;
  /** Characters of a URL. @default 8_192 */
  readonly urlLength: number;
  /** Characters of a line of robots.txt or a text sitemap. @default 16_384 */
  readonly lineLength: number;
  /** Nesting depth of XML elements. @default 256 */
  readonly xmlDepth: number;
  /** Attributes of one XML element. @default 1_000 */
  readonly xmlAttributes: number;
  /** Characters of an XML name. @default 1_024 */
  readonly xmlNameLength: number;
  /** Characters of an XML attribute's value, or of the text of an element. @default 65_536 */
  readonly xmlTextLength: number;
  /** Images of one page. @default 1_000 */
  readonly images: number;
  /** Videos of one page. @default 100 */
  readonly videos: number;
  /** Alternates of one page. @default 1_000 */
  readonly alternates: number;
  /** Redirects on the way to robots.txt. @default 5 */
  readonly robotsRedirects: number;
  /** Redirects on the way to any other document. @default 10 */
  readonly redirects: number;
  /** The longest `Retry-After` that is waited for, in milliseconds. @default 60_000 */
  readonly retryAfter: number;
  /** Nesting depth of sitemap indexes. @default 11 */
  readonly depth: number;
  /**
   * Sitemaps in the tree of one website: those that are shown twice and those that are refused count, too.
   * @default 50_000
   */
  readonly documents: number;
  /** Bytes of one website, as transferred. @default Infinity */
  readonly bytes: number;
  /** Pages of one website. @default Infinity */
  readonly pages: number;
  /** Milliseconds for one website. @default Infinity */
  readonly time: number;
}

/** Which pages are listed: options of `streamPages`, `crawl` and `tree.pages()`. */
export interface PageFilters {
  /** Only pages whose URL matches one of these patterns. @default [] @example ["https://example.org/blog/*", /news/i] */
  include?: Pattern | readonly Pattern[] | undefined;
  /** No pages whose URL matches one of these patterns. @default [] */
  exclude?: Pattern | readonly Pattern[] | undefined;
  /**
   * Only pages modified since then: a date, or a time span such as `36h`, `7d` or `2w`. Where a page has no
   * `lastModified`, the date of its news story or feed item counts.
   * @example "7d"
   */
  since?: string | Date | undefined;
  /** With `since`: what happens to pages without a date. @default "drop" */
  undated?: "drop" | "keep" | undefined;
  /** Only pages on the host of the homepage; `www.` makes no difference. @default false */
  sameHost?: boolean | undefined;
  /**
   * Only pages below the registrable domain of the homepage, by the Public Suffix List: `shop.example.co.uk` for
   * `www.example.co.uk`.
   * @default false
   */
  sameSite?: boolean | undefined;
  /**
   * Only pages that robots.txt allows this crawler to fetch. Each host has its own, requested once. As RFC 9309 says, a
   * missing one (4xx) allows everything; one that cannot be reached allows nothing, and is reported.
   * @example "Googlebot"
   */
  allowedFor?: string | undefined;
  /** Each URL once, however many sitemaps declare it. @default false */
  unique?: boolean | undefined;
  /** Stop after this many pages: the crawl ends. @default Infinity */
  limit?: number | undefined;
  /**
   * Of the children of indexes, follow only those that match. Sitemaps that discovery found are read, because they may
   * be indexes; their own pages are listed if they match.
   * @default []
   */
  includeSitemap?: Pattern | readonly Pattern[] | undefined;
  /** Do not follow sitemaps that match. @default [] */
  excludeSitemap?: Pattern | readonly Pattern[] | undefined;
  /** With `since`: do not follow sitemaps that are older according to their index. @default false */
  skipOldSitemaps?: boolean | undefined;
}

type Checked<Given> = { readonly [Name in keyof Given]-?: Exclude<Given[Name], undefined> };

/** Where a setting has another type than its option, or no default. */
interface OtherSettings extends Pick<Options, "recurse" | "recurseList" | "client" | "signal" | "onEvent"> {
  readonly rewrite: Rewrite;
  readonly concurrency: { readonly perHost: number; readonly total: number };
  readonly delay: { readonly milliseconds: number; readonly random: boolean };
  readonly timeout: Timeouts;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: string | false;
  readonly tls: { readonly verify: boolean; readonly ca: readonly string[] };
  readonly limits: Limits;
  readonly save: string | undefined;
  readonly previous: readonly string[] | undefined;
  readonly resume: string | undefined;
}

/** The options as everything behind the call uses them: checked, and with everything present. */
export interface Settings extends Omit<Checked<Options>, keyof OtherSettings>, OtherSettings {}

interface OtherFilterSettings {
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  readonly since: number | undefined;
  readonly allowedFor: string | undefined;
  readonly includeSitemap: readonly Pattern[];
  readonly excludeSitemap: readonly Pattern[];
}

export interface PageFilterSettings
  extends Omit<Checked<PageFilters>, keyof OtherFilterSettings>,
    OtherFilterSettings {}

/** Which addresses may be connected to. */
export type NetworkPolicy = "default" | "allow-private" | "public-only";

/** Where documents are kept until the tree is closed. */
export type StoreKind = "auto" | "memory" | "file";

/** Where the children are that `recurse` and `recurseList` decide about. */
export interface RecurseContext {
  /** The URL of the index that names the children. */
  readonly parent: string;
  /** The URLs from the root to the parent. */
  readonly ancestors: readonly string[];
  /** The depth of the children; 1 for those of the root. */
  readonly depth: number;
}

const rows = optionSections.flatMap(({ rows }) => (rows === pageOptions ? [] : rows));

/** The options that shape a tree. */
export const shapingOptions: readonly OptionRow[] = optionSections.flatMap(({ shapesTree, rows }) =>
  shapesTree ? rows : [],
);

/** The names of the page filters. */
export const pageFilterNames: readonly string[] = pageOptions.map(({ name }) => name);

/** Options of `streamPages` and `crawl`. */
export interface StreamOptions extends Options, PageFilters {}
export interface StreamSettings extends Settings, PageFilterSettings {}

/** Options of `parseSitemap` and `readSitemap`. */
export interface ParseOptions extends Pick<Options, "strict" | "limits"> {
  /** The URL of the document: relative URLs are resolved against it, and a URL that ends in `/robots.txt` makes it a robots.txt. */
  url?: string | URL | undefined;
}

export interface ParseSettings extends Pick<Settings, "strict" | "limits"> {
  readonly url: string | undefined;
}

/** Options of `openTree`. */
export type ArchiveOptions = Pick<Options, "limits" | "rewrite" | "signal" | "onEvent">;
export type ArchiveSettings = Pick<Settings, "limits" | "rewrite" | "signal" | "onEvent">;

function rowsCalled(...names: readonly string[]): OptionRow[] {
  return rows.filter(({ name }) => names.includes(name));
}

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveOptions(options?: Options): Settings {
  const isGiven = ({ name }: OptionRow) =>
    (options as StreamOptions | undefined)?.[name as keyof PageFilters] !== undefined;
  const filter = readable("options", () => pageOptions.find(isGiven));
  if (filter)
    throw invalid(
      `Unknown option \`${filter.name}\` of a tree; give it to \`tree.pages()\`, \`streamPages\` or \`crawl\``,
    );
  return resolve(rows, options);
}

/** For a stream of pages. */
export function resolveStreamOptions(options?: StreamOptions): StreamSettings {
  return resolve([...rows, ...pageOptions], options);
}

/** For the pages of a tree or a document. */
export function resolvePageFilters(filters?: PageFilters): PageFilterSettings {
  return resolve(pageOptions, filters);
}

/** For one document. */
export function resolveParseOptions(options?: ParseOptions): ParseSettings {
  return resolve([urlOption, ...rowsCalled("strict", "limits")], options);
}

/** For an archive. */
export function resolveArchiveOptions(options?: ArchiveOptions): ArchiveSettings {
  return resolve(rowsCalled("limits", "rewrite", "signal", "onEvent"), options);
}

/** Checks the value of one option. */
export function checkOption(row: OptionRow, value: unknown, name: string = row.name): unknown {
  const { members, shorthand, check } = row;
  if (members !== undefined) {
    if (shorthand === undefined || typeof value !== "number") {
      const expected = shorthand === undefined ? "an object" : "a number or an object";
      return resolve(members, value, { name, prefix: `${name}.`, expected });
    }
    const member = members.find((candidate) => candidate.name === shorthand) as OptionRow;
    return resolve(members, { [shorthand]: checkOption(member, value, name) });
  }
  if (check !== undefined) return check(name, value);
  return typeof row.default === "boolean" ? boolean(name, value) : number(name, value, row.minimum);
}

function resolve<Resolved>(
  known: readonly OptionRow[],
  given: unknown = {},
  { name = "options", prefix = "", expected = "an object" } = {},
): Resolved {
  const names = known.map((row) => row.name);
  const values = optionsIn(name, given, names, { prefix, expected });
  const settings: Record<string, unknown> = {};
  for (const row of known) {
    const value = values.get(row.name);
    const path = `${prefix}${row.name}`;
    settings[row.name] =
      value === undefined ? defaultOf(row, settings) : readable(path, () => checkOption(row, value, path));
  }
  return settings as Resolved;
}

function defaultOf({ members, defaultFrom, default: value }: OptionRow, others: Record<string, unknown>): unknown {
  if (members !== undefined) return resolve(members);
  return defaultFrom === undefined ? value : defaultFrom(others);
}

export const defaultLimits: Limits = resolveOptions().limits;
