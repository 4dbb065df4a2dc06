// Converts dates in sitemaps, already normalized to ISO 8601, and the option `since` to instants.
import { unexpected } from "./option-checks.ts";

/** Returns the last instant of a date: its time or, without one, the end of the day, the month or the year. */
export function lastInstant(text: string): number {
  const first = Date.parse(text);
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

/** Converts a time span with a unit to milliseconds: `500ms`, `30s`, `5m`, `1.5h`, `1d`, `2w`. Returns undefined for any other text. */
function timeSpan(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|[smhdw])$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * units[unit?.toLowerCase() as keyof typeof units];
}

/** Like `timeSpan`, but a number without a unit is in seconds. */
export function timeOrSeconds(text: string): number | undefined {
  return timeSpan(/^[\d.]+$/.test(text) ? `${text}s` : text);
}

/** Checks the option `since` and converts it to an instant: `2024-05-01`, `2024-05-01T12:00Z`, a time span such as `36h`, `7d`, `2w`, or a `Date`. */
export function since(name: string, value: unknown): number {
  const text = typeof value === "string" ? value : "";
  const span = timeSpan(text);
  if (span !== undefined) return Date.now() - span;
  const instant = value instanceof Date ? value.getTime() : isoDate.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  throw unexpected(name, "a date such as 2024-05-31, or a time span such as 36h, 7d or 2w", value);
}

const units = { ms: 1, s: 1000, m: 60_000, h: dayLength / 24, d: dayLength, w: 7 * dayLength };
// The forms that Date.parse reads without guessing. A time without an offset is excluded, because it would be local time.
const isoDate = /^\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?)?)?$/;
