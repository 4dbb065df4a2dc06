// Recognizes sitemaps by their identity, which is what they list: discovery may find one sitemap under several URLs.
import type { Reading } from "./read.ts";

export class Identities {
  // The URL of the first sitemap with each identity, and the largest number of pages in one of them.
  readonly #urls = new Map<string, string>();
  #mostPages = 0;

  /** Remembers what a sitemap lists, after all of its pages were reported. */
  add(url: string, reading: Reading, pages: number): void {
    const identity = identityOf(reading);
    if (identity === undefined || this.#urls.size >= mostIdentities) return;
    if (!this.#urls.has(identity)) this.#urls.set(identity, url);
    this.#mostPages = Math.max(this.#mostPages, pages);
  }

  /** Whether a sitemap with at least this many pages may list the same as one of these. */
  mayHave(pages: number): boolean {
    return this.#urls.size > 0 && pages <= this.#mostPages;
  }

  /** Returns the URL of a sitemap that lists the same URLs, if there is one. */
  find(reading: Reading): string | undefined {
    return this.#urls.get(identityOf(reading) ?? "");
  }
}

// Guesses are compared with this many sitemaps; later ones are not remembered.
const mostIdentities = 10_000;

// Returns undefined if it is uncertain what the sitemap lists, or if it is one page of a feed.
function identityOf({ outcome, identity, complete, isWhole }: Reading): string | undefined {
  const isFeedPage = outcome.kind === "pages" && outcome.next !== undefined;
  return complete && isWhole && outcome.kind !== "invalid" && !isFeedPage ? identity : undefined;
}
