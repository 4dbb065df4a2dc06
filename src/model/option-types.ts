// Generated from src/model/options/ by `npm run tables`.
import type { Client } from "./client.ts";
import type { CrawlEvent } from "./event.ts";
import type { NetworkPolicy, RecurseContext, StoreKind } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import type { Rewrite } from "./rewrite.ts";
import type { SitemapReference } from "./sitemap.ts";

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

/** The options as everything behind the call uses them: checked, and with everything present. */
export interface Settings {
  readonly useRobots: boolean;
  readonly useKnownPaths: boolean | "if-needed";
  readonly useHomepage: boolean;
  readonly extraKnownPaths: readonly string[];
  readonly useFeeds: boolean;
  readonly useLlms: boolean;
  readonly keepPath: boolean;
  readonly onlyPath: boolean;
  readonly strictRobots: boolean;
  readonly rewrite: Rewrite;
  readonly recurse: ((child: SitemapReference, context: RecurseContext) => boolean) | undefined;
  readonly recurseList:
    | ((children: readonly SitemapReference[], context: RecurseContext) => readonly SitemapReference[])
    | undefined;
  readonly strict: boolean;
  readonly concurrency: { readonly perHost: number; readonly total: number };
  readonly delay: { readonly milliseconds: number; readonly random: boolean };
  readonly useCrawlDelay: boolean;
  readonly retries: number;
  readonly timeout: Timeouts;
  readonly network: NetworkPolicy;
  readonly headers: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly proxy: string | false;
  readonly tls: { readonly verify: boolean; readonly ca: readonly string[] };
  readonly client: Client | undefined;
  readonly limits: Limits;
  readonly store: StoreKind;
  readonly save: string | undefined;
  readonly previous: readonly string[] | undefined;
  readonly trustLastmod: boolean;
  readonly resume: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: ((event: CrawlEvent) => void) | undefined;
  readonly onUnreachable: "throw" | "end";
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

/** Checked, and with everything present. */
export interface PageFilterSettings {
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  readonly since: number | undefined;
  readonly undated: "drop" | "keep";
  readonly sameHost: boolean;
  readonly sameSite: boolean;
  readonly allowedFor: string | undefined;
  readonly unique: boolean;
  readonly limit: number;
  readonly includeSitemap: readonly Pattern[];
  readonly excludeSitemap: readonly Pattern[];
  readonly skipOldSitemaps: boolean;
}
