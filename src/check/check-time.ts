// The times of a check: its time limit, and when the documents were received.
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

  /** Takes a turn, and returns whether the time is up. */
  async isOver(): Promise<boolean> {
    await this.turn();
    return this.isUp;
  }

  /** Lets timers, signals and other websites act, if that is due. Rejects with the reason of an aborted signal. */
  turn(): Promise<void> | undefined {
    return pauseWhenDue()?.then(() => this.#signal?.throwIfAborted());
  }
}

/**
 * When documents were received, or the website said that they are still the same. Dates are compared with this time, so that two checks of
 * one archive give the same result.
 */
export class Receipt {
  readonly #tree: SitemapTree;
  readonly #given: number | undefined;
  readonly #now = Date.now();

  /** `given` applies to all documents, in milliseconds. */
  constructor(tree: SitemapTree, given: number | undefined) {
    this.#tree = tree;
    this.#given = given;
  }

  /** When a sitemap was received, in milliseconds; now, if it did not come from a server. */
  async of(sitemap: Sitemap): Promise<number> {
    return this.#given ?? (await this.#known(sitemap)) ?? this.#now;
  }

  /** The time of the first document; if there is none, of the first response or attempt. */
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
