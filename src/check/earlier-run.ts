// Compares a run with the archive of an earlier one, to see whether dates changed when their pages did. Joins all listed pages of both runs
// on disk, and compares the content of a page if both runs requested it.

import { type Group, Join } from "../join/join.ts";
import { SpillFile } from "../join/spill-file.ts";
import { FingerprintReader } from "../model/fingerprints.ts";
import { hasTime } from "../model/instant.ts";
import { archivedPages, type PageFetch } from "../pages/fetch-pages.ts";
import { visibleContent, visibleText } from "../pages/visible-content.ts";
import { openTree } from "../tree/build.ts";
import { partsOf, robotsOf, type SitemapTree } from "../tree/tree.ts";
import { bounds } from "./bounds.ts";
import { Receipt } from "./check-time.ts";
import { type CheckRun, SiteContext } from "./context.ts";
import { fewestCompared, type LastmodEvidence } from "./lastmod-trust.ts";
import { contradicts, joinLimits, noDate, toWord } from "./page-records.ts";
import { UrlScan } from "./url-scan.ts";

/** A page whose content was compared. */
interface ComparedPage {
  readonly isSame: boolean;
  /** The longest lines of its text (only changed lines if it changed): their fingerprints, each with its number of letters. */
  readonly lines: ReadonlyMap<number, number>;
}

export class EarlierRun {
  readonly #path: string;
  readonly #run: CheckRun;
  readonly #spill = new SpillFile();
  readonly #now = new Join(this.#spill, recordLayout);
  readonly #before = new Join(this.#spill, recordLayout);
  readonly #compared = new Map<string, ComparedPage>();
  readonly #stop = new AbortController();
  #tree: SitemapTree | undefined;
  #pages: PageFetch | undefined;
  #isWhole = false;

  constructor(path: string, run: CheckRun) {
    this.#path = path;
    this.#run = run;
  }

  /** Reads the pages of the earlier run. Rejects with a `SitemapError` if the archive cannot be read. */
  async open(): Promise<void> {
    const { tree: own, settings, time } = this.#run;
    const { rewrite } = partsOf(own).settings;
    const tree = await openTree(this.#path, { rewrite, signal: settings.signal });
    this.#tree = tree;
    this.#pages = archivedPages(partsOf(tree), robotsOf(tree), bounds.pageBytes, this.#stop.signal);
    const site = new SiteContext(tree);
    const receipt = new Receipt(tree, undefined);
    const scan = new UrlScan();
    const seen = new Set<string>();
    let receivedAt: number | undefined;
    for await (const step of tree.walk()) {
      if (await time.isOver()) return;
      if (step.type === "enter") {
        const { sitemap } = step;
        const isNew = sitemap.kind === "pages" && !seen.has(sitemap.url) && site.isForSearch(sitemap);
        receivedAt = isNew ? await receipt.of(sitemap) : undefined;
        seen.add(sitemap.url);
      }
      if (step.type !== "pages" || receivedAt === undefined) continue;
      for (const { url, lastModified = "" } of step.pages) {
        scan.read(url);
        addRecord(this.#before, scan, Date.parse(lastModified), hasTime(lastModified), receivedAt);
      }
    }
    this.#isWhole = tree.complete;
  }

  /** Records a page of this run. `lastModified` is in milliseconds, NaN for none. */
  record(scan: UrlScan, lastModified: number, isTime: boolean, receivedAt: number): void {
    addRecord(this.#now, scan, lastModified, isTime, receivedAt);
  }

  /** Compares the content of a page of this run with the earlier one. Skips a page that is not HTML, or was not read to its end. */
  async compare(url: string, html: string): Promise<void> {
    if (this.#pages === undefined || this.#compared.size >= bounds.comparedPages || !isWholePage(html)) return;
    const { outcome, html: before } = await this.#pages.page(url);
    if (outcome !== "found" || !isWholePage(before)) return;
    const scan = new UrlScan();
    scan.read(url);
    const isSame = visibleContent(before) === visibleContent(html);
    const lines = longest(isSame ? ownText(html) : changedLines(before, html));
    this.#compared.set(keyOf(scan.pageHigh, scan.pageLow), { isSame, lines });
  }

  /** Compares the two runs, after all pages of this run were seen, and adds the result to `trust`. */
  async compareRuns(trust: LastmodEvidence, isComplete: boolean): Promise<void> {
    const pairs = { sameDate: { same: 0, other: 0 }, newDate: { same: 0, other: 0 } };
    const isSamePage = this.#verdicts();
    let [pages, shared, dated, atRequest] = [0, 0, 0, 0];
    for (const [now, before] of this.#now.groupsWith(this.#before)) {
      if (await this.#run.time.isOver()) return;
      pages += 1;
      if (before.starts.length === 0) continue;
      shared += 1;
      const [one, two] = [dateOf(before), dateOf(now)];
      // A day and a time cannot be compared with certainty.
      if (one === undefined || two === undefined || one < 0 !== two < 0) continue;
      dated += 1;
      const hasNewDate = contradicts(one, two);
      if (hasNewDate && isAtRequest(before) && isAtRequest(now)) atRequest += 1;
      const at = now.starts[0]!;
      const isSame = isSamePage(keyOf(now.words[at]!, now.words[at + 1]!));
      if (isSame !== undefined) pairs[hasNewDate ? "newDate" : "sameDate"][isSame ? "same" : "other"] += 1;
    }
    const { sameDate, newDate } = pairs;
    if (sameDate.same + sameDate.other + newDate.same + newDate.other >= fewestCompared) {
      trust.compareRuns(true, true, sameDate.same);
      trust.compareRuns(true, false, sameDate.other);
      trust.compareRuns(false, true, newDate.same);
      trust.compareRuns(false, false, newDate.other);
      return;
    }
    // Without page content, dates are certainly wrong only if they are the time of the request in both runs.
    const isWhole = isComplete && this.#isWhole && !this.#now.isCut && !this.#before.isCut;
    if (!isWhole || dated < bounds.trustedDates || atRequest < dated * bounds.nearlyAll) return;
    const most = Math.max(pages, this.#earlierPages());
    if (shared < most * bounds.nearlyAll) return;
    trust.compareRuns(false, true, atRequest);
    trust.compareRuns(true, true, dated - atRequest);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#spill.close();
    await this.#tree?.close();
  }

  // Returns a function that tells whether a page is the same as before. Lines that several pages share belong to the template. A page
  // without lines of its own may be the shell of an application, and one with only shared changes may have a new footer: both are
  // undefined.
  #verdicts(): (key: string) => boolean | undefined {
    const counts = new Map<number, number>();
    for (const { lines } of this.#compared.values())
      for (const line of lines.keys()) counts.set(line, (counts.get(line) ?? 0) + 1);
    return (key) => {
      const { isSame, lines = [] } = this.#compared.get(key) ?? {};
      let letters = 0;
      for (const [line, length] of lines) if (counts.get(line) === 1) letters += length;
      return letters >= bounds.ownLetters ? isSame : undefined;
    };
  }

  #earlierPages(): number {
    let count = 0;
    for (const _ of this.#before.groups()) count += 1;
    return count;
  }
}

// A record has two words for the page, one for its date, and one for whether the date is the time of the request.
const recordLayout = { ...joinLimits, width: 4, keyLength: 2 } as const;

function addRecord(
  join: Join,
  { pageHigh, pageLow }: UrlScan,
  date: number,
  isTime: boolean,
  receivedAt: number,
): void {
  const isNear = isTime && Math.abs(date - receivedAt) <= bounds.requestSpread * 1000;
  join.add(pageHigh, pageLow, toWord(date, isTime), isNear ? 1 : 0);
}

// Returns the date of a page. Undefined if it has none, or if its sitemaps contradict each other.
function dateOf({ words, starts }: Group): number | undefined {
  const dates = new Set(starts.map((at) => words[at + 2]!));
  const [date = noDate] = dates;
  return dates.size === 1 && date !== noDate ? date : undefined;
}

function isAtRequest({ words, starts }: Group): boolean {
  return starts.every((at) => words[at + 3] === 1);
}

function keyOf(high: number, low: number): string {
  return `${high | 0} ${low | 0}`;
}

function isWholePage(html: string): boolean {
  return html !== "" && Buffer.byteLength(html) < bounds.pageBytes;
}

// Returns the text of a page without its title, which may be all that a script filled in, and without links, whose text is about other
// pages.
function ownText(html: string): Set<string> {
  return new Set(visibleText(html.replace(/<title[\s>][^<]*/i, ""), { links: false }));
}

// Returns the lines that only one of two versions has. Ignores numbers, because times and counters change by themselves.
function changedLines(before: string, now: string): Set<string> {
  const textOf = (html: string) => new Set(Array.from(ownText(html), (line) => line.replaceAll(/\d+/g, "")));
  const [one, two] = [textOf(before), textOf(now)];
  const only = (own: Set<string>, other: Set<string>) => [...own].filter((line) => !other.has(line));
  return new Set([...only(one, two), ...only(two, one)]);
}

function longest(lines: ReadonlySet<string>): ReadonlyMap<number, number> {
  const reader = new FingerprintReader();
  const sorted = [...lines].sort((one, two) => two.length - one.length).slice(0, mostLines);
  return new Map(
    sorted.map((line) => {
      reader.read(line);
      return [(reader.high >>> 0) * 2 ** 21 + (reader.low >>> 11), line.match(/\p{L}/gu)?.length ?? 0];
    }),
  );
}

const mostLines = 16;
