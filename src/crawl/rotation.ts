// What is not asked for in every run: those that were left out most often come first. Among equals the date decides, so that runs
// that all build on the same archive take turns, too.
import { createHash } from "node:crypto";

export interface Waiting {
  readonly url: string;
  /** In how many runs on end the website was not asked. */
  readonly runsNotAsked: number;
}

/** The `count` whose turn it is. `date` tells one day from another. */
export function nextInTurn<T extends Waiting>(waiting: readonly T[], count: number, date: string): T[] {
  return waiting
    .map((one) => ({ one, order: orderOf(one.url, date) }))
    .sort((a, b) => b.one.runsNotAsked - a.one.runsNotAsked || a.order - b.order)
    .slice(0, count)
    .map(({ one }) => one);
}

/** One in seven; what remains of a division counts now and then, as the date will have it. */
export function seventhOf(count: number, url: string, date: string): number {
  return Math.floor(count / 7) + (orderOf(url, date) % 7 < count % 7 ? 1 : 0);
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function orderOf(url: string, date: string): number {
  return createHash("md5").update(`${date} ${url}`).digest().readUIntBE(0, 6);
}
