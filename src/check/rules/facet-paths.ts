// Finds lists that filters turn into many URLs, whatever the parameters are called: one path with many combinations of the same few values.
// A parameter that has a different value on most pages (`?id=17`) identifies pages, and is not a filter.
import { counted } from "../../model/figures.ts";
import { detached } from "../../model/text.ts";
import type { Findings } from "../findings/findings.ts";
import { bounds } from "./bounds.ts";
import { textHash } from "./url-scan.ts";

interface PathCounts {
  readonly sitemap: string;
  readonly first: string;
  /** How many pages with parameters have this path. */
  pages: number;
  /** The counts of each parameter, by its name. */
  readonly parameters: Map<string, ParameterCounts>;
  hasOthers: boolean;
}

interface ParameterCounts {
  pages: number;
  /** The fingerprints of its values. */
  readonly values: Set<number>;
}

export class FacetPaths {
  readonly #paths = new Map<string, PathCounts>();
  /** Whether there were too many paths with parameters to compare all of them. */
  isSpent = false;

  /** Counts a page with parameters: `?color=red&size=xl`. */
  add(url: string, parameters: string, sitemap: string): void {
    const path = url.slice(0, url.indexOf("?"));
    const counts = this.#paths.get(path) ?? this.#begin(path, url, sitemap);
    if (counts === undefined) return;
    counts.pages += 1;
    for (const parameter of parameters.slice(1).split("&", mostParameters)) {
      const [name = "", value = ""] = parameter.split("=", 2);
      if (name === "" || language.test(name)) continue;
      let known = counts.parameters.get(name);
      if (known === undefined && counts.parameters.size >= mostParameters) counts.hasOthers = true;
      else if (known === undefined) {
        known = { pages: 0, values: new Set() };
        counts.parameters.set(detached(name), known);
      }
      if (known === undefined) continue;
      known.pages += 1;
      if (known.values.size <= bounds.facetValues) known.values.add(textHash(value));
    }
  }

  // Adds a path to the table. If the table is full, drops paths with one page first.
  #begin(path: string, url: string, sitemap: string): PathCounts | undefined {
    if (this.isSpent) return undefined;
    if (this.#paths.size >= mostPaths) {
      for (const [each, { pages }] of this.#paths) if (pages === 1) this.#paths.delete(each);
      this.isSpent = this.#paths.size > mostPaths / 2;
    }
    const counts = { sitemap, first: detached(url), pages: 0, parameters: new Map(), hasOthers: false };
    this.#paths.set(detached(path), counts);
    return counts;
  }

  /** Reports one occurrence for each path that filters turn into many URLs. */
  report(findings: Findings): void {
    for (const [path, { sitemap, first, pages, parameters, hasOthers }] of this.#paths) {
      const filters = [...parameters].filter(([, { values }]) => values.size > 1);
      const isIdentified = filters.some(
        ([name, { values, pages: own }]) =>
          values.size > Math.min(pages / 2, bounds.facetValues) || (own === pages && identifier.test(name)),
      );
      if (pages < bounds.facetSets || filters.length < 2 || isIdentified || hasOthers) continue;
      const names = filters.map(([name]) => name).join(", ");
      const value = `${counted(pages, "combination")} of ${names} at ${path}`;
      findings.count("url-facet", sitemap, 1, { url: first, value });
    }
  }
}

const mostPaths = 10_000;
const mostParameters = 16;
const language = /^(?:lang|language|locale|lng|hl|l)$/i;
// Names of parameters such as `id`, `product_id`, `productId` and `sku`.
const identifier = /(?:^|[_-])(?:id|ID|pid|sku|SKU|nr|no)$|[a-z]I[dD]$/;
