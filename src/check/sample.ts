// A sample of the pages of a website: from each sitemap in proportion to its pages, those with the lowest SHA-256. Two checks of one
// website choose the same pages, and the website cannot influence the choice.
import { createHash } from "node:crypto";
import type { AlternatePage, SitemapPage } from "../model/page.ts";
import type { SitemapTree } from "../tree/tree.ts";

/** A page of the sample. */
export interface SampledPage {
  readonly sitemap: string;
  readonly url: string;
  readonly lastModified: string | undefined;
  readonly alternates: readonly AlternatePage[];
}

export class PageSampler {
  readonly #quotas: ReadonlyMap<string, number>;
  // By sitemap, lowest hash first. `number`: the place among all pages.
  readonly #chosen = new Map<string, { hash: string; number: number; page: SampledPage }[]>();
  #seen = 0;

  /** `size`: the total number of pages. */
  constructor(tree: SitemapTree, size: number) {
    this.#quotas = quotasOf(tree, size);
  }

  see(page: SitemapPage, sitemap: string): void {
    const number = this.#seen++;
    const quota = this.#quotas.get(sitemap) ?? 0;
    if (quota === 0) return;
    const chosen = this.#chosen.get(sitemap) ?? [];
    this.#chosen.set(sitemap, chosen);
    const hash = createHash("sha256").update(page.url).digest("hex");
    if (chosen.length === quota && hash >= chosen[quota - 1]!.hash) return;
    let at = chosen.length;
    while (at > 0 && hash < chosen[at - 1]!.hash) at -= 1;
    chosen.splice(at, 0, { hash, number, page: keptOf(page, sitemap) });
    if (chosen.length > quota) chosen.pop();
  }

  /** In the order of the tree; a page that several sitemaps list comes once. */
  pages(): SampledPage[] {
    const urls = new Set<string>();
    const chosen = [...this.#chosen.values()].flat().sort((one, two) => one.number - two.number);
    return chosen.map(({ page }) => page).filter(({ url }) => !urls.has(url) && urls.add(url));
  }
}

// Each share is rounded down; the rest goes to those that lost most by rounding.
function quotasOf(tree: SitemapTree, size: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of tree.sitemaps()) {
    if (each.kind === "pages" && !counts.has(each.url)) counts.set(each.url, each.pageCount);
  }
  const total = [...counts.values()].reduce((sum, pageCount) => sum + pageCount, 0);
  const shares = Array.from(counts, ([url, pageCount]) => {
    const share = total <= size ? pageCount : (pageCount * size) / total;
    return { url, quota: Math.floor(share), rest: share - Math.floor(share) };
  });
  let left = Math.min(size, total) - shares.reduce((sum, { quota }) => sum + quota, 0);
  for (const share of [...shares].sort((one, two) => two.rest - one.rest)) {
    if (left-- <= 0 || share.rest === 0) break;
    share.quota += 1;
  }
  return new Map(shares.map(({ url, quota }) => [url, quota]));
}

// A copy: the page keeps the text of its document alive.
function keptOf({ url, lastModified, alternates = [] }: SitemapPage, sitemap: string): SampledPage {
  return structuredClone({ sitemap, url, lastModified, alternates: alternates.slice(0, mostAlternates) });
}

const mostAlternates = 1000;

/**
 * The largest share that may be bad, with a confidence of 95%, if `bad` of `judged` in a random sample are: the upper
 * bound of Clopper and Pearson. For 300 without a bad one: 1%.
 */
export function upperBound(bad: number, judged: number): number {
  if (judged === 0 || bad >= judged) return 1;
  let low = bad / judged;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (atMost(bad, judged, middle) > 1 - confidence) low = middle;
    else high = middle;
  }
  return high;
}

// The probability of seeing at most this many bad ones, if this share is bad.
function atMost(bad: number, judged: number, share: number): number {
  let sum = 0;
  let logTerm = judged * Math.log1p(-share);
  for (let count = 0; count <= bad; count++) {
    sum += Math.exp(logTerm);
    logTerm += Math.log((judged - count) / (count + 1)) + Math.log(share) - Math.log1p(-share);
  }
  return sum;
}

const confidence = 0.95;
