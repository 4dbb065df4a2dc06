// Counts the dates of a whole website per day, classifies them by age, and finds the date that many pages share.

import { dayLength, hasTime } from "../../model/instant.ts";
import { CommonValue } from "../common-value.ts";
import { bounds } from "../rules/bounds.ts";

const firstDay = Math.floor(Date.UTC(bounds.firstYear, 0, 1) / dayLength);
// An archive may claim to be from the year 275760: a counter for each day until then would take 400 MB.
const lastMoment = Date.UTC(9999, 11, 31);
// The maximum age in days of each age class, except the last two: they are for older pages and for pages without a date.
const ageLimits = [30, 90, 182, 365, 730];
export const ageClasses: number = ageLimits.length + 2;
export const noDate: number = ageClasses - 1;
// A common date is reported if at least this many pages, and this share of the dated ones, have it.
const manyPages = 50;
const largeShare = 0.1;
// A common day must have half of all dates or this many times the average, because every day has many pages if there are few days.
const unusual = 4;

/** A day, and how many pages have it as their date. */
interface DayCount {
  /** The first instant of the day, in milliseconds. */
  readonly day: number;
  readonly pages: number;
}

export class DateCounts {
  readonly receivedAt: number;
  // Later dates count as being in the future. Earlier ones may be today's in another time zone.
  readonly #latest: number;
  readonly #days: Int32Array;
  readonly #thresholds: readonly number[];
  readonly #common = new CommonValue();
  // How many dates have no time of day.
  #dayOnly = 0;
  /** The newest date that is not after `receivedAt`, in milliseconds; undefined if there is none. */
  newest: number | undefined;
  dated = 0;
  /** How many dates are from before the web, and how many are in the future. */
  tooOld = 0;
  future = 0;

  /** Starts counting for a website that was received at `receivedAt`, in milliseconds. */
  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
    this.#latest = Math.min(receivedAt + bounds.future, lastMoment);
    this.#days = new Int32Array(Math.max(1, Math.floor(this.#latest / dayLength) - firstDay + 1));
    this.#thresholds = ageLimits.map((days) => receivedAt - days * dayLength);
  }

  /** Counts a date, and returns its age class. `instant` is in milliseconds, NaN for none. */
  add(instant: number, text: string | undefined): number {
    if (Number.isNaN(instant) || text === undefined) return noDate;
    this.dated += 1;
    this.#common.add(instant);
    if (!hasTime(text)) this.#dayOnly += 1;
    if (instant > this.#latest) {
      this.future += 1;
      return 0;
    }
    if (instant <= this.receivedAt) this.newest = Math.max(instant, this.newest ?? instant);
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

  /** The median age in days of the dates that are not in the future. Undefined if there are none, or half are older than the web. */
  get medianAge(): number | undefined {
    let left = Math.ceil((this.dated - this.future) / 2);
    if (left <= 0) return undefined;
    for (let index = this.#days.length - 1; index >= 0; index--) {
      left -= this.#days[index]!;
      if (left <= 0) return Math.max(0, Math.floor(this.receivedAt / dayLength) - firstDay - index);
    }
    return undefined;
  }

  /** The date that the most pages share, as a day or a time; undefined unless many pages share it. */
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
