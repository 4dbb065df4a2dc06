// Errors: mistakes of the caller, and failures of this machine or of a queue. What is wrong with a website is a problem, which is thrown only
// as `unreachable`.
import type { Problem } from "./problem-facts.ts";

/** The code of a `SitemapError`. */
export type SitemapErrorCode =
  | "invalid-option" // an option is unknown or has an invalid value
  | "invalid-homepage" // the homepage (or a given sitemap) is not an http or https URL
  | "invalid-archive" // the file is not a readable archive
  | "invalid-file" // a file is neither an archive nor a sitemap, or cannot be read
  | "archive-exists" // a file would be overwritten
  | "archive-unwritable" // the archive cannot be written at this path; `cause` is the system error
  | "folder-in-use" // another process is using the fleet's folder
  | "folder-unusable" // the fleet's folder cannot be created, or one of its files is not a regular file
  | "missing-package" // a required package is not installed; the message names it
  | "queue-failed" // the queue's server cannot be reached or used
  | "state-in-use" // another process is using the state of `changes`
  | "storage-failed" // the disk is full, or the temporary folder cannot be used; `cause` is the system error
  | "tree-closed" // a tree was used after it was closed
  | "unreachable"; // `streamPages` or `changes` could not read anything from the website; see `outcome` and `problem`; `cause` is what your `client` threw

/** The error class of this library. Match `code`, which is stable; messages may change. */
export class SitemapError extends Error {
  override readonly name = "SitemapError";
  readonly code: SitemapErrorCode;
  /** For `unreachable`: all requests failed, the website refused them (`blocked`), or our own policy did (`refused`). */
  readonly outcome?: "failed" | "blocked" | "refused";
  /** For `unreachable`: why the request for the homepage failed or, if it was not requested, the one for the first candidate. */
  readonly problem?: Problem;
  /** The error that led to this one, if any. */
  declare readonly cause?: Error;

  constructor(
    code: SitemapErrorCode,
    message: string,
    options: ErrorOptions & Pick<SitemapError, "outcome" | "problem"> = {},
  ) {
    const { cause } = options;
    // `cause` may be any value, because JavaScript can throw anything.
    super(message, cause === undefined ? {} : { cause: cause instanceof Error ? cause : new Error(String(cause)) });
    this.code = code;
    if (options.outcome !== undefined) this.outcome = options.outcome;
    if (options.problem !== undefined) this.problem = options.problem;
  }
}

/** Extracts the reason from a system error: `no such file or directory` from `ENOENT: no such file or directory, open 'x'`. */
export function systemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
  // Node.js's own messages about packages that cannot be loaded also end in this reason.
  return /\btoo many open files\.?$/.test(reason) ? `${reason.replace(/\.$/, "")}; raise \`ulimit -n\`` : reason;
}
