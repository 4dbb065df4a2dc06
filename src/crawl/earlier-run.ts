// What a run with `previous` need not request, because an earlier run did: well-known paths without a sitemap, and, with
// `trustLastmod`, children of an index that gives them the same `lastmod`. Some are requested all the same, each day others.
import { createHash } from "node:crypto";
import { ArchivedBody } from "../archive/archived-body.ts";
import type { PreviousArchives } from "../archive/previous.ts";
import type { Settings } from "../model/options.ts";
import { isTemporary, problem } from "../model/problem.ts";
import { follow, type Hop } from "./follow.ts";
import { type Document, read } from "./read.ts";
import type { Reference } from "./record.ts";

export const guessDays = 11;
export const trustedDays = 7;

/** Whether this is the day to request a URL that is requested about every so many days. */
export function isDue(url: string, days: number, date: string = new Date().toISOString().slice(0, 10)): boolean {
  return createHash("md5").update(`${date} ${url}`).digest().readUInt32BE() % days === 0;
}

export class EarlierRun {
  readonly #previous: PreviousArchives;
  readonly #settings: Settings;
  /** Whether robots.txt is the same; known once it was read. */
  readonly isRobotsTheSame: () => boolean;

  constructor(previous: PreviousArchives, settings: Settings, isRobotsTheSame: () => boolean) {
    this.#previous = previous;
    this.#settings = settings;
    this.isRobotsTheSame = isRobotsTheSame;
  }

  /** Whether there was a sitemap; undefined if it is not certain, or today is the day to look again. */
  async hadSitemap(first: Hop): Promise<boolean | undefined> {
    const had = await this.#hadSitemap(first);
    return had === false && isDue(first.url, guessDays) ? undefined : had;
  }

  async #hadSitemap(first: Hop): Promise<boolean | undefined> {
    const before = await follow<never>(
      first,
      async ({ request }) =>
        (await this.#previous.answer(request)) ??
        ({ outcome: "failed", ...request, attempts: 0, reason: problem("archive-missing") } as const),
      () => undefined,
    );
    if (before.outcome === "absent") return false;
    if (before.outcome === "blocked") {
      // Too many requests, or a bot check: may be gone next time.
      const { status, reason } = before;
      return reason.code === `http-${status}` && !isTemporary(reason.code) ? false : undefined;
    }
    if (before.outcome !== "found") return undefined;
    const { document } = before;
    if (!(document.body instanceof ArchivedBody) || document.body.problem !== undefined) return undefined;
    if (await this.#isSitemap(document)) return true;
    return (await document.body.isGood()) ? false : undefined;
  }

  /** The same references; those that need no request are marked. `index` is the URL where the index was found. */
  async marked(index: string, references: Reference[]): Promise<Reference[]> {
    const dated = new Map<string, number>();
    for (const [at, { url, lastModified }] of references.entries()) {
      if (lastModified !== undefined && !dated.has(url)) dated.set(url, at);
    }
    const request = { url: index, role: "sitemap" } as const;
    const isTrusted = this.#settings.trustLastmod && dated.size > 0;
    const before = isTrusted ? await this.#previous.document(request) : undefined;
    if (before === undefined) return references;
    for await (const { sitemaps } of read({ ...before, url: index }, this.#settings)) {
      for (const { url, lastModified } of sitemaps) {
        const at = dated.get(url);
        if (at === undefined) continue;
        // Only the first declaration of a child counts.
        dated.delete(url);
        const reference = references[at] as Reference;
        if (reference.lastModified !== lastModified || isDue(url, trustedDays)) continue;
        const isOfSameRun = await this.#previous.isOfRunOf({ url, role: "sitemap" }, request);
        if (isOfSameRun && (await this.#wasWhole(url))) references[at] = { ...reference, notAsked: "unchanged" };
      }
    }
    return references;
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

  // Reads up to the first entry; if there is none, to the end.
  async #isSitemap(document: Document): Promise<boolean> {
    const reading = read(document, this.#settings);
    const step = await reading.next();
    if (step.done) return step.value.outcome.kind !== "invalid";
    await reading.return(undefined as never);
    return true;
  }
}
