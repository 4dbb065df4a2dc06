// The dates of a whole website: one counter per day, the age class of each page, and the date that many pages share.
import { CommonValue } from "../model/common-value.ts";
import { dayLength, hasTime } from "../model/instant.ts";
import { bounds } from "./bounds.ts";

const firstDay = Math.floor(Date.UTC(bounds.firstYear, 0, 1) / dayLength);
// An archive may claim to be from the year 275760: a counter for each day until then would take 400 MB.
const lastMoment = Date.UTC(9999, 11, 31);
// The maximum age in days of each age class but the last two, which are for older pages, and for those without a date.
const ageLimits = [30, 90, 182, 365, 730];
export const ageClasses: number = ageLimits.length + 2;
export const noDate: number = ageClasses - 1;
// The least number and share of pages for which a common date is reported.
const manyPages = 50;
const largeShare = 0.1;
// A common day must have this many times the average, because each of a few days has many pages.
const unusual = 4;

/** A day and its pages. */
interface DayCount {
  /** Its first instant, in milliseconds. */
  readonly day: number;
  readonly pages: number;
}

export class DateCounts {
  readonly receivedAt: number;
  // Dates after this are in the future.
  readonly #latest: number;
  readonly #days: Int32Array;
  readonly #thresholds: readonly number[];
  readonly #common = new CommonValue();
  // Dates without a time of day.
  #dayOnly = 0;
  /** Undefined if no page has a date. */
  newest: number | undefined;
  dated = 0;
  /** Dates from before the web, and from after the time of receipt. */
  tooOld = 0;
  future = 0;

  /** `receivedAt` is when the website was received, in milliseconds. */
  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
    this.#latest = Math.min(receivedAt + bounds.future, lastMoment);
    this.#days = new Int32Array(Math.max(1, Math.floor(this.#latest / dayLength) - firstDay + 1));
    this.#thresholds = ageLimits.map((days) => receivedAt - days * dayLength);
  }

  /** `instant` in milliseconds, NaN for none. Returns the age class. */
  add(instant: number, text: string | undefined): number {
    if (Number.isNaN(instant) || text === undefined) return noDate;
    this.dated += 1;
    this.#common.add(instant);
    if (!hasTime(text)) this.#dayOnly += 1;
    if (instant > this.#latest) {
      this.future += 1;
      return 0;
    }
    this.newest = Math.max(instant, this.newest ?? instant);
    const day = Math.floor(instant / dayLength) - firstDay;
    if (day < 0) this.tooOld += 1;
    else this.#days[day]! += 1;
    const thresholds = this.#thresholds;
    for (let age = 0; age < thresholds.length; age++) if (instant >= thresholds[age]!) return age;
    return thresholds.length;
  }

  /** The days with pages, in order. */
  days(): DayCount[] {
    return Array.from(this.#days, (pages, index) => ({ day: (firstDay + index) * dayLength, pages })).filter(
      ({ pages }) => pages > 0,
    );
  }

  /** In days: half of the pages with a date changed since then. Undefined if there is none, or half are older than the web. */
  get medianAge(): number | undefined {
    let left = Math.ceil((this.dated - this.future) / 2);
    if (left <= 0) return undefined;
    for (let index = this.#days.length - 1; index >= 0; index--) {
      left -= this.#days[index]!;
      if (left <= 0) return Math.max(0, Math.floor(this.receivedAt / dayLength) - firstDay - index);
    }
    return undefined;
  }

  /** The date that most pages share, if there are many: a day, or a time. */
  get common(): { readonly at: string; readonly pages: number } | undefined {
    const { value: instant, count } = this.#common.top;
    if (count < manyPages || count < this.dated * largeShare) return undefined;
    const text = new Date(instant).toISOString();
    const isDay = instant % dayLength === 0 && this.#dayOnly >= count;
    const days = this.days();
    const average = pagesIn(days) / Math.max(1, days.length);
    if (isDay && count < this.dated / 2 && count < unusual * average) return undefined;
    return { at: isDay ? text.slice(0, 10) : `${text.slice(0, 19)}Z`, pages: count };
  }
}

export function pagesIn(list: readonly { readonly pages: number }[]): number {
  return list.reduce((sum, { pages }) => sum + pages, 0);
}
