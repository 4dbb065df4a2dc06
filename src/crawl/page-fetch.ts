// Fetches single pages of a website, for `check --sample`: through the same client and throttle as sitemaps, and only
// where robots.txt allows it. Redirects of pages are not followed, and only the beginning of a page is read.

import type { Fetcher } from "../fetch/fetcher.ts";
import { type Fetched, type HeaderList, header } from "../model/exchange.ts";
import type { Options, Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { parseUrl } from "../model/url.ts";
import { ruleFinder } from "../parse/robots-rules.ts";
import { type FollowRules, follow, followRules, Hop } from "./follow.ts";
import { prepare } from "./prepare.ts";
import { textOf } from "./read.ts";
import { redirectTarget } from "./redirect-target.ts";

/** How a page answered. */
export interface PageAnswer {
  /** `disallowed`: robots.txt disallows it, and nothing was sent. */
  readonly outcome: "found" | "redirect" | "absent" | "blocked" | "failed" | "refused" | "disallowed";
  readonly status?: number | undefined;
  readonly headers: HeaderList;
  readonly reason?: Problem | undefined;
  /** Where a redirect leads; if nowhere, `reason` says why. */
  readonly target?: string | undefined;
  /** The beginning of an HTML page; empty for anything else. */
  readonly html: string;
}

export interface PageFetch {
  /** May be called many times at once. Rejects only with the reason of a signal. */
  page(url: string): Promise<PageAnswer>;
  close(): Promise<void>;
}

export interface PageFetchOptions {
  readonly homepage: string;
  /** Private addresses and the caller's headers are allowed for the origin of a homepage that the caller named. */
  readonly isNamed: boolean;
  readonly crawl: Options | undefined;
  /** How much of a page is read. */
  readonly mostBytes: number;
}

export async function openPageFetch({ homepage, isNamed, crawl, mostBytes }: PageFetchOptions): Promise<PageFetch> {
  const { settings, startUrls: named } = prepare({ homepage }, crawl);
  const startUrls = isNamed ? named : [];
  const limits = { ...settings.limits, documentBytes: mostBytes };
  // A page that fails is a finding; one retry is enough to rule out a hiccup.
  const own: Settings = { ...settings, limits, retries: Math.min(settings.retries, 1) };
  const { createFetcher } = await import("../fetch/fetcher.ts");
  const fetcher = createFetcher({ settings: own, start: startUrls, onEvent: (event) => settings.onEvent?.(event) });
  return new Pages(fetcher, own, followRules(limits, startUrls, fetcher));
}

class Pages implements PageFetch {
  readonly #fetcher: Fetcher;
  readonly #settings: Settings;
  readonly #rules: FollowRules;
  readonly #agent: string;
  // For each origin, which URLs may be fetched.
  readonly #robots = new Map<string, Promise<(url: string) => boolean>>();

  constructor(fetcher: Fetcher, settings: Settings, rules: FollowRules) {
    this.#fetcher = fetcher;
    this.#settings = settings;
    this.#rules = rules;
    this.#agent = /^[\w.-]*/.exec(settings.userAgent)?.[0] ?? "";
  }

  async page(url: string): Promise<PageAnswer> {
    const allows = await this.#rulesOf(parseUrl(url)?.origin ?? "");
    if (!allows(url)) return { outcome: "disallowed", headers: [], html: "" };
    const fetched = await this.#fetcher.fetch({ url, role: "homepage" });
    const { outcome, status, headers = [] } = fetched;
    if (outcome === "found") return { outcome, status, headers, html: await this.#htmlOf(fetched) };
    if (outcome !== "redirect") return { outcome, status, headers, reason: fetched.reason, html: "" };
    const redirect = redirectTarget(headers, url, this.#settings.limits.urlLength);
    if ("code" in redirect) return { outcome, status, headers, reason: redirect, html: "" };
    return { outcome, status, headers, target: redirect.target.href, html: "" };
  }

  close(): Promise<void> {
    return this.#fetcher.close();
  }

  async #htmlOf(fetched: Extract<Fetched, { outcome: "found" }>): Promise<string> {
    const type = header(fetched.headers, "content-type") ?? "";
    if (!/html|^\s*$/i.test(type)) {
      // Leaving the body unread releases the connection.
      for await (const _ of fetched.body) break;
      return "";
    }
    let html = "";
    for await (const piece of textOf({ ...fetched }, this.#settings)) html += piece;
    return html;
  }

  #rulesOf(origin: string): Promise<(url: string) => boolean> {
    let rules = this.#robots.get(origin);
    if (rules === undefined) {
      rules = this.#robots.size < mostOrigins ? this.#readRobots(origin) : Promise.resolve(() => false);
      this.#robots.set(origin, rules);
    }
    return rules;
  }

  // https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1: without a robots.txt everything is allowed; with one that
  // cannot be reached, nothing is.
  async #readRobots(origin: string): Promise<(url: string) => boolean> {
    const first = Hop.first(`${origin}/robots.txt`, "robots", this.#rules);
    const robots = await follow<never>(
      first,
      async (hop) => {
        const fetched = await this.#fetcher.fetch(hop.request);
        this.#rules.cookies.take(fetched);
        return fetched;
      },
      () => undefined,
    );
    if (robots.outcome === "found") return this.#parse(robots.document);
    const isUnreachable = isRobotsUnreachable(robots);
    return () => !isUnreachable;
  }

  async #parse(fetched: Extract<Fetched, { outcome: "found" }>): Promise<(url: string) => boolean> {
    let text = "";
    for await (const piece of textOf({ ...fetched, isRobots: true }, this.#settings)) text += piece;
    const rules = ruleFinder(text)(this.#agent);
    return (url) => rules.allows(pathOf(url)) && !rules.isSpent;
  }
}

function pathOf(url: string): string {
  const { pathname = "/", search = "" } = parseUrl(url) ?? {};
  return pathname + search;
}

// With more origins than this, the pages are no sample of one website.
const mostOrigins = 100;
