// Checks rules that compare pages of all sitemaps: stores a record per page, and joins the records at the end. To show cases, it reads
// their pages again from the documents, in order.
import { Marks } from "../../join/marks.ts";
import { OrderedRecords } from "../../join/ordered-records.ts";
import { SpillFile } from "../../join/spill-file.ts";
import { Texts } from "../../join/texts.ts";
import { hasTime } from "../../model/instant.ts";
import type { SitemapPage } from "../../model/page.ts";
import type { CheckRun } from "../context.ts";
import type { FindingDraft } from "../findings/findings.ts";
import type { AlternateSet } from "../rules/languages.ts";
import type { UrlScan } from "../rules/url-scan.ts";
import type { PageWatcher } from "../watcher.ts";
import { Clusters } from "./clusters.ts";
import { crossRules, type Found, UrlRecords } from "./page-records.ts";
import type { WebsitePages } from "./website-pages.ts";

export class CrossRules {
  readonly #run: CheckRun;
  readonly #pages: WebsitePages;
  readonly #spill = new SpillFile();
  readonly #records = new UrlRecords(this.#spill);
  readonly #clusters: Clusters;
  readonly #watcher: PageWatcher | undefined;

  constructor(run: CheckRun, pages: WebsitePages, watcher: PageWatcher | undefined) {
    this.#run = run;
    this.#pages = pages;
    this.#watcher = watcher;
    this.#clusters = new Clusters(this.#spill);
  }

  /** Records a page. `lastModified` is in milliseconds, NaN for none. */
  record(page: SitemapPage, scan: UrlScan, lastModified: number, alternates: AlternateSet | undefined): void {
    const ordinal = this.#pages.count;
    this.#records.add(scan, ordinal, lastModified, hasTime(page.lastModified ?? ""), alternates);
    if (alternates !== undefined) this.#clusters.add(scan, alternates, ordinal);
  }

  /**
   * Joins the records, after all pages were seen. `isKnownHost` tells whether sitemaps on a URL's host were read. Returns whether there
   * were too many records, and whether return links may be in sitemaps that could not be read.
   */
  async finish(
    isComplete: boolean,
    isKnownHost: (url: string, hostEnd: number) => boolean,
  ): Promise<{ readonly isCut: boolean; readonly mayReturn: boolean }> {
    const pages = this.#pages;
    const { time, site } = this.#run;
    const clusters = this.#clusters;
    const conflicts = new Marks(pages.count);
    const cases = new Cases(this.#spill, pages.count);
    await this.#collect(this.#records.findings(pages, conflicts), cases);
    if (!time.isUp) clusters.settle(pages.count, conflicts);
    if (clusters.unsettled.isAny) {
      for await (const batch of pages.marked(clusters.unsettled)) {
        if (await time.isOver()) break;
        for (const [ordinal, page] of batch) clusters.addLinks(page, ordinal, isKnownHost);
      }
      await this.#collect(clusters.findings(this.#records, isComplete, isComplete && site.isSite), cases);
    }
    await this.#show(cases);
    this.close();
    return { isCut: this.#records.join.isCut || clusters.isCut, mayReturn: clusters.mayReturn };
  }

  close(): void {
    this.#spill.close();
  }

  async #collect(found: Iterable<Found>, cases: Cases): Promise<void> {
    for (const each of found) {
      if (await this.#run.time.isOver()) return;
      cases.add(each);
    }
  }

  // Counts the cases, shows the first ones as examples while their finding has room, and lists all as rows if the caller wants rows.
  async #show(cases: Cases): Promise<void> {
    const { findings, time } = this.#run;
    const { rows } = findings;
    const pages = this.#pages;
    const shown = new Cases(this.#spill, pages.count);
    // Cases that show the URL or date of the other page, sorted by that page.
    const compared = new Cases(this.#spill, pages.count);
    const room = new Map<FindingDraft, number>();
    for (const found of cases.inOrder()) {
      if (await time.isOver()) return;
      const { rule, ordinal, other } = found;
      const draft = this.#draftOf(found);
      if (draft === undefined) continue;
      draft.count += 1;
      if (draft.severity !== "info") this.#watcher?.addFlaw(ordinal);
      const left = room.get(draft) ?? draft.room;
      room.set(draft, left - 1);
      if (left <= 0 && rows === undefined) continue;
      if (rule === "url-variants" || rule === "url-lastmod-conflict")
        compared.add({ rule, ordinal: other, other: ordinal });
      else shown.add(found);
    }
    for await (const batch of this.#read(compared))
      for (const [{ rule, ordinal, other }, { url, lastModified }] of batch)
        shown.add({ rule, ordinal: other, other: ordinal }, rule === "url-variants" ? url : lastModified);
    for await (const batch of this.#read(shown)) {
      for (const [found, page] of batch) {
        const draft = this.#draftOf(found);
        if (draft !== undefined) findings.show(draft, { url: page.url, value: this.#valueOf(found, page) }, false);
      }
      const [last] = batch.at(-1) ?? [];
      if (last !== undefined) await rows?.settlePages(pages.sitemapOf(last.ordinal), time);
    }
  }

  // Yields cases with their pages, which it reads again from the documents.
  async *#read(cases: Cases): AsyncGenerator<readonly (readonly [Case, SitemapPage])[], void> {
    const list = cases.inOrder();
    let next = list.next();
    for await (const batch of this.#pages.marked(cases.pages)) {
      if (await this.#run.time.isOver()) return;
      const found: [Case, SitemapPage][] = [];
      for (const [ordinal, page] of batch)
        for (; !next.done && next.value.ordinal === ordinal; next = list.next()) found.push([next.value, page]);
      yield found;
    }
  }

  #draftOf({ rule, ordinal }: Found): FindingDraft | undefined {
    return this.#run.findings.draft(rule, this.#pages.sitemapOf(ordinal).url);
  }

  // Returns what an example shows besides the page.
  #valueOf({ rule, other, text }: Case, page: SitemapPage): string | undefined {
    if (rule === "url-variants") return text;
    if (rule.startsWith("hreflang-")) return page.alternates?.[other]?.url;
    const elsewhere = this.#pages.sitemapOf(other).url;
    return rule === "url-duplicate" ? elsewhere : `${page.lastModified}, but ${text} in ${elsewhere}`;
  }
}

/** A case to show. `text` is the URL or date of the other page, if the example shows it. */
type Case = Found & { readonly text: string | undefined };

/** Stores cases on disk, by the number of their page. */
class Cases {
  readonly #texts: Texts;
  readonly #records: OrderedRecords;
  /** The pages that have a case. */
  readonly pages: Marks;

  constructor(spill: SpillFile, count: number) {
    this.#texts = new Texts(spill);
    this.#records = new OrderedRecords(spill, count, 5);
    this.pages = new Marks(count);
  }

  add({ rule, ordinal, other }: Found, text?: string): void {
    const span = text === undefined ? ([0, 0, -1] as const) : this.#texts.add(text);
    this.#records.put(ordinal, crossRules.indexOf(rule), other, ...span);
    this.pages.set(ordinal);
  }

  /** Yields the cases in the order of the pages. Sorts the cases of one page, because joins find them in no particular order. */
  *inOrder(): Generator<Case, undefined> {
    let own: Case[] = [];
    const sorted = () =>
      own.sort((one, two) => crossRules.indexOf(one.rule) - crossRules.indexOf(two.rule) || one.other - two.other);
    for (const [ordinal, [rule, other, block, offset, length]] of this.#records) {
      if (own[0] !== undefined && own[0].ordinal !== ordinal) {
        yield* sorted();
        own = [];
      }
      const text = length! < 0 ? undefined : this.#texts.get([block!, offset!, length!]);
      own.push({ rule: crossRules[rule!]!, ordinal, other: other! >>> 0, text });
    }
    yield* sorted();
  }
}
