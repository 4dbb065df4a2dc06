// The homepage of a website: fetched once, beside the sitemaps of robots.txt, and read for its links. If robots.txt does
// not answer, it is requested early, to find out whether the whole website is down.
import type { Fetched, FetchedDocument } from "../model/exchange.ts";
import { type Problem, ProblemLog, problem } from "../model/problem.ts";
import { answeredAt, type Followed, type FollowRules, follow, Hop } from "./follow.ts";
import type { Abandoned } from "./frontier.ts";
import { type HomepageContent, readHomepage } from "./homepage.ts";
import type { Document } from "./read.ts";

// How long robots.txt may take before the homepage is requested beside it, in milliseconds. One after the other would
// take too long if neither answers.
const homepageDelay = 5000;

export interface HomepageOptions {
  readonly url: string;
  readonly rules: FollowRules;
  /** Answers for one hop. */
  readonly fetch: (hop: Hop) => Promise<Fetched>;
  /** The document, prepared for reading. */
  readonly read: (document: FetchedDocument) => Document;
  readonly drop: (document: FetchedDocument) => Promise<void>;
}

/** What a homepage is and names, and the problems with reading it. */
export interface LinksFound extends Pick<HomepageContent, "candidates"> {
  /** The URL that answered. */
  readonly place: string;
  /** If it is an HTML page: what a guess finds there. */
  readonly page?: Abandoned | undefined;
  readonly problems: readonly Problem[];
  readonly isUnreachable: boolean;
}

export class HomepageFetch {
  readonly #options: HomepageOptions;
  #url: string;
  #result: Promise<Followed<never>> | undefined;
  #outcome: Followed<never> | undefined;
  #links: Promise<LinksFound> | undefined;

  constructor(options: HomepageOptions) {
    this.#options = options;
    this.#url = options.url;
  }

  get url(): string {
    return this.#url;
  }

  /** The website is at another origin. What was requested before does not count. */
  moveTo(url: string): void {
    this.#url = url;
    this.#result = undefined;
    this.#links = undefined;
  }

  /** The result, if it was requested. */
  get outcome(): Followed<never> | undefined {
    return this.#outcome;
  }

  /** Rejects when the crawl is aborted. */
  get(): Promise<Followed<never>> {
    this.#result ??= this.#follow();
    return this.#result;
  }

  /** Starts after a delay, unless the returned function is called first. */
  beginLater(): () => void {
    const timer = setTimeout(() => {
      // `get` is called again by whoever needs the result, and rejects there.
      this.get().catch(() => undefined);
    }, homepageDelay);
    return () => clearTimeout(timer);
  }

  /** Read once. Rejects when the crawl is aborted. */
  links(): Promise<LinksFound> {
    this.#links ??= this.#read();
    return this.#links;
  }

  async #read(): Promise<LinksFound> {
    const { read, drop } = this.#options;
    const found = await this.get();
    const isUnreachable = found.outcome === "failed" && found.reason.code !== "archive-missing";
    const place = answeredAt(found) ?? this.#url;
    if (found.outcome !== "found") return { candidates: [], place, problems: [], isUnreachable };
    const { document, url, keys } = found;
    const problems = new ProblemLog();
    const { candidates, isPage } = await readHomepage(read(document), url, problems);
    await drop(document);
    const reason = problem("not-a-sitemap", { value: "html" });
    const page = { url, keys, result: { outcome: "not-a-sitemap", status: document.status, reason } } as const;
    return { candidates, place, ...(isPage && { page }), problems: problems.toArray(), isUnreachable };
  }

  async #follow(): Promise<Followed<never>> {
    const { rules, fetch } = this.#options;
    const first = Hop.first(this.#url, "homepage", rules);
    this.#outcome = await follow<never>(first, fetch, () => undefined);
    return this.#outcome;
  }
}
