// The instants of dates in sitemaps. The parser has normalized them to ISO 8601; `Date.parse` takes several times as
// long, and a large website has millions.

/** The first instant of a date, in milliseconds; NaN if it is not a date. A date without an offset is UTC. */
export function firstInstant(text: string): number {
  const { length } = text;
  // `2026-05-31T10:00:00+00:00` and its parts.
  if (length < 10 || text.charCodeAt(4) !== dash || text.charCodeAt(7) !== dash) return Date.parse(text);
  const day = dayNumber(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)) * dayLength;
  if (length === 10) return day;
  if (length < 20 || text.charCodeAt(13) !== colon || text.charCodeAt(16) !== colon) return Date.parse(text);
  const time = (digits(text, 11, 13) * 60 + digits(text, 14, 16)) * 60 + digits(text, 17, 19);
  if (length === 20 && text.charCodeAt(19) === upperZ) return day + time * 1000;
  if (length !== 25 || text.charCodeAt(22) !== colon) return Date.parse(text);
  const offset = (digits(text, 20, 22) * 60 + digits(text, 23, 25)) * 60_000;
  return day + time * 1000 + (text.charCodeAt(19) === dash ? offset : -offset);
}

/** The last instant of a date: a day, a month or a year lasts until its end. */
export function lastInstant(text: string): number {
  const first = firstInstant(text);
  if (hasTime(text)) return first;
  if (text.length === 10) return first + dayLength - 1;
  const date = new Date(first);
  if (text.length === 7) date.setUTCMonth(date.getUTCMonth() + 1);
  else date.setUTCFullYear(date.getUTCFullYear() + 1);
  return date.getTime() - 1;
}

/** Whether the date has a time of day. */
export function hasTime(text: string): boolean {
  return text.length > 10;
}

export const dayLength: number = 24 * 3600 * 1000;
const dash = 0x2d;
const colon = 0x3a;
const upperZ = 0x5a;

function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at++) number = number * 10 + text.charCodeAt(at) - 0x30;
  return number;
}

// Days since 1970 in the Gregorian calendar, with years that begin in March.
function dayNumber(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}

const counters = 64;

/**
 * The most common value of a list, with a few counters: the Space-Saving algorithm of Metwally, Agrawal and El Abbadi. The
 * result is a lower bound of the true count.
 */
export class CommonValue {
  readonly #values = new Float64Array(counters);
  readonly #counts = new Int32Array(counters);
  // By how much a count may be too high: the count of the value that it replaced.
  readonly #errors = new Int32Array(counters);
  #used = 0;
  #last = 0;

  add(value: number): void {
    if (this.#used > 0 && this.#values[this.#last] === value) {
      this.#counts[this.#last]!++;
      return;
    }
    let least = 0;
    for (let index = 0; index < this.#used; index++) {
      if (this.#values[index] === value) {
        this.#counts[index]!++;
        this.#last = index;
        return;
      }
      if (this.#counts[index]! < this.#counts[least]!) least = index;
    }
    const place = this.#used < counters ? this.#used++ : least;
    this.#errors[place] = this.#counts[place]!;
    this.#counts[place]!++;
    this.#values[place] = value;
    this.#last = place;
  }

  /** The most common value, and a lower bound of its count. */
  get top(): { readonly value: number; readonly count: number } {
    let best = 0;
    let count = 0;
    for (let index = 0; index < this.#used; index++) {
      const sure = this.#counts[index]! - this.#errors[index]!;
      if (sure > count) {
        best = index;
        count = sure;
      }
    }
    return { value: this.#values[best]!, count };
  }

  clear(): void {
    this.#counts.fill(0);
    this.#errors.fill(0);
    this.#used = 0;
    this.#last = 0;
  }
}
