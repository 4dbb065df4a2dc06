// Chooses a sample of the pages, spread over sitemaps and sections in proportion to the square root of their size, with at least one page
// from each if the sample is large enough. For the same pages and seed, the sample is the same. Memory depends on the size of the sample
// and the number of sections, not on the number of pages.
import { mix } from "../model/fingerprints.ts";
import type { SitemapPage } from "../model/page.ts";
import { detached } from "../model/text.ts";
import { sectionOf } from "../model/url.ts";

interface KeptPage<Origin> {
  /** The page. It is copied if it is kept for long, because its strings may keep the whole document in memory. */
  page: SitemapPage;
  isCopy: boolean;
  readonly origin: Origin;
  /** The position of the page in declared order. */
  readonly at: number;
  readonly hash: number;
}

/** The pages of one section in one sitemap: how many there are, and those with the lowest hashes. */
interface Group<Origin> {
  count: number;
  kept: KeptPage<Origin>[];
}

/** Collects a sample. `Origin` is what identifies a batch of pages to the caller, such as the URL of their sitemap. */
export class PageSample<Origin> {
  readonly #size: number;
  readonly #seed: number;
  readonly #groups = new Map<string, Group<Origin>>();
  #seen = 0;
  #kept = 0;

  constructor(size: number, seed: number) {
    this.#size = size;
    this.#seed = seed;
  }

  add(sitemap: string, pages: readonly SitemapPage[], origin: Origin): void {
    for (const page of pages) {
      const group = this.#groupOf(sitemap, page.url);
      group.count += 1;
      const hash = sampleHash(page.url, this.#seed);
      group.kept.push({ page, isCopy: false, origin, at: this.#seen++, hash });
      this.#kept += 1;
      if (this.#kept > 4 * this.#size + Math.min(64, 4 * this.#size) * this.#groups.size) this.#trim();
    }
  }

  /** Yields the sample in declared order, with consecutive pages of one origin together. */
  *take(): Generator<{ readonly origin: Origin; readonly pages: readonly SitemapPage[] }, void> {
    const shares = this.#shares();
    const chosen = [...this.#groups.values()].flatMap((group) => lowest(group.kept, shares.get(group) ?? 0));
    chosen.sort((one, other) => one.at - other.at);
    for (let from = 0, to = 0; from < chosen.length; from = to) {
      const { origin } = chosen[from]!;
      while (chosen[to]?.origin === origin) to += 1;
      yield { origin, pages: chosen.slice(from, to).map(({ page }) => page) };
    }
  }

  #groupOf(sitemap: string, url: string): Group<Origin> {
    const section = sectionOf(url);
    const own = `${sitemap} ${section}`;
    const key = this.#groups.has(own) || this.#groups.size < mostGroups ? own : "";
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(detached(key), (group = { count: 0, kept: [] }));
    return group;
  }

  // Computes each group's share: first one page for each, starting with the largest groups, then more by the square root of the size.
  #shares(): Map<Group<Origin>, number> {
    const groups = [...this.#groups.values()].sort((one, other) => other.count - one.count).slice(0, this.#size);
    const shares = new Map(groups.map((group) => [group, 1]));
    let left = this.#size - groups.length;
    while (left > 0) {
      const open = groups.filter((group) => shares.get(group)! < group.kept.length);
      if (open.length === 0) return shares;
      const sum = open.reduce((total, { count }) => total + Math.sqrt(count), 0);
      const before = left;
      for (const group of open) {
        const more = Math.floor((before * Math.sqrt(group.count)) / sum);
        const taken = Math.min(more, group.kept.length - shares.get(group)!, left);
        shares.set(group, shares.get(group)! + taken);
        left -= taken;
      }
      // If too few are left to share, each of the largest groups gets one.
      if (left === before) for (const group of open.slice(0, left)) shares.set(group, shares.get(group)! + 1);
      if (left === before) left -= Math.min(left, open.length);
    }
    return shares;
  }

  // Drops pages that are unlikely to get into the sample. On average, the final sample takes at most a group's current share from the pages
  // seen so far. Twice that share and 16 more are kept, because chance decides how many of the lowest hashes come early.
  #trim(): void {
    const groups = [...this.#groups.values()];
    const sum = groups.reduce((total, { count }) => total + Math.sqrt(count), 0);
    this.#kept = 0;
    for (const group of groups) {
      const share = 16 + Math.ceil((2 * this.#size * Math.sqrt(group.count)) / sum);
      group.kept = lowest(group.kept, Math.min(share, this.#size));
      this.#kept += group.kept.length;
      for (const kept of group.kept) {
        if (!kept.isCopy) kept.page = structuredClone(kept.page);
        kept.isCopy = true;
      }
    }
  }
}

function lowest<Origin>(kept: readonly KeptPage<Origin>[], count: number): KeptPage<Origin>[] {
  if (kept.length <= count) return [...kept];
  return [...kept].sort((one, other) => one.hash - other.hash || one.at - other.at).slice(0, count);
}

// Once there are this many groups, new sections share one group.
const mostGroups = 10_000;

// Unlike a fingerprint, this hash is the same in every process. It ignores the host, so that it is the same for a preview and the original.
function sampleHash(url: string, seed: number): number {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  let [high, low] = [seed ^ 0x9e3779b9, seed ^ 0x85ebca6b];
  for (let at = Math.max(0, start); at < url.length; at++) {
    const code = url.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    high ^= high >>> 15;
    low = Math.imul(low ^ code, 0x2c1b3c6d);
    low ^= low >>> 13;
  }
  // Mixes the bits, so that the last characters matter as much as the first.
  return (mix(mix(high, 0x85ebca6b), 0xc2b2ae35) >>> 0) * 2 ** 20 + (low >>> 12);
}
