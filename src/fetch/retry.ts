// Decides how often and when a request is retried, unless the option `retry` does. The table of problems says which failures are temporary.
import { type HeaderList, header } from "../model/exchange.ts";
import { hasNoResponse, isTemporary, type Problem } from "../model/problem.ts";

export interface Backoff {
  /** The longest delay before the second attempt, in milliseconds. Doubles with each further attempt. */
  readonly base: number;
  readonly cap: number;
  readonly random: () => number;
}

export const defaultBackoff: Backoff = { base: 500, cap: 10_000, random: Math.random };

/** What is known about an origin. Failures are counted since its last response. */
export class OriginRecord {
  /** Whether the origin has responded, with any status. */
  readonly hasAnswered: boolean;
  /** The number of responses, if all of them were server errors. */
  readonly onlyErrors: number;
  wasRetried = false;
  failures = 0;
  failedDocuments = 0;
  /** Milliseconds spent on failures, summed over concurrent requests. */
  wasted = 0;
  /** Why it gets no more requests. */
  refusal: Problem | undefined;
  /** Whether a request is finding out whether it responds again. */
  isProbed = false;

  constructor(hasAnswered: boolean, onlyErrors = 0) {
    this.hasAnswered = hasAnswered;
    this.onlyErrors = onlyErrors;
  }
}

/** Whether to send a request again after this attempt failed. */
export function mayRetry(reason: Problem, attempt: number, retries: number, origin: OriginRecord): boolean {
  if (attempt > retries || !isRetryable(reason)) return false;
  if (!hasNoResponse(reason.code)) return origin.onlyErrors < mostErrors;
  // An origin that has never responded gets one retry in total.
  return origin.hasAnswered ? origin.failures + 1 < mostFailures : !origin.wasRetried;
}

/** This many consecutive failures end the retries for an origin that has responded before. */
export const mostFailures = 8;

// If the first responses are all server errors, this many end the retries: each further document is requested once.
const mostErrors = 6;

// A bot check with status 503 is not temporary.
function isRetryable({ code, status }: Problem): boolean {
  if (code === "proxy-refused") return isTemporary(`http-${status ?? 0}`);
  return (status === undefined || code === `http-${status}`) && isTemporary(code);
}

/** Returns a random delay up to a limit that doubles ("full jitter"), to spread the retries of requests that failed together. */
export function backoffDelay(attempt: number, { base, cap, random }: Backoff): number {
  return random() * Math.min(cap, base * 2 ** (attempt - 1));
}

/** Returns how long to pause after a host has asked for the nth pause, in milliseconds. Never zero, even if the host `asked` for zero. */
export function pauseDelay(asked: number | undefined, nth: number, { base, cap, random }: Backoff): number {
  if (asked !== undefined && asked >= base) return asked;
  return Math.min(cap, base * 2 ** (nth - 1)) * (0.5 + random() / 2);
}

/** Returns the delay that `Retry-After` asks for, in milliseconds from now, or undefined if the header is missing or invalid. */
export function retryAfterDelay(headers: HeaderList, now: number): number | undefined {
  const value = header(headers, "retry-after")?.trim();
  if (value === undefined) return undefined;
  // https://www.rfc-editor.org/rfc/rfc9110#field.retry-after: a number of seconds or a date.
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = parseHttpDate(value);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** Formats a time as an ISO 8601 date, capped at the latest possible one, in the year 275760. */
export function toDate(milliseconds: number): string {
  return new Date(Math.min(milliseconds, 8.64e15)).toISOString();
}

// Accepts only https://www.rfc-editor.org/rfc/rfc9110#name-date-time-formats, because Date.parse accepts "junk 7" as a date.
function parseHttpDate(text: string): number | undefined {
  if (!imfFixdate.test(text) && !rfc850.test(text) && !asctime.test(text)) return undefined;
  const time = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(time) ? undefined : time;
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
