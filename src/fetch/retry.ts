// What is retried, how often, and when: temporary failures, which the table of problems marks.
import { type HeaderList, header } from "../model/exchange.ts";
import { hasNoResponse, isTemporary, type Problem } from "../model/problem.ts";

export interface Backoff {
  /** In milliseconds: the longest delay before the second attempt; it doubles with each further one. */
  readonly base: number;
  readonly cap: number;
  readonly random: () => number;
}

export const defaultBackoff: Backoff = { base: 500, cap: 10_000, random: Math.random };

/** How often an origin failed to respond since its last response. */
export interface OriginRecord {
  /** It has responded, with any status. */
  readonly hasAnswered: boolean;
  readonly wasRetried: boolean;
  readonly failures: number;
  /** The number of responses, if all of them were server errors. */
  readonly onlyErrors: number;
}

/** Whether a request is sent again after its nth attempt failed. */
export function mayRetry(reason: Problem, attempt: number, retries: number, origin: OriginRecord): boolean {
  if (attempt > retries || !isRetryable(reason)) return false;
  if (!hasNoResponse(reason.code)) return origin.onlyErrors < mostErrors;
  // An origin that has never responded gets one retry in total.
  return origin.hasAnswered ? origin.failures + 1 < mostFailures : !origin.wasRetried;
}

/** This many consecutive failures end the retries for an origin that has responded before. */
export const mostFailures = 8;

// This many responses that are all server errors end the retries: each further document is requested once.
const mostErrors = 6;

// A bot check with status 503 is not temporary.
function isRetryable({ code, status }: Problem): boolean {
  if (code === "proxy-refused") return isTemporary(`http-${status ?? 0}`);
  return (status === undefined || code === `http-${status}`) && isTemporary(code);
}

/** A random delay up to a limit that doubles ("full jitter"), so that requests that failed together are not retried together. */
export function backoffDelay(attempt: number, { base, cap, random }: Backoff): number {
  return random() * Math.min(cap, base * 2 ** (attempt - 1));
}

/** How long to pause for a host that asked for it for the nth time, in milliseconds. Even if it `asked` for zero, there is a delay. */
export function pauseDelay(asked: number | undefined, nth: number, { base, cap, random }: Backoff): number {
  if (asked !== undefined && asked >= base) return asked;
  return Math.min(cap, base * 2 ** (nth - 1)) * (0.5 + random() / 2);
}

/** The delay that `Retry-After` asks for, in milliseconds from now; undefined if it cannot be understood. */
export function retryAfterDelay(headers: HeaderList, now: number): number | undefined {
  const value = header(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  // https://www.rfc-editor.org/rfc/rfc9110#field.retry-after: a number of seconds or a date.
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = parseHttpDate(value);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** A time as an ISO 8601 date, capped at the latest possible one, in the year 275760. */
export function toDate(milliseconds: number): string {
  return new Date(Math.min(milliseconds, 8.64e15)).toISOString();
}

// https://www.rfc-editor.org/rfc/rfc9110#name-date-time-formats. Date.parse alone accepts "junk 7" as a date.
function parseHttpDate(text: string): number | undefined {
  if (!imfFixdate.test(text) && !rfc850.test(text) && !asctime.test(text)) return undefined;
  const time = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
