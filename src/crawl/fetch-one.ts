// Fetches single documents, without a crawl: a sitemap for `sitegrove parse URL`, and pages for `check --sample`. Pages are fetched only where
// robots.txt allows it; their redirects are not followed, and only their beginning is read.
import type { Fetcher } from "../fetch/fetcher.ts";
import { type DocumentRole, type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";
import { type Options, resolveOptions, type Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { parseUrl } from "../model/url.ts";
import { ruleFinder } from "../parse/robots-rules.ts";
import { type Followed, type FollowFailure, follow, followRules, Hop, redirectTarget } from "./follow.ts";
import { prepare } from "./prepare.ts";
import { type Document, textOf } from "./read.ts";

export interface OpenedDocument {
  readonly outcome: "found";
  readonly document: Document;
  /** Problems with the redirects that led to it. */
  readonly problems: readonly Problem[];
  /** Ends the fetch, if it is still running. */
  close(): Promise<void>;
}

/** Rejects with the reason of `options.signal`. The document has to be closed. */
export async function fetchDocument(url: string, options: Options): Promise<OpenedDocument | FollowFailure> {
  const website = await Website.open(resolveOptions(options), [url]);
  try {
    const found = await website.follow(url, "sitemap");
    if (found.outcome === "found") {
      const { document, problems } = found;
      return { outcome: "found", document: { ...document, url: found.url }, problems, close: () => website.close() };
    }
    await website.close();
    return found as FollowFailure;
  } catch (error) {
    await website.close();
    throw error;
  }
}

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
  const { settings, startUrls } = prepare({ homepage }, crawl);
  const limits = { ...settings.limits, documentBytes: mostBytes };
  // A page that fails is a finding; one retry is enough to rule out a hiccup.
  const own: Settings = { ...settings, limits, retries: Math.min(settings.retries, 1) };
  return Website.open(own, isNamed ? startUrls : []);
}

// With more origins than this, the pages are no sample of one website.
const mostOrigins = 100;

class Website implements PageFetch {
  readonly #fetcher: Fetcher;
  readonly #settings: Settings;
  readonly #startUrls: readonly string[];
  // For each origin, which URLs may be fetched.
  readonly #robots = new Map<string, Promise<(url: string) => boolean>>();

  private constructor(fetcher: Fetcher, settings: Settings, startUrls: readonly string[]) {
    this.#fetcher = fetcher;
    this.#settings = settings;
    this.#startUrls = startUrls;
  }

  static async open(settings: Settings, startUrls: readonly string[]): Promise<Website> {
    const { createFetcher } = await import("../fetch/fetcher.ts");
    const fetcher = createFetcher({ settings, start: startUrls, onEvent: settings.onEvent });
    return new Website(fetcher, settings, startUrls);
  }

  follow(url: string, role: DocumentRole): Promise<Followed<never>> {
    const { limits, rewrite, signal } = this.#settings;
    const rules = followRules(limits, this.#startUrls, this.#fetcher, rewrite);
    return follow<never>(
      Hop.first(url, role, rules),
      async ({ request }) => {
        const fetched = await this.#fetcher.fetch({ ...request, signal });
        rules.cookies.take(fetched);
        return fetched;
      },
      () => undefined,
    );
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

  async #htmlOf(fetched: FetchedDocument): Promise<string> {
    if (/html|^\s*$/i.test(header(fetched.headers, "content-type") ?? "")) return this.#textOf(fetched);
    // Leaving the body unread releases the connection.
    for await (const _ of fetched.body) break;
    return "";
  }

  async #textOf(document: Document): Promise<string> {
    let text = "";
    for await (const piece of textOf(document, this.#settings)) text += piece;
    return text;
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
    const robots = await this.follow(`${origin}/robots.txt`, "robots");
    if (robots.outcome !== "found") {
      const isUnreachable = isRobotsUnreachable(robots as FollowFailure);
      return () => !isUnreachable;
    }
    const agent = /^[\w.-]*/.exec(this.#settings.userAgent)?.[0] ?? "";
    const rules = ruleFinder(await this.#textOf({ ...robots.document, isRobots: true }))(agent);
    return (url) => rules.allows(pathOf(url)) && !rules.isSpent;
  }
}

function pathOf(url: string): string {
  const { pathname = "/", search = "" } = parseUrl(url) ?? {};
  return pathname + search;
}
