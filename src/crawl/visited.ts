// Remembers the documents of a crawl by their keys, so that no sitemap is read twice: the ancestors of the current visit, finished
// sitemaps, the homepage, and guesses that found no sitemap.
import { documentKey } from "../model/exchange.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import { isRobotsUrl } from "../model/url.ts";
import type { Frame, Missing } from "./frame.ts";
import type { Hop } from "./redirects.ts";

export class Visited {
  // The keys of the indexes above the current visit.
  readonly #ancestors = new Set<string>();
  readonly #finished = new Map<string, Sitemap>();
  // The number of nodes below an index. The key is its list of children.
  readonly #sizes = new WeakMap<readonly Sitemap[], number>();
  // Guesses that found no sitemap.
  readonly #abandoned = new Map<string, Missing>();
  #homepageKeys: readonly string[] = [];
  // The homepage, if it is an HTML page: guesses that redirect there have found no sitemap.
  #homepage: Missing | undefined;

  /** Makes the index an ancestor of all sitemaps visited until `leave`. */
  enter({ node, keys }: Frame): void {
    for (const key of keysOf(node, keys)) this.#ancestors.add(key);
  }

  /** Ends an index. `node` is its result. */
  leave({ keys }: Frame, node: IndexSitemap): void {
    for (const key of keysOf(node, keys)) this.#ancestors.delete(key);
    this.#sizes.set(
      node.children,
      node.children.reduce((sum, child) => sum + this.sizeOf(child), 0),
    );
    this.finish(node, keys);
  }

  /** Records a finished sitemap. From now on its keys are known. */
  finish(node: Sitemap, keys: readonly string[]): void {
    const all = node.kind === "invalid" ? keys : keysOf(node, keys);
    for (const key of all) if (!this.#finished.has(key)) this.#finished.set(key, node);
  }

  /** Records that further keys lead to the finished sitemap at this URL. */
  finishAs(url: string, keys: readonly string[]): void {
    const node = this.#finished.get(documentKey({ url }));
    if (node !== undefined) this.finish(node, keys);
  }

  /** Remembers a guess that found no sitemap, so that it is not fetched again. */
  abandon(missing: Missing): void {
    for (const key of missing.keys) this.#abandoned.set(key, missing);
  }

  /** Remembers where the homepage is. With `page`, it is not a sitemap, and guesses that redirect there do not fetch it again. */
  foundHomepage(keys: readonly string[], page: Missing | undefined): void {
    this.#homepageKeys = keys;
    this.#homepage = page;
  }

  /** Whether these are keys of the homepage. */
  isHomepage(keys: readonly string[]): boolean {
    return keys.some((key) => this.#homepageKeys.includes(key));
  }

  /** Whether this hop leads to an index that is being read. */
  isAncestor({ key, readKey }: Hop): boolean {
    return this.#ancestors.has(key) || this.#ancestors.has(readKey);
  }

  /** Whether the document with this key was visited or is being visited, so that it need not be fetched. */
  isKnown(key: string): boolean {
    return this.#ancestors.has(key) || this.#finished.has(key) || this.#abandoned.has(key);
  }

  /** Whether fetching this hop as a sitemap would gain nothing: its document is known, or is a robots.txt. */
  isPointless({ key, readKey, url }: Hop): boolean {
    return isRobotsUrl(url) || this.isKnown(key) || this.isKnown(readKey);
  }

  /** Returns the sitemap that an earlier visit found at this hop, if there was one. */
  sitemapAt({ key, readKey }: Hop): Sitemap | undefined {
    const read = this.#finished.get(readKey);
    return this.#finished.get(key) ?? (read?.kind === "invalid" ? undefined : read);
  }

  /** Returns the earlier guess that found no sitemap at this key, if there was one. With `isGuess`, the homepage counts as such a guess. */
  missingAt(key: string, isGuess: boolean): Missing | undefined {
    return this.#abandoned.get(key) ?? (isGuess && this.#homepage?.keys.includes(key) ? this.#homepage : undefined);
  }

  /** The number of nodes of a finished sitemap and everything below it. */
  sizeOf(node: Sitemap): number {
    return 1 + (node.kind === "index" ? (this.#sizes.get(node.children) ?? 0) : 0);
  }
}

// A document that was read is also known by its URL, however it was requested: a tree has one document per URL.
function keysOf({ url }: Pick<Sitemap, "url">, keys: readonly string[]): Set<string> {
  return new Set([...keys, documentKey({ url })]);
}
