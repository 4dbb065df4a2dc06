// The table of options: names, defaults, checks, and the flags of the program. The settings saved in an archive, shell completion and
// docs/options.md also come from it.
//
// To add an option, add its row here and its type with a comment to options.ts, then run `npm run tables`.
import { since } from "./instant.ts";
import * as checks from "./option-checks.ts";
import { oneOf } from "./option-checks.ts";
import {
  type FlagRow,
  type FlagValue,
  limitOptions,
  limitsOption,
  type OptionRow,
  strictOption,
} from "./option-row.ts";
import { patterns } from "./pattern.ts";
import { rewrite } from "./rewrite.ts";
import { version } from "./version.ts";

export type FlagGroup = "Filters" | "Discovery" | "Parsing" | "Archive" | "Network" | "Limits";

export interface OptionSection {
  readonly heading: string;
  readonly flags?: FlagGroup;
  /** Whether these options affect the tree. They are saved in archives, and a replay uses them, unless their own `shapesTree` is false. */
  readonly shapesTree?: true;
  readonly rows: readonly OptionRow[];
}

function takes(value: FlagValue, flags: string, text: string, conflicts?: string): FlagRow {
  return { flags, text, value, ...(conflicts === undefined ? {} : { conflicts }) };
}

function sets(value: unknown, flags: string, text: string, conflicts?: string): FlagRow {
  return { flags, text, sets: value, ...(conflicts === undefined ? {} : { conflicts }) };
}

/** An option that its flag turns on. */
function on(name: string, flags: string, text: string, conflicts?: string): OptionRow {
  return { name, default: false, flags: [sets(true, flags, text, conflicts)] };
}

/** An option whose flag takes a value. */
function valued(row: OptionRow, ...flag: Parameters<typeof takes>): OptionRow {
  return { ...row, flags: [takes(...flag)] };
}

/** An option that its flag turns off. */
function off(name: string, flags: string, text: string): OptionRow {
  return { name, default: true, flags: [sets(false, flags, text)] };
}

function patterned(name: string, flags: string, text: string): OptionRow {
  return valued({ name, default: [], check: patterns }, "texts", flags, text);
}

const discoveryOptions: readonly OptionRow[] = [
  off("useRobots", "-r, --no-robots", "do not read robots.txt"),
  {
    name: "knownPaths",
    default: "always",
    check: oneOf(["always", "if-needed", "never"]),
    more: "[More](#well-known-paths).",
    flags: [
      takes(
        { always: "always", "if-needed": "if-needed", never: "never" },
        "--known <when>",
        "when to try well-known paths; if-needed means only if robots.txt lists no readable sitemap (default: always)",
      ),
      sets("never", "-k, --no-known", "do not try well-known paths"),
    ],
  },
  off("useHomepage", "--no-homepage", "do not look for sitemap links in the homepage"),
  {
    name: "extraKnownPaths",
    default: [],
    check: checks.paths,
    flags: [takes("texts", "--known-path <path>", "also try this path (repeatable)")],
  },
  on("useFeeds", "--feeds", "also read the website's feeds"),
  on("useLlms", "--llms", "also read llms.txt"),
  {
    name: "path",
    default: "ignore",
    check: oneOf(["ignore", "keep", "only"]),
    flags: [
      sets("keep", "--keep-path", "look under the homepage's path first, then at the host's root"),
      sets("only", "--only-path", "look only under the homepage's path", "keepPath"),
    ],
  },
  on("strictRobots", "--strict-robots", "stop if robots.txt cannot be reached"),
  {
    name: "rewrite",
    default: [],
    check: rewrite,
    more: "Useful for a local server whose sitemaps contain production URLs. Images, videos and URLs in problems are not rewritten.",
    flags: [
      takes(
        "pairs",
        "--rewrite <from=to>",
        "replace the prefix FROM of page URLs with TO; also in sitemap URLs, if the crawl starts at TO (repeatable)",
      ),
    ],
  },
  // A replay uses the rewrites that `here` led to, instead of `here` itself.
  {
    ...on("here", "--here", "for a preview or staging copy: use its address in place of the production host"),
    shapesTree: false,
  },
];

/** Which pages are listed, by a crawl, a tree and the program alike. */
export const pageOptions: readonly OptionRow[] = [
  {
    ...patterned("include", "--include <pattern>", "only pages whose URL matches (repeatable)"),
    more: "[More](command-line.md#filters).",
  },
  patterned("exclude", "--exclude <pattern>", "skip pages whose URL matches (repeatable)"),
  {
    name: "since",
    check: since,
    flags: [
      takes(
        "text",
        "--since <date>",
        "only pages modified since a date or within a period, such as 2024-05-31, 36h or 7d",
      ),
    ],
  },
  {
    name: "undated",
    default: "drop",
    check: oneOf(["drop", "keep"]),
    flags: [
      takes({ keep: "keep", drop: "drop" }, "--undated <what>", "with --since: pages without a date (default: drop)"),
    ],
  },
  {
    name: "scope",
    default: "any",
    check: oneOf(["any", "site", "host"]),
    flags: [
      sets("host", "--same-host", "only pages on the homepage's host"),
      sets("site", "--same-site", "only pages on the homepage's domain and its subdomains", "sameHost"),
    ],
  },
  {
    name: "allowedFor",
    check: checks.text,
    more: "An archive contains these files, so nothing is fetched.",
    flags: [
      takes("text", "--allowed-for <agent>", "only pages that robots.txt lets this crawler fetch, such as Googlebot"),
    ],
  },
  on("unique", "--unique", "each page once, even if several sitemaps list it"),
  valued(
    { name: "limit", default: Number.POSITIVE_INFINITY },
    "number",
    "--limit <n>",
    "stop after this many pages in total",
  ),
  valued(
    { name: "sample", default: Number.POSITIVE_INFINITY, minimum: 1 },
    "number",
    "--sample <n>",
    "list only this many pages, spread over sitemaps and sections",
  ),
  valued({ name: "seed", default: 0 }, "number", "--seed <n>", "with --sample: random seed, to select other pages"),
  patterned("includeSitemap", "--include-sitemap <pattern>", "only read child sitemaps that match (repeatable)"),
  patterned("excludeSitemap", "--exclude-sitemap <pattern>", "skip sitemaps that match (repeatable)"),
];

const recursionOptions: readonly OptionRow[] = [
  { name: "recurse", check: checks.functionValue },
  { name: "recurseList", check: checks.functionValue },
];

const parsingOptions: readonly OptionRow[] = [
  { ...strictOption, flags: [sets(true, "--strict", "stop reading a document at the first XML error")] },
];

const limitDetails: Readonly<Record<string, Pick<OptionRow, "flags" | "more">>> = {
  sitemaps: { flags: [takes("number", "--max-sitemaps <n>", "maximum number of sitemaps per website")] },
  depth: { flags: [takes("number", "--max-depth <n>", "maximum nesting depth of sitemap indexes")] },
  documentBytes: {
    more: "The protocol allows half.",
    flags: [takes("bytes", "--max-bytes <n>", "maximum size of a document, sent or decoded, such as 64k or 50M")],
  },
  time: {
    more: "Results found by then are still written.",
    flags: [takes("seconds", "--max-time <time>", "maximum time for the whole website, such as 90s or 10m")],
  },
};

const limitRows = limitOptions.map((row) => ({ ...row, ...limitDetails[row.name] }));

const fetchingOptions: readonly OptionRow[] = [
  {
    name: "concurrency",
    shorthand: "perHost",
    members: [
      {
        name: "perHost",
        default: 4,
        minimum: 1,
        flags: [takes("number", "--concurrency <n>", "parallel requests per host; four times as many in total")],
      },
      { name: "total", default: 16, defaultFrom: ({ perHost }) => Number(perHost) * 4, minimum: 1 },
    ],
  },
  {
    name: "delay",
    shorthand: "milliseconds",
    members: [
      {
        name: "milliseconds",
        default: 0,
        flags: [takes("seconds", "--delay <time>", "pause between requests to one host, such as 500ms or 2s")],
      },
      { name: "random", default: false },
    ],
  },
  on("useCrawlDelay", "--crawl-delay", "respect the Crawl-delay in robots.txt, up to 60 s"),
  {
    name: "retries",
    default: 3,
    more: "[More](inside/fetching.md#retries).",
    flags: [takes("number", "--retries <n>", "retries after temporary failures")],
  },
  { name: "retry", check: checks.functionValue },
  {
    name: "timeout",
    shorthand: "total",
    members: [
      { name: "connect", default: 10_000, minimum: 1 },
      { name: "firstByte", default: 30_000, minimum: 1 },
      { name: "idle", default: 15_000, minimum: 1 },
      {
        name: "total",
        default: 120_000,
        minimum: 1,
        flags: [takes("seconds", "--timeout <time>", "maximum time for one attempt to fetch a document")],
      },
    ],
  },
  {
    name: "network",
    default: "default",
    check: oneOf(["default", "allow-private", "public-only"]),
    more: "[More](security.md).",
    flags: [
      sets("allow-private", "--allow-private", "follow links into private networks"),
      sets("public-only", "--public-only", "refuse private networks, even for the homepage", "allowPrivate"),
    ],
  },
  {
    name: "headers",
    default: {},
    check: checks.headers,
    flags: [takes("headers", "--header <line>", "extra request header, sent only to this site (repeatable)")],
  },
  {
    name: "userAgent",
    default: `sitegrove/${version} (+https://www.npmjs.com/package/sitegrove)`,
    check: checks.headerValue,
    flags: [takes("text", "--user-agent <text>", "User-Agent header to send")],
  },
  {
    name: "proxy",
    default: "environment",
    check: checks.proxy,
    more: "[More](inside/fetching.md#what-is-sent).",
    flags: [
      takes(
        "text",
        "--proxy <url>",
        "HTTP proxy, as a URL or host:port (default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY)",
      ),
      sets(false, "--no-proxy", "connect directly, ignoring HTTP_PROXY and HTTPS_PROXY"),
    ],
  },
  {
    name: "tls",
    members: [
      off("verify", "--insecure", "accept any TLS certificate"),
      {
        name: "ca",
        default: [],
        check: (name, value) => checks.strings(name, typeof value === "string" ? [value] : value),
        flags: [takes("files", "--ca <file>", "PEM file with additional CA certificates to trust (repeatable)")],
      },
    ],
  },
  { name: "client", check: checks.client, more: "[More](library.md#your-own-client)." },
];

const storageOptions: readonly OptionRow[] = [
  { name: "store", default: "auto", check: oneOf(["auto", "memory", "file"]) },
  {
    name: "save",
    check: checks.path,
    more: "[More](archives.md).",
    flags: [takes("text", "--save <file>", "save all responses to a WARC archive (.warc or .warc.gz)")],
  },
  {
    name: "previous",
    check: (name, value) =>
      (typeof value === "string" ? [value] : checks.strings(name, value)).map((item) => checks.path(name, item)),
    more: "[More](archives.md#incremental-runs).",
    flags: [
      takes("texts", "--previous <file>", "archive of an earlier run, to reuse unchanged documents (repeatable)"),
    ],
  },
  {
    name: "resume",
    check: checks.path,
    more: "[More](archives.md#resuming).",
    flags: [takes("text", "--resume <file>", "continue an interrupted run from its archive", "save")],
  },
];

const watchingOptions: readonly OptionRow[] = [
  { name: "signal", check: checks.signal },
  { name: "onEvent", check: checks.functionValue, more: "[More](library.md#events)." },
  { name: "order", default: "declared", check: oneOf(["declared", "arrival"]) },
  { name: "onUnreachable", default: "throw", check: oneOf(["throw", "end"]) },
];

/** The table, in the order of the documentation. */
export const optionSections: readonly OptionSection[] = [
  { heading: "Discovery", flags: "Discovery", shapesTree: true, rows: discoveryOptions },
  { heading: "Page filters", flags: "Filters", rows: pageOptions },
  { heading: "Callbacks", rows: recursionOptions },
  { heading: "Parsing", flags: "Parsing", shapesTree: true, rows: parsingOptions },
  { heading: "Fetching", flags: "Network", rows: fetchingOptions },
  {
    heading: "Limits",
    flags: "Limits",
    shapesTree: true,
    rows: [{ ...limitsOption, members: limitRows }],
  },
  { heading: "Storage", flags: "Archive", rows: storageOptions },
  { heading: "Events and cancellation", rows: watchingOptions },
];
