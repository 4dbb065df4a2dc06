// When pages last changed: one counter a day, the age class of each page, and the time that most pages share.
import { bounds } from "../check/bounds.ts";
import { CommonValue } from "../check/common-value.ts";
import { dayLength, hasTime } from "../check/instant.ts";
import { noDate } from "./sections.ts";

const firstDay = Math.floor(Date.UTC(bounds.firstYear, 0, 1) / dayLength);
// A limit, because an archive may claim to be from the year 275760: a counter for each day until then would take 400
// MB.
const lastMoment = Date.UTC(9999, 11, 31);
// The maximum age in days of each age class but the last.
const ageLimits = [30, 90, 182, 365, 730];

export class DateCounts {
  readonly #receivedAt: number;
  // Later dates are in the future.
  readonly #latest: number;
  readonly #days: Int32Array;
  readonly #thresholds: readonly number[];
  readonly #common = new CommonValue();
  #newest = Number.NEGATIVE_INFINITY;
  dated = 0;
  /** Dates from before the web, and from after the time of receipt. */
  tooOld = 0;
  future = 0;
  /** Dates without a time of day. */
  dayOnly = 0;

  constructor(receivedAt: number) {
    this.#receivedAt = receivedAt;
    this.#latest = Math.min(receivedAt + bounds.future, lastMoment);
    this.#days = new Int32Array(Math.max(1, Math.floor(this.#latest / dayLength) - firstDay + 1));
    this.#thresholds = ageLimits.map((days) => receivedAt - days * dayLength);
  }

  /** `instant` in milliseconds, NaN for none. Returns the age class. */
  add(instant: number, text: string | undefined): number {
    if (Number.isNaN(instant) || text === undefined) return noDate;
    this.dated += 1;
    this.#common.add(instant);
    if (!hasTime(text)) this.dayOnly += 1;
    if (instant > this.#latest) {
      this.future += 1;
      return 0;
    }
    if (instant > this.#newest) this.#newest = instant;
    const day = Math.floor(instant / dayLength) - firstDay;
    if (day < 0) this.tooOld += 1;
    else this.#days[day]! += 1;
    const thresholds = this.#thresholds;
    for (let age = 0; age < thresholds.length; age++) if (instant >= thresholds[age]!) return age;
    return thresholds.length;
  }

  /** The time that most pages share, and a lower bound of their number. */
  get common(): { readonly instant: number; readonly count: number } {
    const { value, count } = this.#common.top;
    return { instant: value, count };
  }

  /** Undefined if no page has a date. */
  get newest(): number | undefined {
    return Number.isFinite(this.#newest) ? this.#newest : undefined;
  }

  /** Days with pages, in order: the first instant of each in milliseconds, and the number of pages. */
  *days(): Generator<{ readonly day: number; readonly pages: number }, void> {
    for (const [index, pages] of this.#days.entries()) {
      if (pages > 0) yield { day: (firstDay + index) * dayLength, pages };
    }
  }

  /** In days: half of the pages with a date changed since then. Undefined if there is none, or half are older than the web. */
  get medianAge(): number | undefined {
    let left = Math.ceil((this.dated - this.future) / 2);
    if (left <= 0) return undefined;
    for (let index = this.#days.length - 1; index >= 0; index--) {
      left -= this.#days[index]!;
      if (left <= 0) return Math.max(0, Math.floor(this.#receivedAt / dayLength) - firstDay - index);
    }
    return undefined;
  }
}
