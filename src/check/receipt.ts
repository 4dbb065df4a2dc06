// When documents were received: the clock for judging dates, so that two checks of one archive give the same result.
import type { Sitemap } from "../model/sitemap.ts";
import { documentsOf, type SitemapTree } from "../tree/tree.ts";

const mostTried = 100;

export class Receipt {
  readonly #tree: SitemapTree;
  readonly #given: number | undefined;
  readonly #now = Date.now();

  /** `given` applies to all documents, in milliseconds. */
  constructor(tree: SitemapTree, given: number | undefined) {
    this.#tree = tree;
    this.#given = given;
  }

  /** In milliseconds. Now, for documents that did not come from a server. */
  async of(sitemap: Sitemap): Promise<number> {
    return this.#given ?? (await this.#known(sitemap)) ?? this.#now;
  }

  /** When the first document was; where there is none, the first answer, or the first attempt at one. */
  async ofWebsite(): Promise<number> {
    if (this.#given !== undefined) return this.#given;
    for (const sitemap of this.#tree.sitemaps()) {
      const known = await this.#known(sitemap);
      if (known !== undefined) return known;
    }
    const { find } = documentsOf(this.#tree);
    for (const { url } of this.#tree.discovery.slice(0, mostTried)) {
      const tried = Date.parse((await find(url)).receivedAt ?? "");
      if (!Number.isNaN(tried)) return tried;
    }
    return this.#now;
  }

  async #known(sitemap: Sitemap): Promise<number | undefined> {
    const { receivedAt } = (await this.#tree.response(sitemap)) ?? {};
    return receivedAt === undefined ? undefined : Date.parse(receivedAt);
  }
}
