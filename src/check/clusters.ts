// Checks the return links of alternate pages across all sitemaps, exactly and in constant memory. Pages with the same set
// of alternate pages are a cluster. If every member of the set is listed with that very set, all of them link to one
// another, and nothing can be wrong: on most websites this settles all clusters, with one record per page. The pages of
// the other clusters are read again, and their links, one record each, are looked up among all pages.

import { Marks } from "../join/marks.ts";
import { RecordGroups } from "../join/record-groups.ts";
import type { RecordStore } from "../join/record-store.ts";
import type { AlternatePage, SitemapPage } from "../model/page.ts";
import type { Scratch } from "../storage/scratch.ts";
import * as pageRecords from "./page-records.ts";
import type { AlternateSet } from "./rules/languages.ts";
import { keyOf, mixed, textHash, UrlScan } from "./url-scan.ts";

// The set (2 words), the page (2), how many members the set has and whether the page is one, the number of the page.
const clusterWidth = 6;
// The target and the page that links to it (5 words), the language, the number of the page, the link and its marks.
const linkWidth = 8;
const linkKey = 5;

/** Marks of a link, above its number. `isReturn`: it is recorded once more, for the page itself. */
const isRepeat = 1 << 20;
const isOnKnownHost = 1 << 21;
const isDefault = 1 << 22;
const isReturn = 1 << 23;
const linkNumber = (1 << 20) - 1;

type Fingerprint = Pick<UrlScan, "pageHigh" | "pageLow" | "spelling">;

export class Clusters {
  readonly #clusters: RecordStore;
  readonly #links: RecordStore;
  readonly #scan = new UrlScan();
  /** The pages that need a second pass. */
  unsettled: Marks = new Marks(0);

  constructor(scratch: Scratch) {
    this.#clusters = pageRecords.recordStore(scratch, clusterWidth);
    this.#links = pageRecords.recordStore(scratch, linkWidth);
  }

  get isCut(): boolean {
    return this.#clusters.isCut || this.#links.isCut;
  }

  add(own: UrlScan, set: AlternateSet, ordinal: number): void {
    const members = set.members * 2 + (set.hasSelf ? 1 : 0);
    this.#clusters.add(
      pageRecords.partitionOf(set.high),
      set.high,
      set.low,
      own.spelling,
      own.pageLow,
      members,
      ordinal,
    );
  }

  /** Finds the clusters that need a second pass. `conflicts`: pages that are listed several times with different sets. */
  async settle(pages: number, conflicts: Marks): Promise<void> {
    this.unsettled = new Marks(pages);
    for (let partition = 0; partition < pageRecords.partitionCount; partition++) {
      const records = await this.#clusters.load(partition);
      const { words } = records;
      const groups = new RecordGroups(records, clusterWidth, 2);
      for (const first of groups.firsts()) {
        const own = groups.members(first);
        const isMember = (at: number) => (words[at + 4]! & 1) === 1;
        const hasConflict = (at: number) => conflicts.get(words[at + 5]! >>> 0) !== 0;
        // Whether all members of the set are listed with it: then their number is its size.
        const listed = new Set(own.filter(isMember).map((at) => keyOf(words[at + 2]!, words[at + 3]!)));
        const isWhole = listed.size === words[own[0]! + 4]! >>> 1;
        const isSettled = isWhole && !(conflicts.isAny && own.some(hasConflict));
        for (const at of own) if (!isSettled || !isMember(at)) this.unsettled.set(words[at + 5]! >>> 0);
      }
    }
    this.#clusters.clear();
  }

  /** Records the links of a page that needs one. `isKnownHost`: whether sitemaps of that host were read. */
  addLinks(page: SitemapPage, ordinal: number, isKnownHost: (url: string, hostEnd: number) => boolean): void {
    const { alternates = [] } = page;
    const scan = this.#scan;
    scan.read(page.url);
    const { pageHigh, pageLow, spelling } = scan;
    const source = { pageHigh, pageLow, spelling };
    const isSelf = () => scan.pageLow === pageLow && scan.spelling === spelling;
    const seen = new Set<number>();
    for (let index = 0; index < alternates.length && index < linkNumber; index++) {
      const { language, url } = alternates[index] as AlternatePage;
      scan.read(url);
      if (isSelf()) continue;
      const key = keyOf(scan.spelling, scan.pageLow);
      const code = language.toLowerCase();
      const marks =
        index |
        (seen.has(key) ? isRepeat : 0) |
        (isKnownHost(url, scan.hostEnd) ? isOnKnownHost : 0) |
        (code === "x-default" ? isDefault : 0);
      this.#addLink(scan, source, textHash(code), ordinal, marks);
      this.#addLink(source, scan, 0, ordinal, isReturn);
      seen.add(key);
    }
  }

  // A link and its return link have the same key, in the partition of the target's page record.
  #addLink(target: Fingerprint, source: Fingerprint, ...rest: [number, number, number]): void {
    const { pageHigh, pageLow, spelling } = target;
    const both = mixed(spelling ^ source.spelling);
    this.#links.add(pageRecords.partitionOf(pageHigh), pageHigh, both, pageLow, spelling, source.pageLow, ...rest);
  }

  async flush(): Promise<void> {
    await this.#clusters.flush();
    await this.#links.flush();
  }

  /** All findings, in no order. */
  async *join(records: pageRecords.UrlRecords): AsyncGenerator<pageRecords.Found, void> {
    for (let partition = 0; partition < pageRecords.partitionCount; partition++) {
      const links = await this.#links.load(partition);
      if (links.count === 0) continue;
      const { words } = links;
      const pages = await records.store.load(partition);
      const targets = new RecordGroups(pages, pageRecords.pageWidth, 3);
      const groups = new RecordGroups(links, linkWidth, linkKey);
      for (const first of groups.firsts()) {
        const own = groups.members(first);
        const start = own[0]!;
        const target = targets.find(Int32Array.of(words[start]!, words[start + 2]!, words[start + 3]!), 0);
        // It may be listed several times.
        const selves = targets.members(target).map((at) => pages.words[at + pageRecords.word.selfLanguage]!);
        const languages = selves.filter((language) => language !== 0);
        const isReturned = own.some((at) => (words[at + 7]! & isReturn) !== 0);
        for (const at of own) {
          const [ordinal, marks] = [words[at + 6]! >>> 0, words[at + 7]!];
          if ((marks & isReturn) !== 0) continue;
          const other = marks & linkNumber;
          const counts = (marks & isRepeat) === 0;
          if (target === -1) {
            if (counts && (marks & isOnKnownHost) !== 0) yield { rule: "hreflang-target-unlisted", ordinal, other };
            continue;
          }
          const isAgreed = languages.length === 0 || (marks & isDefault) !== 0 || languages.includes(words[at + 5]!);
          if (!isAgreed) yield { rule: "hreflang-return-differs", ordinal, other };
          // A settled page links only to its own cluster, and a page without alternate pages to none.
          if (isReturned) continue;
          if (counts) yield { rule: "hreflang-no-return", ordinal, other };
        }
      }
    }
  }
}
