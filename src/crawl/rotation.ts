// Chooses what to request in this run, among what is not requested in every run: first what was left out most often.
// Ties are decided by the date, so that runs on the same archive take turns, too.
import { createHash } from "node:crypto";

export interface Waiting {
  readonly url: string;
  /** For how many runs in a row it was not requested. */
  readonly runsNotAsked: number;
}

/** The `count` that are next. `date`: the day, which breaks ties. */
export function nextInTurn<T extends Waiting>(waiting: readonly T[], count: number, date: string): T[] {
  return waiting
    .map((one) => ({ one, order: orderOf(one.url, date) }))
    .sort((a, b) => b.one.runsNotAsked - a.one.runsNotAsked || a.order - b.order)
    .slice(0, count)
    .map(({ one }) => one);
}

/** A seventh, rounded up or down by the date. */
export function seventhOf(count: number, url: string, date: string): number {
  return Math.floor(count / 7) + (orderOf(url, date) % 7 < count % 7 ? 1 : 0);
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function orderOf(url: string, date: string): number {
  return createHash("md5").update(`${date} ${url}`).digest().readUIntBE(0, 6);
}
