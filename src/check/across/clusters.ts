// Checks the return links of alternate pages across all sitemaps, with records on disk. Pages with the same set of
// alternate pages are a cluster. If every member of the set is listed with that very set, all of them link to one
// another, and nothing can be wrong: on most websites this settles all clusters, with one record per page. The pages of
// the other clusters are read again, and their links, two records each, are looked up among all pages.

import { Join } from "../../join/join.ts";
import { Marks } from "../../join/marks.ts";
import type { SpillFile } from "../../join/spill-file.ts";
import type { AlternatePage, SitemapPage } from "../../model/page.ts";
import type { AlternateSet } from "../rules/languages.ts";
import { textHash, UrlScan, urlNumber } from "../rules/url-scan.ts";
import { type Found, joinLimits, type UrlRecords, word } from "./page-records.ts";

// A cluster record has the set (2 words), the page (2), the size of the set with whether the page is in it, and the number of the page.
const clusterWidth = 6;
// A link record has the target (3 words), the page that links to it (2), the language, the number of that page, and the link with its
// marks.
const linkWidth = 8;

// The marks of a link are bits above its number. Each link is recorded twice: under its target, and with `isReturn` under the page that has
// it, so that a target's group also contains the pages that the target links to.
const isRepeat = 1 << 20;
const isOnKnownHost = 1 << 21;
const isDefault = 1 << 22;
const isReturn = 1 << 23;
const linkNumber = (1 << 20) - 1;

type Fingerprint = Pick<UrlScan, "pageHigh" | "pageLow" | "spelling">;

export class Clusters {
  readonly #clusters: Join;
  readonly #links: Join;
  readonly #scan = new UrlScan();
  /** Whether return links may be in documents that could not be read. */
  mayReturn = false;
  /** The pages that need a second pass. */
  unsettled: Marks = new Marks(0);

  constructor(spill: SpillFile) {
    this.#clusters = new Join(spill, { ...joinLimits, width: clusterWidth, keyLength: 2 });
    this.#links = new Join(spill, { ...joinLimits, width: linkWidth, keyLength: 3 });
  }

  get isCut(): boolean {
    return this.#clusters.isCut || this.#links.isCut;
  }

  add(own: UrlScan, set: AlternateSet, ordinal: number): void {
    const members = set.members * 2 + (set.hasSelf ? 1 : 0);
    this.#clusters.add(set.high, set.low, own.spelling, own.pageLow, members, ordinal);
  }

  /** Marks the pages that need a second pass as `unsettled`. `conflicts` marks pages that are listed several times with different sets. */
  settle(pages: number, conflicts: Marks): void {
    this.unsettled = new Marks(pages);
    for (const { words, starts } of this.#clusters.groups()) {
      const isMember = (at: number) => (words[at + 4]! & 1) === 1;
      const hasConflict = (at: number) => conflicts.get(words[at + 5]! >>> 0) !== 0;
      // If all members of the set are listed with it, their number equals its size.
      const listed = new Set(starts.filter(isMember).map((at) => urlNumber(words[at + 2]!, words[at + 3]!)));
      const isWhole = listed.size === words[starts[0]! + 4]! >>> 1;
      const isSettled = isWhole && !(conflicts.isAny && starts.some(hasConflict));
      for (const at of starts) if (!isSettled || !isMember(at)) this.unsettled.set(words[at + 5]! >>> 0);
    }
  }

  /** Records the links of a page that needs a second pass. `isKnownHost` tells whether sitemaps on a URL's host were read. */
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
      const key = urlNumber(scan.spelling, scan.pageLow);
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

  #addLink(target: Fingerprint, source: Fingerprint, language: number, ordinal: number, marks: number): void {
    const { pageHigh, pageLow, spelling } = target;
    this.#links.add(pageHigh, pageLow, spelling, source.spelling, source.pageLow, language, ordinal, marks);
  }

  /**
   * Yields the findings, in no particular order. Unless everything was read (`isComplete`), an unread sitemap may have the return links of
   * a target that is listed without alternate pages. Without `isWebsite`, a sitemap that is not in the tree may list an unlisted target.
   */
  *findings({ join }: UrlRecords, isComplete: boolean, isWebsite: boolean): Generator<Found, void> {
    for (const [{ words, starts }, target] of this.#links.groupsWith(join)) {
      // The target may be listed several times.
      const selves = target.starts.map((at) => target.words[at + word.selfLanguage]!);
      const languages = selves.filter((language) => language !== 0);
      const mayReturn = !isComplete && target.starts.every((at) => target.words[at + word.set] === 0);
      const isLink = (at: number) => (words[at + 7]! & isReturn) === 0;
      const sourceOf = (at: number) => urlNumber(words[at + 3]!, words[at + 4]!);
      // The pages that the target links to. A settled target adds none, because it links only to its own cluster.
      const returned = new Set(starts.filter((at) => !isLink(at)).map(sourceOf));
      for (const at of starts.filter(isLink)) {
        const [ordinal, marks] = [words[at + 6]! >>> 0, words[at + 7]!];
        const other = marks & linkNumber;
        const counts = (marks & isRepeat) === 0;
        if (target.starts.length === 0) {
          if (isWebsite && counts && (marks & isOnKnownHost) !== 0)
            yield { rule: "hreflang-target-unlisted", ordinal, other };
          continue;
        }
        const isAgreed = languages.length === 0 || (marks & isDefault) !== 0 || languages.includes(words[at + 5]!);
        if (!isAgreed) yield { rule: "hreflang-return-differs", ordinal, other };
        if (!counts || returned.has(sourceOf(at))) continue;
        if (mayReturn) this.mayReturn = true;
        else yield { rule: "hreflang-no-return", ordinal, other };
      }
    }
  }
}
