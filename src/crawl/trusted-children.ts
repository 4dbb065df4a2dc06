// `trustLastmod`: children of an index whose `lastmod` is the same as in the previous run are not requested, except for
// a seventh of them, in rotation, because an index may be wrong.

import type { PreviousArchives } from "../archive/previous.ts";
import type { Settings } from "../model/options.ts";
import { read } from "./read.ts";
import type { Reference } from "./record.ts";
import { nextInTurn, seventhOf, today, type Waiting } from "./rotation.ts";

interface Child extends Waiting {
  // Its position among the references.
  readonly at: number;
}

export class TrustedChildren {
  readonly #previous: PreviousArchives;
  readonly #settings: Settings;
  readonly #date = today();

  constructor(previous: PreviousArchives, settings: Settings) {
    this.#previous = previous;
    this.#settings = settings;
  }

  /** The same references; those that need no request are marked. `index` is the URL where the index was found. */
  async marked(index: string, references: Reference[]): Promise<Reference[]> {
    const unchanged = await this.#unchanged(index, references);
    const count = seventhOf(unchanged.length, index, this.#date);
    const asked = new Set(nextInTurn(unchanged, count, this.#date));
    for (const child of unchanged) {
      const { at } = child;
      if (!asked.has(child)) references[at] = { ...(references[at] as Reference), notAsked: "unchanged" };
    }
    return references;
  }

  async #unchanged(index: string, references: readonly Reference[]): Promise<Child[]> {
    const dated = new Map<string, number>();
    for (const [at, { url, lastModified }] of references.entries()) {
      if (lastModified !== undefined && !dated.has(url)) dated.set(url, at);
    }
    const request = { url: index, role: "sitemap" } as const;
    const before = dated.size === 0 ? undefined : await this.#previous.document(request);
    if (before === undefined) return [];
    const unchanged: Child[] = [];
    for await (const { sitemaps } of read({ ...before, url: index }, this.#settings)) {
      for (const { url, lastModified } of sitemaps) {
        const at = dated.get(url);
        if (at === undefined) continue;
        // Only the first declaration of a child counts.
        dated.delete(url);
        if (references[at]?.lastModified !== lastModified) continue;
        const runsNotAsked = await this.#previous.runsNotAsked({ url, role: "sitemap" }, request);
        if (runsNotAsked !== undefined && (await this.#wasWhole(url))) unchanged.push({ url, runsNotAsked, at });
      }
    }
    return unchanged;
  }

  // Where something was missing, or there was no sitemap, the website may have mended it without another date.
  async #wasWhole(url: string): Promise<boolean> {
    const request = { url, role: "sitemap" } as const;
    if (await this.#previous.wasReadWhole(request)) return true;
    const before = await this.#previous.document(request);
    if (before === undefined) return false;
    const reading = read({ ...before, url }, this.#settings);
    let step = await reading.next();
    while (!step.done) step = await reading.next(true);
    return step.value.complete && step.value.outcome.kind !== "invalid";
  }
}
