// The caller's mistakes. What a website does wrong is never thrown: it is a Problem.

/**
 * - `invalid-option`: an option is unknown or has a bad value
 * - `invalid-homepage`: the homepage (or a given sitemap) is not an http or https URL
 * - `invalid-archive`: the file is not an archive that can be read
 * - `archive-exists`: a file is already there and would be overwritten
 * - `tree-closed`: a tree was used after it was closed
 */
export type SitemapErrorCode =
  | "invalid-option"
  | "invalid-homepage"
  | "invalid-archive"
  | "archive-exists"
  | "tree-closed";

/** The one class of errors: match `code`, which is stable; the message may be reworded. */
export class SitemapError extends Error {
  override readonly name = "SitemapError";
  readonly code: SitemapErrorCode;

  constructor(code: SitemapErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
