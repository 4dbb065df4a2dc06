// Every option: meaning, default, check (option-checks.ts has the words). Options are checked once, at the call; everything
// behind it works with `Settings`.
import type { Client } from "./client.ts";
import type { CrawlEvent } from "./event.ts";
import {
  boolean,
  client,
  expectObject,
  headers,
  headerValue,
  invalid,
  number,
  numbers,
  oneOf,
  optionalFunction,
  path,
  paths,
  proxy,
  signal,
  strings,
  suggestion,
} from "./option-checks.ts";
import type { SitemapReference } from "./sitemap.ts";

/** Options of `sitemapTreeForHomepage`, `sitemapTreeFrom`, `streamPages` and `crawl`. Times are milliseconds, sizes bytes. */
export interface Options {
  /**
   * Read robots.txt for the sitemaps it names.
   * @default true
   */
  useRobots?: boolean | undefined;
  /**
   * Try the well-known paths.
   * @default true
   */
  useKnownPaths?: boolean | undefined;
  /**
   * Further paths to try after the well-known ones, relative to the homepage.
   * @default []
   * @example ["sitemaps/all.xml"]
   */
  extraKnownPaths?: readonly string[] | undefined;
  /**
   * Read the homepage's `Link` header and `<link rel="sitemap">`.
   * @default true
   */
  useHomepage?: boolean | undefined;
  /**
   * Strip the homepage to the root of its website. With `false`, robots.txt and the well-known paths are looked for below its path.
   * @default true
   */
  normalizeHomepageUrl?: boolean | undefined;
  /**
   * Stop where robots.txt cannot be reached, as RFC 9309 asks of crawlers.
   * @default false
   */
  strictRobots?: boolean | undefined;
  /**
   * Stop reading an XML document at the first thing that is not well-formed.
   * @default false
   */
  strict?: boolean | undefined;
  /** Whether to follow one child of an index. Asked before anything is fetched. A child that is not followed is not in the tree. */
  recurse?: ((child: SitemapReference, context: RecurseContext) => boolean) | undefined;
  /** Which children of an index to follow, and in which order. Asked before `recurse`, with all of them. */
  recurseList?:
    | ((children: readonly SitemapReference[], context: RecurseContext) => readonly SitemapReference[])
    | undefined;
  /**
   * How many documents are fetched at a time. A number is the limit for one host; in all, four times as many.
   * @default { perHost: 4, total: 16 }
   */
  concurrency?: number | { perHost?: number | undefined; total?: number | undefined } | undefined;
  /**
   * The pause between two requests to one host. `random` draws each from half to one and a half times of it.
   * @default 0
   * @example { milliseconds: 1000, random: true }
   */
  delay?: number | { milliseconds: number; random?: boolean | undefined } | undefined;
  /**
   * Keep to the `Crawl-delay` of robots.txt, where it is longer than `delay`, up to 60 seconds.
   * @default false
   */
  useCrawlDelay?: boolean | undefined;
  /**
   * How often a request that failed in passing is tried again.
   * @default 3
   */
  retries?: number | undefined;
  /** How long to wait. A number is the limit for one attempt at a document, first to last byte (`total`). */
  timeout?: number | Partial<Timeouts> | undefined;
  /** Budgets and bounds. `0` means zero; `Infinity` means none. */
  limits?: Partial<Limits> | undefined;
  /**
   * Which addresses may be connected to. `default`: what a website names must be public, only the start may be private.
   * `allow-private`: any. `public-only`: the start must be public too.
   * @default "default"
   */
  network?: NetworkPolicy | undefined;
  /**
   * Headers for requests to the origin of the homepage. They are never sent elsewhere.
   * @default {}
   * @example { authorization: "Bearer …" }
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** @default `sitegrove/<version> (+https://www.npmjs.com/package/sitegrove)` */
  userAgent?: string | undefined;
  /**
   * The URL of an HTTP proxy; `"environment"` takes HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Behind a proxy the address policy
   * can only judge names and literal addresses: the proxy resolves.
   * @default no proxy
   */
  proxy?: string | undefined;
  /** TLS: `verify: false` accepts any certificate; `ca` are further certificates to trust (PEM). */
  tls?: { verify?: boolean | undefined; ca?: string | readonly string[] | undefined } | undefined;
  /**
   * Where documents are kept until the tree is closed: `memory`, a private temporary `file`, or `auto`: in memory while the
   * website is small.
   * @default "auto"
   */
  store?: StoreKind | undefined;
  /**
   * Keep the documents in a WARC archive at this path, written while the crawl goes on. `openTree` reads it. A name that ends
   * in `.gz` is compressed. The file must not exist.
   * @default none: documents are gone when the tree is closed
   */
  save?: string | undefined;
  /** What answers the requests, instead of the client built in. Address policy and proxy are then its business. */
  client?: Client | undefined;
  /** Ends the run: what was called rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Told everything that happens, as `crawl()` yields it. */
  onEvent?: ((event: CrawlEvent) => void) | undefined;
}

export type NetworkPolicy = "default" | "allow-private" | "public-only";
export type StoreKind = "auto" | "memory" | "file";

/** What a filter may want to know. */
export interface RecurseContext {
  /** The URL of the index that names the children. */
  readonly parent: string;
  /** The URLs from the root to the parent. */
  readonly ancestors: readonly string[];
  /** The depth of the children; 1 for those of the root. */
  readonly depth: number;
}

export interface Timeouts {
  /** Until the connection stands, TLS included. @default 10_000 */
  readonly connect: number;
  /** From the request to the head of the response. @default 30_000 */
  readonly firstByte: number;
  /** Between two pieces of the body. @default 15_000 */
  readonly idle: number;
  /** One attempt at a document, first to last byte. @default 120_000 */
  readonly total: number;
}

export interface Limits {
  /** robots.txt is read up to here. @default 512_000 */
  readonly robotsBytes: number;
  /** One document, on the wire and decoded. @default 104_857_600 */
  readonly documentBytes: number;
  /** Entries of one document. @default 1_000_000 */
  readonly documentEntries: number;
  /** Layers of compression. @default 3 */
  readonly encodingLayers: number;
  /** Characters of a URL. @default 8_192 */
  readonly urlLength: number;
  /** Characters of a line of robots.txt or of a text sitemap. @default 16_384 */
  readonly lineLength: number;
  /** Nesting of XML elements. @default 256 */
  readonly xmlDepth: number;
  /** Attributes of one XML element. @default 1_000 */
  readonly xmlAttributes: number;
  /** Characters of an XML name. @default 1_024 */
  readonly xmlNameLength: number;
  /** Characters of an XML attribute's value, or of the text of an element that is kept. @default 65_536 */
  readonly xmlTextLength: number;
  /** Of one page. @default 1_000 */
  readonly images: number;
  /** Of one page. @default 100 */
  readonly videos: number;
  /** Of one page. @default 1_000 */
  readonly alternates: number;
  /** Redirects on the way to robots.txt. @default 5 */
  readonly robotsRedirects: number;
  /** Redirects on the way to any other document. @default 10 */
  readonly redirects: number;
  /** The longest `Retry-After` that is waited for, in milliseconds. @default 60_000 */
  readonly retryAfter: number;
  /** Nesting of sitemaps. @default 11 */
  readonly depth: number;
  /** Sitemaps of one website. @default 50_000 */
  readonly documents: number;
  /** Bytes of one website, as they come off the wire. @default Infinity */
  readonly bytes: number;
  /** Pages of one website. @default Infinity */
  readonly pages: number;
  /** Milliseconds for one website. @default Infinity */
  readonly time: number;
}

/** The options with everything present. */
export interface Settings {
  readonly useRobots: boolean;
  readonly useKnownPaths: boolean;
  readonly extraKnownPaths: readonly string[];
  readonly useHomepage: boolean;
  readonly normalizeHomepageUrl: boolean;
  readonly strictRobots: boolean;
  readonly strict: boolean;
  readonly recurse: Options["recurse"];
  readonly recurseList: Options["recurseList"];
  readonly concurrency: { readonly perHost: number; readonly total: number };
  readonly delay: { readonly milliseconds: number; readonly random: boolean };
  readonly useCrawlDelay: boolean;
  readonly retries: number;
  readonly timeout: Timeouts;
  readonly limits: Limits;
  readonly network: NetworkPolicy;
  readonly headers: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly proxy: string | undefined;
  readonly tls: { readonly verify: boolean; readonly ca: readonly string[] };
  readonly store: StoreKind;
  readonly save: string | undefined;
  readonly client: Client | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: ((event: CrawlEvent) => void) | undefined;
}

/** Kept equal to the version in package.json by a test. */
export const version: string = "0.1.0";

const defaultTimeouts: Timeouts = { connect: 10_000, firstByte: 30_000, idle: 15_000, total: 120_000 };

export const defaultLimits: Limits = {
  robotsBytes: 512_000,
  documentBytes: 100 * 1024 * 1024,
  documentEntries: 1_000_000,
  encodingLayers: 3,
  urlLength: 8192,
  lineLength: 16 * 1024,
  xmlDepth: 256,
  xmlAttributes: 1000,
  xmlNameLength: 1024,
  xmlTextLength: 64 * 1024,
  images: 1000,
  videos: 100,
  alternates: 1000,
  robotsRedirects: 5,
  redirects: 10,
  retryAfter: 60_000,
  depth: 11,
  documents: 50_000,
  bytes: Number.POSITIVE_INFINITY,
  pages: Number.POSITIVE_INFINITY,
  time: Number.POSITIVE_INFINITY,
};

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveOptions(options: Options = {}): Settings {
  expectObject("options", options);
  for (const name of Object.keys(options)) {
    if (!knownOptions.has(name)) throw invalid(`Unknown option \`${name}\`${suggestion(name, knownOptions)}`);
  }
  const concurrency =
    typeof options.concurrency === "number" ? { perHost: options.concurrency } : (options.concurrency ?? {});
  const perHost = number("concurrency.perHost", concurrency.perHost ?? 4, 1);
  const delay =
    typeof options.delay === "number" ? { milliseconds: options.delay } : (options.delay ?? { milliseconds: 0 });
  const timeout = typeof options.timeout === "number" ? { total: options.timeout } : options.timeout;
  return {
    useRobots: boolean("useRobots", options.useRobots ?? true),
    useKnownPaths: boolean("useKnownPaths", options.useKnownPaths ?? true),
    extraKnownPaths: paths("extraKnownPaths", options.extraKnownPaths ?? []),
    useHomepage: boolean("useHomepage", options.useHomepage ?? true),
    normalizeHomepageUrl: boolean("normalizeHomepageUrl", options.normalizeHomepageUrl ?? true),
    strictRobots: boolean("strictRobots", options.strictRobots ?? false),
    strict: boolean("strict", options.strict ?? false),
    recurse: optionalFunction("recurse", options.recurse),
    recurseList: optionalFunction("recurseList", options.recurseList),
    concurrency: { perHost, total: number("concurrency.total", concurrency.total ?? perHost * 4, 1) },
    delay: {
      milliseconds: number("delay", delay.milliseconds, 0),
      random: boolean("delay.random", delay.random ?? false),
    },
    useCrawlDelay: boolean("useCrawlDelay", options.useCrawlDelay ?? false),
    retries: number("retries", options.retries ?? 3, 0),
    timeout: numbers("timeout", timeout ?? {}, defaultTimeouts),
    limits: numbers("limits", options.limits ?? {}, defaultLimits),
    network: oneOf("network", options.network ?? "default", ["default", "allow-private", "public-only"]),
    headers: headers("headers", options.headers ?? {}),
    userAgent: headerValue(
      "userAgent",
      options.userAgent ?? `sitegrove/${version} (+https://www.npmjs.com/package/sitegrove)`,
    ),
    proxy: options.proxy === undefined ? undefined : proxy("proxy", options.proxy),
    tls: {
      verify: boolean("tls.verify", options.tls?.verify ?? true),
      ca: strings("tls.ca", typeof options.tls?.ca === "string" ? [options.tls.ca] : (options.tls?.ca ?? [])),
    },
    store: oneOf("store", options.store ?? "auto", ["auto", "memory", "file"]),
    save: options.save === undefined ? undefined : path("save", options.save),
    client: client("client", options.client),
    signal: signal("signal", options.signal),
    onEvent: optionalFunction("onEvent", options.onEvent),
  };
}

const knownOptions: ReadonlySet<string> = new Set<keyof Options>([
  "useRobots",
  "useKnownPaths",
  "extraKnownPaths",
  "useHomepage",
  "normalizeHomepageUrl",
  "strictRobots",
  "strict",
  "recurse",
  "recurseList",
  "concurrency",
  "delay",
  "useCrawlDelay",
  "retries",
  "timeout",
  "limits",
  "network",
  "headers",
  "userAgent",
  "proxy",
  "tls",
  "store",
  "save",
  "client",
  "signal",
  "onEvent",
]);
