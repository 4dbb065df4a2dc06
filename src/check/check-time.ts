// Keeps the times of a check: its time limit, and when the documents were received.
import { pauseWhenDue } from "../crawl/read.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { partsOf, type SitemapTree } from "../tree/tree.ts";

/** The time limit of a check. When it is reached, the check ends with the findings so far, and lists the rules it did not check. */
export class CheckTime {
  readonly #until: number;
  readonly #signal: AbortSignal | undefined;

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.#until = performance.now() + milliseconds;
    this.#signal = signal;
  }

  get left(): number {
    return Math.max(0, this.#until - performance.now());
  }

  get isUp(): boolean {
    return this.left === 0;
  }

  /** Pauses if that is due, and returns whether the time is up. */
  async isOver(): Promise<boolean> {
    await this.turn();
    return this.isUp;
  }

  /** Pauses if that is due, so that timers, signals and other websites get a turn. Then rejects if the signal was aborted. */
  turn(): Promise<void> | undefined {
    return pauseWhenDue()?.then(() => this.#signal?.throwIfAborted());
  }
}

/**
 * Knows when documents were received, or last confirmed by the website as unchanged. Rules compare dates with this time, so that two
 * checks of one archive give the same result.
 */
export class Receipt {
  readonly #tree: SitemapTree;
  readonly #given: number | undefined;
  readonly #now = Date.now();

  /** Creates a receipt for a tree. If `given` is a time in milliseconds, it applies to all documents. */
  constructor(tree: SitemapTree, given: number | undefined) {
    this.#tree = tree;
    this.#given = given;
  }

  /** Returns when a sitemap was received, in milliseconds. If that is not known, as for local files, returns when the check began. */
  async of(sitemap: Sitemap): Promise<number> {
    return this.#given ?? (await this.#known(sitemap)) ?? this.#now;
  }

  /** Returns when the first sitemap was received or, if there is none, when discovery first got a response or tried to. */
  async ofWebsite(): Promise<number> {
    if (this.#given !== undefined) return this.#given;
    for (const sitemap of this.#tree.sitemaps()) {
      const known = await this.#known(sitemap);
      if (known !== undefined) return known;
    }
    const { documents } = partsOf(this.#tree);
    for (const { url } of this.#tree.discovery.slice(0, mostTried)) {
      const { receivedAt, revalidatedAt = receivedAt } = await documents.fetch({ url, role: "sitemap" });
      const tried = Date.parse(revalidatedAt ?? "");
      if (!Number.isNaN(tried)) return tried;
    }
    return this.#now;
  }

  async #known(sitemap: Sitemap): Promise<number | undefined> {
    const { receivedAt, revalidatedAt = receivedAt } = (await this.#tree.response(sitemap)) ?? {};
    return revalidatedAt === undefined ? undefined : Date.parse(revalidatedAt);
  }
}

const mostTried = 100;
