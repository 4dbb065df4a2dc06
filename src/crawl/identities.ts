// Recognizes sitemaps by what they list, because discovery may find one sitemap under several URLs.
import type { Reading } from "./read.ts";

export class Identities {
  // The URL of the first sitemap with each identity, and the largest number of pages in one of them.
  readonly #urls = new Map<string, string>();
  #mostPages = 0;

  /** Remembers what a sitemap with this many pages lists. */
  add(url: string, reading: Reading, pages: number): void {
    const identity = identityOf(reading);
    if (identity === undefined || this.#urls.size >= mostIdentities) return;
    if (!this.#urls.has(identity)) this.#urls.set(identity, url);
    this.#mostPages = Math.max(this.#mostPages, pages);
  }

  /** Whether a sitemap with at least this many pages may list the same as a remembered one. */
  mayHave(pages: number): boolean {
    return this.#urls.size > 0 && pages <= this.#mostPages;
  }

  /** Returns the URL of a remembered sitemap that lists the same URLs, if there is one. */
  find(reading: Reading): string | undefined {
    return this.#urls.get(identityOf(reading) ?? "");
  }
}

// How many sitemaps are remembered. Later ones are not.
const mostIdentities = 10_000;

// Returns undefined if it is uncertain what the sitemap lists, or if it is a page of a feed with a `next` one.
function identityOf({ outcome, identity, complete, isWhole }: Reading): string | undefined {
  const isFeedPage = outcome.kind === "pages" && outcome.next !== undefined;
  return complete && isWhole && outcome.kind !== "invalid" && !isFeedPage ? identity : undefined;
}
