// A problem as data. Errors and clients also carry problems, so this type is separate from the code that makes them.
import type { ProblemCode } from "./problem-code.ts";

/** Something wrong with a document, with how it was received, or with the website as a whole. */
export interface Problem {
  readonly code: ProblemCode;
  /** One sentence for people. */
  readonly message: string;
  /** The line of its first occurrence in the decoded document, starting at 1. */
  readonly line?: number;
  /** What the problem is about, such as the text of its first occurrence or an error code. Truncated if long. */
  readonly value?: string;
  /** How often it occurred in this document, or how many sitemaps were not fetched because a budget ran out, if more than one. */
  readonly count?: number;
  /** The limit that was exceeded; for `crawl-delay`, the delay in milliseconds. */
  readonly limit?: number;
  /** The HTTP status. */
  readonly status?: number;
  /** ISO 8601: when the website allows the next request. */
  readonly retryAfter?: string;
  /** What your `client` threw. Not enumerable, so not part of JSON, and not archived. */
  readonly cause?: unknown;
}

/** The fields of a problem other than its code, message and cause. */
export type ProblemFacts = Omit<Problem, "code" | "message" | "cause">;
