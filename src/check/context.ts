// Tells rules what they need to know besides the page: how sitemaps were found and what lists them, what kind of host a URL has, and
// what robots.txt allows.
import ipaddr from "ipaddr.js";
import type { DiscoveryRecord } from "../model/event.ts";
import type { DocumentResponse } from "../model/exchange.ts";
import { type Rewrite, rewriteUnlessTarget } from "../model/rewrite.ts";
import type { IndexSitemap, PagesSitemap, Sitemap } from "../model/sitemap.ts";
import { homepageOf, parseUrl, urlKey } from "../model/url.ts";
import { pathOfUrl, type RobotsRules, ruleFinder } from "../parse/robots-rules.ts";
import { partsOf, type SitemapTree } from "../tree/tree.ts";
import type { CheckTime, Receipt } from "./check-time.ts";
import type { Findings, SitemapFindings } from "./findings/findings.ts";
import type { CheckSettings } from "./options.ts";

export interface CheckRun {
  readonly tree: SitemapTree;
  readonly settings: CheckSettings;
  readonly site: SiteContext;
  readonly robots: RobotsAccess;
  readonly findings: Findings;
  readonly receipt: Receipt;
  readonly time: CheckTime;
}

/** A sitemap as a document. The root has no `parent`. Only indexes and sitemaps that were read have a `response`, not robots.txt. */
export interface DocumentContext {
  readonly sitemap: Sitemap;
  readonly parent: IndexSitemap | undefined;
  readonly response: DocumentResponse | undefined;
  readonly findings: SitemapFindings;
  readonly run: CheckRun;
}

/** A sitemap whose pages are checked. */
export interface SitemapContext {
  readonly sitemap: PagesSitemap;
  readonly findings: SitemapFindings;
  /** Where the document is published; undefined if its URL is unknown. */
  readonly location: Location | undefined;
  /** The hosts whose robots.txt lists the sitemap or its index. The sitemap may list their pages. */
  readonly submittedBy: ReadonlySet<string>;
  /** When the document was received, in milliseconds. */
  readonly receivedAt: number;
  readonly run: EntryRun;
}

/** What rules about entries know about the run. The playground in the docs checks a document with no more than this. */
export interface EntryRun {
  readonly site: Pick<SiteContext, "homeHost" | "isSite">;
  readonly settings: Pick<CheckSettings, "crossSubmit" | "forbiddenBy">;
  readonly robots: RobotsAccess;
}

export interface Location {
  readonly origin: Origin;
  /** The beginning of all URLs with the same scheme and host: `https://example.org`. */
  readonly start: string;
  /** The beginning of all URLs in the same directory or below: `https://example.org/blog/`. */
  readonly directory: string;
}

export class SiteContext {
  readonly homeHost: string;
  /** Whether the caller gave a website, not sitemaps. A given sitemap may be anywhere, as if submitted in Search Console. */
  readonly isSite: boolean;
  readonly robots: IndexSitemap | undefined;
  readonly rewrite: Rewrite;
  readonly #foundBy = new Map<string, DiscoveryRecord["by"]>();
  readonly #listedInRobots: ReadonlySet<string>;
  readonly #otherSources: ReadonlySet<Sitemap>;
  // Sitemaps that robots.txt lists, and everything below them.
  readonly #submitted = new Set<string>();
  readonly #robotsHosts: ReadonlySet<string>;

  constructor(tree: SitemapTree) {
    this.homeHost = locationOf(tree.homepage)?.origin.host ?? "";
    this.isSite = !tree.discovery.some(({ by }) => by === "given");
    this.rewrite = partsOf(tree).settings.rewrite;
    this.robots = tree.root.children.find(isRobots);
    this.#listedInRobots = new Set(this.robots?.children.map(({ url, declaredUrl }) => declaredUrl ?? url));
    if (this.robots !== undefined) for (const { url } of tree.sitemaps(this.robots)) this.#submitted.add(url);
    const robotsHost = this.robots && locationOf(this.robots.url)?.origin.host;
    this.#robotsHosts = robotsHost === undefined ? nobody : new Set([robotsHost, this.homeHost]);
    for (const { url, finalUrl, by } of tree.discovery) {
      for (const found of [url, finalUrl ?? url]) {
        const key = urlKey(found);
        if (!this.#foundBy.has(key)) this.#foundBy.set(key, by);
      }
    }
    const isOther = (child: Sitemap) => /^(?:feed|llms)$/.test(this.foundBy(child) ?? "");
    this.#otherSources = new Set(tree.root.children.filter(isOther));
  }

  /** Whether a sitemap is meant for search engines. Feeds and llms.txt that discovery looked for as such are not. */
  isForSearch(sitemap: Sitemap): boolean {
    return !this.#otherSources.has(sitemap);
  }

  isListedInRobots(sitemap: Sitemap): boolean {
    return this.#listedInRobots.has(sitemap.declaredUrl ?? sitemap.url);
  }

  /** The hosts whose pages may be in a sitemap because their robots.txt lists it or its index. */
  submittedBy(sitemap: Sitemap): ReadonlySet<string> {
    return this.#submitted.has(sitemap.url) ? this.#robotsHosts : nobody;
  }

  /** The declared URL of a sitemap, after applying the option `rewrite`. */
  declared({ url, declaredUrl = url }: Sitemap): string {
    return rewriteUnlessTarget(declaredUrl, this.rewrite);
  }

  /** How discovery found a child of the root. */
  foundBy(sitemap: Sitemap): DiscoveryRecord["by"] | undefined {
    return this.#foundBy.get(urlKey(sitemap.declaredUrl ?? sitemap.url));
  }
}

const nobody: ReadonlySet<string> = new Set();

export function isRobots(sitemap: Sitemap): sitemap is IndexSitemap {
  return sitemap.kind === "index" && sitemap.format === "robots";
}

export function locationOf(url: string): Location | undefined {
  const { origin: start = "", pathname = "" } = parseUrl(url) ?? {};
  const origin = readOrigin(start);
  return origin && { origin, start, directory: start + pathname.slice(0, pathname.lastIndexOf("/") + 1) };
}

/** The beginning of a URL, up to its path. */
export interface Origin {
  readonly scheme: "http" | "https";
  /** The host in lower case, with its port unless that is the default. */
  readonly host: string;
  /** A `private` host is not reachable from outside; a `staging` host is probably not meant to be. */
  readonly reach: "public" | "private" | "staging";
  readonly hasCredentials: boolean;
  /** Whether the scheme or host has capitals, or the host has a default port or a trailing dot. */
  readonly isOddlyWritten: boolean;
}

export function readOrigin(text: string): Origin | undefined {
  const url = parseUrl(text);
  if (url === null) return undefined;
  const name = url.hostname.replace(/\.$/, "");
  // The host as it is written, without scheme, user name and port.
  const authority = text.slice(text.indexOf("//") + 2).replace(/^.*@/, "");
  const written = authority.replace(/:\d*$/, "");
  const hasDefaultPort = written !== authority && url.port === "";
  return {
    scheme: url.protocol === "https:" ? "https" : "http",
    host: name + (url.port === "" ? "" : `:${url.port}`),
    reach: reachOf(name),
    hasCredentials: url.username !== "" || url.password !== "",
    isOddlyWritten: /[A-Z]/.test(written) || /^[^/]*[A-Z]/.test(text) || written.endsWith(".") || hasDefaultPort,
  };
}

function reachOf(name: string): Origin["reach"] {
  const literal = name.startsWith("[") ? name.slice(1, -1) : name;
  // Names skip ipaddr.js, which throws and catches errors for them. That would take longer than everything else here.
  const mayBeAddress = /^[\d.]+$|:/.test(literal);
  if (mayBeAddress && ipaddr.isValid(literal))
    return ipaddr.process(literal).range() === "unicast" ? "public" : "private";
  const labels = name.split(".");
  if (labels.length === 1 || reservedNames.has(labels.at(-1) as string)) return "private";
  const own = labels.length > 2 ? labels.slice(0, -2) : [];
  return own.some((label) => staging.test(label)) || previews.test(name) ? "staging" : "public";
}

// Names that are reserved by https://www.rfc-editor.org/rfc/rfc6761, https://www.rfc-editor.org/rfc/rfc6762 and ICANN (`internal`), and two
// that local networks use.
const reservedNames = new Set(["local", "localhost", "test", "example", "invalid", "internal", "localdomain", "lan"]);
// Labels such as `staging`, `dev2`, `shop-test` and `staging-www`.
const staging =
  /^(?:[\w-]+-)?(?:staging|stage|stg|pre-?prod|uat|qa|dev|develop|test|testing|preview|sandbox|internal)\d*(?:-[\w-]+)?$/i;
// The domains on which hosting companies and tunnels publish previews.
const previews =
  /\.(?:vercel\.app|netlify\.app|pages\.dev|ngrok(?:-free)?\.(?:app|io|dev)|herokuapp\.com|azurewebsites\.net|wpengine\.com|kinsta\.cloud|myshopify\.com|trycloudflare\.com|loca\.lt)$/i;

/** Tells what robots.txt allows for the configured crawlers. */
export class RobotsAccess {
  readonly #agents: readonly string[];
  // The origins that the rules apply to: `https://example.org`.
  readonly #origins: readonly string[];
  // The rules of each crawler. Most crawlers share one set of rules.
  readonly #rules: readonly RobotsRules[];
  #closed: readonly RobotsRules[];
  /** Whether robots.txt was read, or certainly does not exist. */
  readonly isKnown: boolean;
  /** Whether there are too many rules and pages to compare all of them. */
  isSpent = false;

  /** Reads `text`, the robots.txt for the hosts of these URLs. Without it, nothing is known. */
  constructor(agents: readonly string[], urls: readonly string[] = [], text?: string) {
    this.#agents = agents;
    this.#origins = [...new Set(urls.map((url) => homepageOf(url).slice(0, -1)))];
    this.#rules = agents.map(ruleFinder(text ?? ""));
    this.#closed = [...new Set(this.#rules)].filter(({ isOpen }) => !isOpen);
    this.isKnown = text !== undefined;
  }

  /** Reads robots.txt from the tree. If the website has none, everything is allowed; if it could not be read, nothing is known. */
  static async of(tree: SitemapTree, { robots }: SiteContext, agents: readonly string[]): Promise<RobotsAccess> {
    const record = tree.discovery.find(({ by }) => by === "robots");
    if (robots === undefined) return new RobotsAccess(agents, [], record?.outcome === "absent" ? "" : undefined);
    let text = "";
    for await (const piece of tree.text(robots)) text += piece;
    // If robots.txt redirects to another host, its rules apply to both.
    return new RobotsAccess(agents, [tree.homepage, robots.url], text);
  }

  /**
   * Returns the names of the crawlers that may not fetch a URL, and whether the first (most important) crawler is among them. Returns
   * undefined if all may, or if this robots.txt does not tell.
   */
  blocked(url: string): { readonly agents: string; readonly isFirst: boolean } | undefined {
    if (this.#closed.length === 0) return undefined;
    const written = oddOrigin.test(url) ? (parseUrl(url)?.href ?? url) : url;
    const origin = this.#origins.find((each) => isAt(written, each));
    if (origin === undefined) return undefined;
    const path = pathOfUrl(written.slice(origin.length));
    let blocking: RobotsRules[] | undefined;
    for (const rules of this.#closed) {
      if (!rules.allows(path)) blocking = [...(blocking ?? []), rules];
      this.isSpent ||= rules.isSpent;
    }
    if (this.isSpent) this.#closed = [];
    if (blocking === undefined) return undefined;
    const agents = this.#agents.filter((_, index) => blocking.includes(this.#rules[index]!));
    return { agents: agents.join(", "), isFirst: agents[0] === this.#agents[0] };
  }
}

// An origin with capitals or a port, which may be written in another way than the website's.
const oddOrigin = /^[a-z]*[A-Z]|^\w+:\/\/[^/?#]*[A-Z:]/;

function isAt(url: string, origin: string): boolean {
  if (!url.startsWith(origin)) return false;
  const next = url.charAt(origin.length);
  return next === "" || next === "/" || next === "?" || next === "#";
}
