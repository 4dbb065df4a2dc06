// What is retried, and when: temporary failures. A refusal, a bad certificate or a malformed response is not retried.
import { type HeaderList, header } from "../exchange.ts";
import { isTemporary, type Problem } from "../problem.ts";

export interface Backoff {
  /** In milliseconds, before the second attempt at the longest; it doubles with each further one. */
  readonly base: number;
  readonly cap: number;
  readonly random: () => number;
}

export const defaultBackoff: Backoff = { base: 500, cap: 10_000, random: Math.random };

/** Whether what went wrong may go right in a moment. A bot check that comes with status 503 stays one. */
export function isRetryable({ code, status }: Problem): boolean {
  if (code === "proxy-refused") return isTemporary(`http-${status ?? 0}`);
  return (status === undefined || code === `http-${status}`) && isTemporary(code);
}

/** A random time up to a bound that doubles: those who failed together do not come back together ("full jitter"). */
export function backoffDelay(attempt: number, { base, cap, random }: Backoff): number {
  return random() * Math.min(cap, base * 2 ** (attempt - 1));
}

/**
 * How long to leave a host alone that asked for a pause for the nth time, in milliseconds. `asked` is what it said, if anything:
 * nothing, or next to nothing, is no invitation to come back at once.
 */
export function gentleDelay(asked: number | undefined, nth: number, { base, cap, random }: Backoff): number {
  if (asked !== undefined && asked >= base) return asked;
  return Math.min(cap, base * 2 ** (nth - 1)) * (0.5 + random() / 2);
}

/** How long `Retry-After` asks to wait, in milliseconds from now; undefined where it says nothing that can be understood. */
export function retryAfterDelay(headers: HeaderList, now: number): number | undefined {
  const value = header(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  // https://www.rfc-editor.org/rfc/rfc9110#field.retry-after: a number of seconds or a date.
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = parseHttpDate(value);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** A moment as a date, however far away: dates end in the year 275760. */
export function toDate(milliseconds: number): string {
  return new Date(Math.min(milliseconds, 8.64e15)).toISOString();
}

// https://www.rfc-editor.org/rfc/rfc9110#name-date-time-formats. Date.parse alone takes "junk 7" for a date.
function parseHttpDate(text: string): number | undefined {
  if (!imfFixdate.test(text) && !rfc850.test(text) && !asctime.test(text)) return undefined;
  const time = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
