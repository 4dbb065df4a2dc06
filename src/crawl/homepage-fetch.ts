// The homepage of a website: fetched once, and read for its links at the end. If robots.txt does not answer, it is
// requested early, to find out whether the whole website is down.
import type { Candidate } from "../discover/candidates.ts";
import type { Fetched, FetchedDocument } from "../model/exchange.ts";
import { type Problem, ProblemLog } from "../model/problem.ts";
import { type Followed, type FollowRules, follow, Hop } from "./follow.ts";
import { linksInHomepage } from "./homepage.ts";
import type { Document } from "./read.ts";

// How long robots.txt may take before the homepage is requested beside it, in milliseconds. One after the other would
// take too long if neither answers.
const homepageDelay = 5000;

export interface HomepageOptions {
  readonly url: string;
  readonly rules: FollowRules;
  /** Answers for one hop. */
  readonly fetch: (hop: Hop) => Promise<Fetched>;
  /** Whether the answer of an earlier run is used instead of a request. */
  readonly isNotAsked: () => boolean;
  /** The document, prepared for reading. */
  readonly read: (document: FetchedDocument) => Document;
  readonly drop: (document: FetchedDocument) => Promise<void>;
}

/** The sitemaps that a homepage names, and the problems with reading it. */
export interface LinksFound {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly Problem[];
  readonly isUnreachable: boolean;
}

export class HomepageFetch {
  readonly #options: HomepageOptions;
  #result: Promise<Followed<never>> | undefined;
  #outcome: Followed<never> | undefined;
  #links: Promise<LinksFound> | undefined;

  constructor(options: HomepageOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
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
    if (found.outcome !== "found") return { candidates: [], problems: [], isUnreachable };
    const { document, url } = found;
    const problems = new ProblemLog();
    const candidates = await linksInHomepage(read(document), url, problems);
    await drop(document);
    return { candidates, problems: problems.toArray(), isUnreachable };
  }

  async #follow(): Promise<Followed<never>> {
    const { url, rules, fetch, isNotAsked } = this.#options;
    const first = Hop.first(url, "homepage", rules, isNotAsked() ? "guess" : undefined);
    this.#outcome = await follow<never>(first, fetch, () => undefined);
    return this.#outcome;
  }
}
