// Errors: mistakes of the caller, and local failures. A website's errors are problems and not thrown, except for `unreachable`.

/** What kind of error it is. */
export type SitemapErrorCode =
  | "invalid-option" // an option is unknown or has a bad value
  | "invalid-homepage" // the homepage (or a given sitemap) is not an http or https URL
  | "invalid-archive" // the file is not an archive that can be read
  | "invalid-file" // a file is neither an archive nor a sitemap, or cannot be read
  | "archive-exists" // a file is already there and would be overwritten
  | "archive-unwritable" // no archive can be written at this path; the `cause` is the system's error
  | "folder-in-use" // another process is working in the folder of a fleet
  | "folder-unusable" // the folder of a fleet cannot be made, or a folder stands in the place of one of its files
  | "missing-package" // a package is needed that is not installed; the message says which
  | "queue-failed" // the server of a queue cannot be reached or used
  | "state-in-use" // another process is working on the state of `changes`
  | "storage-failed" // the disk is full, or the temporary folder cannot be used; the `cause` is the system's error
  | "tree-closed" // a tree was used after it was closed
  | "unreachable"; // `streamPages` or `changes` could reach nothing of the website; `outcome` says how it ended, the `cause` is the problem

/** The one class of errors: match `code`, which is stable; the message may be reworded. */
export class SitemapError extends Error {
  override readonly name = "SitemapError";
  readonly code: SitemapErrorCode;
  /** Of `unreachable`: whether everything failed, was refused by the website (`blocked`), or by our own policy (`refused`). */
  readonly outcome?: "failed" | "blocked" | "refused";

  constructor(code: SitemapErrorCode, message: string, options?: ErrorOptions & Pick<SitemapError, "outcome">) {
    super(message, options);
    this.code = code;
    if (options?.outcome !== undefined) this.outcome = options.outcome;
  }
}

/** `no such file or directory` of `ENOENT: no such file or directory, open 'x'`. */
export function systemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
  // Node.js also includes the reason in its own messages if a package cannot be loaded.
  return /\btoo many open files\.?$/.test(reason) ? `${reason.replace(/\.$/, "")}; raise \`ulimit -n\`` : reason;
}

/** Whether an error is one of the system: about a file, a folder, memory, or open files. */
export function isSystemError(
  error: unknown,
): error is Error & { readonly code: string; readonly syscall: string; readonly path?: string } {
  return (
    error instanceof Error && "syscall" in error && /^E[A-Z0-9]+$/.test(String((error as { code?: unknown }).code))
  );
}
