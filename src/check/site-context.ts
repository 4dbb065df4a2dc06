// What rules know about the website: how each sitemap was found, what names it, and what robots.txt says.
import type { DiscoveryRecord } from "../model/event.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import { parseUrl, urlKey } from "../model/url.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { type Origin, readOrigin } from "./hosts.ts";
import type { Location } from "./sitemap-context.ts";

export class SiteContext {
  readonly homepage: string;
  readonly homeHost: string;
  readonly discovery: readonly DiscoveryRecord[];
  /** Sitemaps were looked for, as opposed to given. */
  readonly isSite: boolean;
  readonly robots: IndexSitemap | undefined;
  readonly #foundBy = new Map<string, DiscoveryRecord["by"]>();
  readonly #named: ReadonlySet<string>;
  // Sitemaps that robots.txt names, and everything below them.
  readonly #submitted = new Set<string>();
  readonly #robotsHosts: ReadonlySet<string>;

  constructor(tree: SitemapTree) {
    this.homepage = tree.homepage;
    this.homeHost = originOf(tree.homepage)?.host ?? "";
    this.discovery = tree.discovery;
    this.isSite = !tree.discovery.some(({ by }) => by === "given");
    this.robots = tree.root.children.find(isRobots);
    this.#named = new Set(this.robots?.children.map(({ url, declaredUrl }) => declaredUrl ?? url));
    if (this.robots !== undefined) for (const { url } of tree.sitemaps(this.robots)) this.#submitted.add(url);
    const robotsHost = this.robots === undefined ? undefined : originOf(this.robots.url)?.host;
    this.#robotsHosts = robotsHost === undefined ? nobody : new Set([robotsHost, this.homeHost]);
    for (const { url, finalUrl, by } of tree.discovery) {
      for (const found of [url, finalUrl ?? url]) {
        const key = urlKey(found);
        if (!this.#foundBy.has(key)) this.#foundBy.set(key, by);
      }
    }
  }

  /** Whether the robots.txt of the website names a sitemap. */
  isNamedByRobots(sitemap: Sitemap): boolean {
    return this.#named.has(sitemap.declaredUrl ?? sitemap.url);
  }

  /** The hosts whose pages may be in a sitemap because their robots.txt names it. */
  submittedBy(sitemap: Sitemap): ReadonlySet<string> {
    return this.#submitted.has(sitemap.url) ? this.#robotsHosts : nobody;
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
  const parsed = parseUrl(url);
  const origin = originOf(url);
  if (parsed === null || origin === undefined) return undefined;
  const { pathname } = parsed;
  return { origin, start: parsed.origin, directory: parsed.origin + pathname.slice(0, pathname.lastIndexOf("/") + 1) };
}

function originOf(url: string): Origin | undefined {
  const parsed = parseUrl(url);
  return parsed === null ? undefined : readOrigin(parsed.origin);
}
