// The value of --since: a date as websites write them, or a time span back from now. Dates may be partial (2024-05):
// the end of the period counts, so that a page that may have changed since is kept.
import { UsageError } from "./exit-codes.ts";

/** The instant in milliseconds: `2024-05-01`, `2024-05-01T12:00Z`, `36h`, `7d`, `2w`. */
export function sinceInstant(text: string, now: number = Date.now()): number {
  const span = /^(\d{1,6})([hdw])$/.exec(text);
  if (span !== null) return now - Number(span[1]) * spans[span[2] as keyof typeof spans];
  const instant = isoDate.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instant)) {
    throw new UsageError(`--since takes a date such as 2024-05-31, or a time span such as 36h, 7d or 2w, not ${text}`);
  }
  return instant;
}

/** The last instant of a date, in milliseconds; NaN if it is not a date. */
export function lastInstant(date: string): number {
  const end = new Date(date);
  if (date.length === 4) end.setUTCFullYear(end.getUTCFullYear() + 1);
  else if (date.length === 7) end.setUTCMonth(end.getUTCMonth() + 1);
  else if (date.length === 10) end.setUTCDate(end.getUTCDate() + 1);
  else return end.getTime();
  return end.getTime() - 1;
}

const spans = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
// What Date.parse reads without guessing; a time without an offset would be local time.
const isoDate = /^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?)?)?$/;
