// Checks the return links of alternate pages across all sitemaps, exactly and in flat memory. Pages with the same set
// of alternate pages are a cluster. If every member of the set is listed with that very set, all of them link to one
// another, and nothing can be wrong: on most websites this settles all clusters, with one record per page. The pages of
// the other clusters are read again, and their links, one record each, are looked up among all pages.
import type { Scratch } from "../archive/scratch.ts";
import { Marks } from "../join/marks.ts";
import { RecordGroups } from "../join/record-groups.ts";
import type { RecordStore } from "../join/record-store.ts";
import type { AlternatePage, SitemapPage } from "../model/page.ts";
import type { PageWatcher } from "./check-tree.ts";
import {
  type Found,
  pageWidth,
  partitionCount,
  partitionOf,
  recordStore,
  type UrlRecords,
  word,
} from "./page-records.ts";
import type { AlternateSet } from "./rules/languages.ts";
import { keyOf, mixed, textHash, UrlScan } from "./url-scan.ts";

// The set (2 words), the page (2), how many members the set has and whether the page is one, the number of the page.
const clusterWidth = 6;
// The target (3 words, as in page records), the language, the number of the page, the link and its marks, the page (2 words), what
// the watcher knows its languages by.
const linkWidth = 9;
// The pair (2 words), its direction, the number of the page, the link and whether it is a repeat, what the watcher knows its
// languages by.
const pairWidth = 6;

/** Marks of a link, above its number. */
const isRepeat = 1 << 20;
const isOnKnownHost = 1 << 21;
const isDefault = 1 << 22;
const linkNumber = (1 << 20) - 1;

export class Clusters {
  readonly #clusters: RecordStore;
  readonly #links: RecordStore;
  readonly #pairs: RecordStore;
  readonly #scan = new UrlScan();
  readonly #watcher: PageWatcher | undefined;
  #unsettled = new Marks(0);

  /** `watcher` receives links without a return link. */
  constructor(scratch: Scratch, watcher?: PageWatcher) {
    this.#watcher = watcher;
    this.#clusters = recordStore(scratch, clusterWidth);
    this.#links = recordStore(scratch, linkWidth);
    this.#pairs = recordStore(scratch, pairWidth);
  }

  /** Whether there were more records than can be read back. */
  get isCut(): boolean {
    return this.#clusters.isCut || this.#links.isCut || this.#pairs.isCut;
  }

  /** Records the set of a page. */
  add(own: UrlScan, set: AlternateSet, ordinal: number): void {
    const members = set.members * 2 + (set.hasSelf ? 1 : 0);
    this.#clusters.add(partitionOf(set.high), set.high, set.low, own.spelling, own.pageLow, members, ordinal);
  }

  /** Finds the clusters that need a second pass. `conflicts`: pages that are listed several times with different sets. */
  async settle(pages: number, conflicts: Marks): Promise<boolean> {
    this.#unsettled = new Marks(pages);
    for (let partition = 0; partition < partitionCount; partition++) {
      const records = await this.#clusters.load(partition);
      const { words } = records;
      const groups = new RecordGroups(records, clusterWidth, 2);
      for (const first of groups.firsts()) {
        const isSettled = isWhole(words, groups, first) && !hasConflict(words, groups, first, conflicts);
        for (let record = first; record !== -1; record = groups.next(record)) {
          const at = record * clusterWidth;
          if (isSettled && (words[at + 4]! & 1) === 1) continue;
          this.#unsettled.set(words[at + 5]! >>> 0);
        }
      }
    }
    this.#clusters.clear();
    return this.#unsettled.isAny;
  }

  /** Whether a page needs a second pass. */
  isUnsettled(ordinal: number): boolean {
    return this.#unsettled.get(ordinal) !== 0;
  }

  /** Whether one of these pages does: from the first number to the one before the second. */
  isAnyUnsettled(from: number, to: number): boolean {
    return !this.#unsettled.isClear(from, to - from);
  }

  /** Records the links of a page that needs one. `isKnownHost`: whether sitemaps of that host were read. */
  addLinks(page: SitemapPage, ordinal: number, isKnownHost: (url: string, hostEnd: number) => boolean): void {
    const { alternates = [] } = page;
    const scan = this.#scan;
    scan.read(page.url);
    const { pageLow: ownLow, spelling: ownSpelling } = scan;
    const isSelf = () => scan.pageLow === ownLow && scan.spelling === ownSpelling;
    const seen = new Set<number>();
    // The first language that the page gives itself.
    const isOwn = ({ language, url }: AlternatePage) => {
      scan.read(url);
      return isSelf() && language.toLowerCase() !== "x-default";
    };
    const own = this.#watcher && alternates.find(isOwn)?.language;
    for (let index = 0; index < alternates.length && index < linkNumber; index++) {
      const { language, url } = alternates[index] as AlternatePage;
      scan.read(url);
      if (isSelf()) continue;
      const { pageHigh, pageLow, spelling } = scan;
      const key = keyOf(spelling, pageLow);
      const code = language.toLowerCase();
      const marks =
        index |
        (seen.has(key) ? isRepeat : 0) |
        (isKnownHost(url, scan.hostEnd) ? isOnKnownHost : 0) |
        (code === "x-default" ? isDefault : 0);
      const pair = this.#watcher?.languagePair(own, language) ?? 0;
      const target = [pageHigh, pageLow, spelling, textHash(code)] as const;
      this.#links.add(partitionOf(pageHigh), ...target, ordinal, marks, ownSpelling, ownLow, pair);
      seen.add(key);
    }
  }

  /** All findings, in no order. */
  async *join(records: UrlRecords): AsyncGenerator<Found, void> {
    yield* this.#lookUp(records);
    this.#links.clear();
    yield* this.#joinPairs();
  }

  /** Writes the records to the disk. */
  async flush(): Promise<void> {
    await this.#clusters.flush();
    await this.#links.flush();
  }

  // Links and pages are partitioned alike: the target of a link is in the partition with the same number.
  async *#lookUp(records: UrlRecords): AsyncGenerator<Found, void> {
    for (let partition = 0; partition < partitionCount; partition++) {
      await this.#pairs.flush();
      const { words, count } = await this.#links.load(partition);
      if (count === 0) continue;
      const pages = await records.store.load(partition);
      const groups = new RecordGroups(pages, pageWidth, 3);
      for (let at = 0; at < count * linkWidth; at += linkWidth) {
        const [ordinal, marks, pair] = [words[at + 4]! >>> 0, words[at + 5]!, words[at + 8]!];
        const other = marks & linkNumber;
        const counts = (marks & isRepeat) === 0;
        const target = groups.find(words, at);
        if (target === -1) {
          this.#watcher?.link(pair, "unlisted");
          if (counts && (marks & isOnKnownHost) !== 0) yield { rule: "hreflang-target-unlisted", ordinal, other };
          continue;
        }
        let [isLooked, hasLanguage, isAgreed] = [false, false, (marks & isDefault) !== 0];
        // It may be listed several times.
        for (let record = target; record !== -1; record = groups.next(record)) {
          const page = record * pageWidth;
          const language = pages.words[page + word.selfLanguage]!;
          hasLanguage ||= language !== 0;
          isAgreed ||= language === words[at + 3];
          isLooked ||= this.isUnsettled(pages.words[page + word.ordinal]! >>> 0);
        }
        if (hasLanguage && !isAgreed) yield { rule: "hreflang-return-differs", ordinal, other };
        if (isLooked) {
          this.#addPair(words, at);
          continue;
        }
        // A settled page links only to its own cluster, and a page without alternate pages to none.
        this.#watcher?.link(pair, "no-return");
        if (counts) yield { rule: "hreflang-no-return", ordinal, other };
      }
    }
  }

  #addPair(links: Int32Array, at: number): void {
    const [targetLow, target, own, ownLow] = [links[at + 1]!, links[at + 2]!, links[at + 6]!, links[at + 7]!];
    const pair = mixed((own + target) | 0);
    const pairLow = mixed((ownLow + targetLow) | 0) ^ mixed(own ^ target);
    const direction = own < target || (own === target && ownLow < targetLow) ? 1 : 2;
    const marks = links[at + 5]! & (linkNumber | isRepeat);
    this.#pairs.add(partitionOf(pair), pair, pairLow, direction, links[at + 4]!, marks, links[at + 8]!);
  }

  async *#joinPairs(): AsyncGenerator<Found, void> {
    for (let partition = 0; partition < partitionCount; partition++) {
      const records = await this.#pairs.load(partition);
      const { words } = records;
      const groups = new RecordGroups(records, pairWidth, 2);
      for (const first of groups.firsts()) {
        const own: number[] = [];
        for (let record = first; record !== -1; record = groups.next(record)) own.push(record * pairWidth);
        if (own.some((at) => words[at + 2] !== words[own[0]! + 2])) continue;
        for (const at of own) {
          this.#watcher?.link(words[at + 5]!, "no-return");
          const [ordinal, other] = [words[at + 3]! >>> 0, words[at + 4]!];
          if ((other & isRepeat) === 0) yield { rule: "hreflang-no-return", ordinal, other };
        }
      }
    }
  }
}

// Whether all members of a set are listed with it: then their number is the size of the set.
function isWhole(words: Int32Array, groups: RecordGroups, first: number): boolean {
  const members = words[first * clusterWidth + 4]! >>> 1;
  const pages = new Set<number>();
  for (let record = first; record !== -1; record = groups.next(record)) {
    const at = record * clusterWidth;
    if ((words[at + 4]! & 1) === 0) continue;
    pages.add(keyOf(words[at + 2]!, words[at + 3]!));
    if (pages.size === members) return true;
  }
  return false;
}

function hasConflict(words: Int32Array, groups: RecordGroups, first: number, conflicts: Marks): boolean {
  if (!conflicts.isAny) return false;
  for (let record = first; record !== -1; record = groups.next(record)) {
    if (conflicts.get(words[record * clusterWidth + 5]! >>> 0) !== 0) return true;
  }
  return false;
}
