// Compares a run with the archive of an earlier one, to see whether dates changed when their pages did. Only pages that both runs requested
// can be compared.

import { hasTime } from "../../model/instant.ts";
import { urlKey } from "../../model/url.ts";
import { archivedPages, type PageFetch } from "../../pages/fetch-pages.ts";
import { visibleContent, visibleText } from "../../pages/visible-content.ts";
import { openTree } from "../../tree/build.ts";
import { partsOf, robotsOf, type SitemapTree } from "../../tree/tree.ts";
import { type CheckRun, SiteContext } from "../context.ts";
import { bounds } from "../rules/bounds.ts";
import { textNumber } from "../rules/url-scan.ts";
import { fewestCompared, type LastmodEvidence } from "./lastmod-trust.ts";

/** A page whose content was compared. */
interface ComparedPage {
  readonly isSame: boolean;
  /** The longest lines of its text (only changed lines if it changed): their fingerprints, each with its number of letters. */
  readonly lines: ReadonlyMap<number, number>;
}

export class EarlierRun {
  readonly #run: CheckRun;
  readonly #tree: SitemapTree;
  readonly #stop = new AbortController();
  readonly #pages: PageFetch;
  // The pages whose content was compared, by `urlKey`.
  readonly #compared = new Map<string, ComparedPage>();

  /** Opens the archive of an earlier run. Rejects with a `SitemapError` if it cannot be read. */
  static async open(path: string, run: CheckRun): Promise<EarlierRun> {
    const { rewrite } = partsOf(run.tree).settings;
    return new EarlierRun(await openTree(path, { rewrite, signal: run.settings.signal }), run);
  }

  private constructor(tree: SitemapTree, run: CheckRun) {
    this.#run = run;
    this.#tree = tree;
    this.#pages = archivedPages(partsOf(tree), robotsOf(tree), bounds.pageBytes, this.#stop.signal);
  }

  /** Compares the content of a page with that in the earlier run, if both are complete HTML. Compares `bounds.comparedPages` at most. */
  async compare(url: string, html: string): Promise<void> {
    if (this.#compared.size >= bounds.comparedPages || !isWholePage(html)) return;
    const { outcome, html: before } = await this.#pages.page(url);
    if (outcome !== "found" || !isWholePage(before)) return;
    const isSame = visibleContent(before) === visibleContent(html);
    const lines = longest(isSame ? ownText(html) : changedLines(before, html));
    this.#compared.set(urlKey(url), { isSame, lines });
  }

  /** Adds to `trust` how many of the compared pages changed without their dates, and vice versa. */
  async addEvidence(trust: LastmodEvidence): Promise<void> {
    if (this.#compared.size < fewestCompared) return;
    const before = await this.#datesIn(this.#tree);
    const now = await this.#datesIn(this.#run.tree);
    if (this.#run.time.isUp) return;
    const isSamePage = this.#verdicts();
    let [compared, neverChanges, alwaysChanges] = [0, 0, 0];
    for (const [key, page] of this.#compared) {
      const [one, two, isSame] = [before.get(key), now.get(key), isSamePage(page)];
      // A day and a time cannot be compared with certainty.
      if (isSame === undefined || !one || !two || hasTime(one) !== hasTime(two)) continue;
      compared += 1;
      const isSameDate = Math.abs(Date.parse(one) - Date.parse(two)) <= bounds.lastmodConflict;
      if (isSameDate && !isSame) neverChanges += 1;
      if (!isSameDate && isSame) alwaysChanges += 1;
    }
    if (compared >= fewestCompared) trust.compareRuns(compared, neverChanges, alwaysChanges);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#tree.close();
  }

  // Returns the dates of the compared pages; undefined for a page that is listed with different dates.
  async #datesIn(tree: SitemapTree): Promise<ReadonlyMap<string, string | undefined>> {
    const site = new SiteContext(tree);
    const dates = new Map<string, string | undefined>();
    for (const sitemap of tree.sitemaps()) {
      if (sitemap.kind !== "pages" || !site.isForSearch(sitemap)) continue;
      for await (const step of tree.walk(sitemap)) {
        if (await this.#run.time.isOver()) return dates;
        if (step.type !== "pages") continue;
        for (const { url, lastModified = "" } of step.pages) {
          const key = urlKey(url);
          if (!this.#compared.has(key)) continue;
          dates.set(key, dates.has(key) && dates.get(key) !== lastModified ? undefined : lastModified);
        }
      }
    }
    return dates;
  }

  // Returns a function that tells whether a page is the same as before. Lines that several pages share belong to the template. The function
  // returns undefined for a page without lines of its own, which may be the shell of an application, and for one with only shared changes,
  // which may have a new footer.
  #verdicts(): (page: ComparedPage) => boolean | undefined {
    const counts = new Map<number, number>();
    for (const { lines } of this.#compared.values())
      for (const line of lines.keys()) counts.set(line, (counts.get(line) ?? 0) + 1);
    return ({ isSame, lines }) => {
      let letters = 0;
      for (const [line, length] of lines) if (counts.get(line) === 1) letters += length;
      return letters >= bounds.ownLetters ? isSame : undefined;
    };
  }
}

function isWholePage(html: string): boolean {
  return html !== "" && Buffer.byteLength(html) < bounds.pageBytes;
}

// Returns the text of a page without its title, which even the empty shell of an application may have, and without links, whose text is
// about other pages.
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

// Returns the longest lines of a text: their fingerprints, each with its number of letters.
function longest(lines: ReadonlySet<string>): ReadonlyMap<number, number> {
  const sorted = [...lines].sort((one, two) => two.length - one.length).slice(0, mostLines);
  return new Map(sorted.map((line) => [textNumber(line), line.match(/\p{L}/gu)?.length ?? 0]));
}

const mostLines = 16;
