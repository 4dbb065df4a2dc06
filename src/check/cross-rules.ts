// Rules across all sitemaps: stores a record per page, and joins the records at the end. Findings are counted for each sitemap; the text of
// the first examples is read again from the documents.

import { Marks } from "../join/marks.ts";
import { OrderedRecords } from "../join/ordered-records.ts";
import { SpillFile } from "../join/spill-file.ts";
import { Texts as JoinTexts } from "../join/texts.ts";
import { hasTime } from "../model/instant.ts";
import type { SitemapPage } from "../model/page.ts";
import { Clusters } from "./clusters.ts";
import type { CheckRun } from "./context.ts";
import type { FindingDraft } from "./findings.ts";
import type { OccurrenceRows } from "./occurrence-rows.ts";
import { type Found, UrlRecords } from "./page-records.ts";
import type { RuleId } from "./rule-id.ts";
import type { AlternateSet } from "./rules/languages.ts";
import type { UrlScan } from "./url-scan.ts";
import type { PageWatcher } from "./watcher.ts";
import type { WebsitePages } from "./website-pages.ts";

type Case = Pick<Found, "ordinal" | "other">;

/** The parts of a page that examples show. */
type Texts = Pick<SitemapPage, "url"> & {
  readonly [Name in "lastModified" | "alternates"]?: SitemapPage[Name] | undefined;
};

/** Cases of a rule in the sitemap with this number. `cases`: the first ones, in order. */
type Tally = { readonly rule: RuleId; readonly number: number; count: number; readonly cases: Case[] };

export class CrossRules {
  readonly #run: CheckRun;
  readonly #pages: WebsitePages;
  readonly #spill = new SpillFile();
  readonly #records = new UrlRecords(this.#spill);
  readonly #clusters: Clusters;
  readonly #watcher: PageWatcher | undefined;
  readonly #tallies = new Map<string, Tally>();
  #all: ListedCases | undefined;

  constructor(run: CheckRun, pages: WebsitePages, watcher: PageWatcher | undefined) {
    this.#run = run;
    this.#pages = pages;
    this.#watcher = watcher;
    this.#clusters = new Clusters(this.#spill);
  }

  /** `lastModified` in milliseconds, NaN for none. */
  see(page: SitemapPage, scan: UrlScan, lastModified: number, alternates: AlternateSet | undefined): void {
    const ordinal = this.#pages.count;
    this.#records.add(scan, ordinal, lastModified, hasTime(page.lastModified ?? ""), alternates);
    if (alternates !== undefined) this.#clusters.add(scan, alternates, ordinal);
  }

  /** All pages were seen. `isKnownHost`: whether sitemaps of a URL's host were read. Returns whether there were too many records. */
  async finish(isComplete: boolean, isKnownHost: (url: string, hostEnd: number) => boolean): Promise<boolean> {
    const pages = this.#pages;
    const { time, site } = this.#run;
    const skipped = new Set<RuleId>();
    if (!isComplete || !site.isSite) skipped.add("hreflang-target-unlisted");
    const conflicts = new Marks(pages.count);
    await this.#countAll(this.#records.findings(pages, conflicts), skipped);
    if (!time.isUp) this.#clusters.settle(pages.count, conflicts);
    if (this.#clusters.unsettled.isAny) {
      await this.#readLinks(isKnownHost);
      await this.#countAll(this.#clusters.findings(this.#records), skipped);
    }
    const isCut = this.#records.join.isCut || this.#clusters.isCut;
    const { rows } = this.#run.findings;
    if (rows !== undefined) await this.#list(rows);
    this.close();
    await this.#report();
    return isCut;
  }

  close(): void {
    this.#spill.close();
  }

  async #readLinks(isKnownHost: (url: string, hostEnd: number) => boolean): Promise<void> {
    for await (const batch of this.#pages.marked(this.#clusters.unsettled)) {
      if (await this.#run.time.isOver()) return;
      for (const [ordinal, page] of batch) this.#clusters.addLinks(page, ordinal, isKnownHost);
    }
  }

  async #countAll(all: Iterable<Found>, skipped: ReadonlySet<RuleId>): Promise<void> {
    const { time, findings } = this.#run;
    const most = findings.isUncapped
      ? Number.POSITIVE_INFINITY
      : this.#pages.sitemapCount > manySitemaps
        ? fewCases
        : mostCases;
    for (const { rule, ordinal, other } of all) {
      if (await time.isOver()) return;
      if (skipped.has(rule)) continue;
      const number = this.#pages.sitemapOf(ordinal);
      const key = `${rule} ${number}`;
      const tally = this.#tallies.get(key) ?? { rule, number, count: 0, cases: [] };
      this.#tallies.set(key, tally);
      tally.count += 1;
      const severity = this.#watcher && findings.severity(rule, this.#pages.sitemap(number).url);
      if (severity === "error" || severity === "warning") this.#watcher?.addFlaw(ordinal);
      keepFirst(tally.cases, { ordinal, other }, most);
      if (findings.rows === undefined) continue;
      this.#all ??= new ListedCases(this.#spill, this.#pages.count);
      this.#all.add(rule, ordinal, other);
    }
    // Those that are all kept come in the order of their fingerprints, which differ in every run.
    for (const { cases } of this.#tallies.values()) if (cases.length > mostCases) cases.sort(byPlace);
  }

  // Lists every case, in the order of the pages: their texts are read again, first those that they are compared with.
  async #list(rows: OccurrenceRows): Promise<void> {
    const { findings, time } = this.#run;
    const pages = this.#pages;
    const all = this.#all;
    if (all === undefined) return;
    for await (const batch of pages.marked(all.others)) {
      if (await time.isOver()) return;
      for (const [ordinal, page] of batch) all.addText(ordinal, page);
    }
    const listed = all.cases();
    let next = listed.next();
    for await (const batch of pages.marked(all.pages)) {
      if (await time.isOver()) return;
      let number = 0;
      for (const [ordinal, page] of batch) {
        number = pages.sitemapOf(ordinal);
        const sitemap = pages.sitemap(number).url;
        for (; !next.done && next.value.ordinal === ordinal; next = listed.next()) {
          const { rule, other, text } = next.value;
          const draft = findings.draft(rule, sitemap);
          const value = this.#valueOf(rule, page, other, text);
          if (draft !== undefined) findings.occur(draft, { url: page.url, value }, false);
        }
      }
      const last = batch.at(-1)?.[0];
      if (last === undefined) continue;
      await rows.settlePages(pages.sitemap(number).url, last - pages.start(number), () => pages.text(number));
    }
  }

  // What an example shows beside the page. `text`: of the page that it is compared with.
  #valueOf(rule: RuleId, page: Texts, other: number, text: string | undefined): string | undefined {
    if (rule === "url-variants") return text;
    if (rule.startsWith("hreflang-")) return page.alternates?.[other]?.url;
    const elsewhere = this.#pages.sitemap(this.#pages.sitemapOf(other)).url;
    return rule === "url-duplicate" ? elsewhere : `${page.lastModified}, but ${text} in ${elsewhere}`;
  }

  async #report(): Promise<void> {
    const { findings, time } = this.#run;
    const wanted: { readonly rule: RuleId; readonly draft: FindingDraft; readonly found: Case }[] = [];
    const texts = new Map<number, Texts | undefined>();
    for (const { rule, number, count, cases } of [...this.#tallies.values()].sort(
      (one, two) => one.number - two.number,
    )) {
      const draft = findings.draft(rule, this.#pages.sitemap(number).url);
      if (draft === undefined) continue;
      draft.count += count;
      for (const found of cases.slice(0, draft.room)) {
        wanted.push({ rule, draft, found });
        texts.set(found.ordinal, undefined);
        if (isCompared(rule)) texts.set(found.other, undefined);
      }
    }
    const shownPages = new Marks(this.#pages.count);
    for (const ordinal of texts.keys()) shownPages.set(ordinal);
    for await (const batch of this.#pages.marked(shownPages)) {
      if (time.isUp) break;
      // Copies: a page keeps the text of its document alive.
      for (const [ordinal, { url, lastModified, alternates }] of batch)
        texts.set(ordinal, structuredClone({ url, lastModified, alternates }));
    }
    for (const { rule, draft, found } of wanted) {
      const page = texts.get(found.ordinal);
      if (page === undefined) continue;
      const value = this.#valueOf(rule, page, found.other, comparedText(rule, texts.get(found.other)));
      findings.illustrate(draft, { url: page.url, value });
    }
  }
}

const mostCases = 20;
const fewCases = 3;
const manySitemaps = 1000;

const byPlace = (one: Case, two: Case) => one.ordinal - two.ordinal || one.other - two.other;

// Cases come in the order of their fingerprints, which differ in every run.
function keepFirst(cases: Case[], found: Case, most: number): void {
  if (cases.length === most && byPlace(found, cases[most - 1]!) >= 0) return;
  cases.push(found);
  if (most > mostCases) return;
  cases.sort(byPlace);
  cases.length = Math.min(cases.length, most);
}

/** Whether a rule compares a page with another one, whose text an example shows. */
function isCompared(rule: RuleId): boolean {
  return rule === "url-variants" || rule === "url-lastmod-conflict";
}

function comparedText(rule: RuleId, page: Texts | undefined): string | undefined {
  return rule === "url-variants" ? page?.url : page?.lastModified;
}

/** Every case, on disk: by the page that it is compared with, then, with the text of that page, by its own. */
class ListedCases {
  readonly #texts: JoinTexts;
  readonly #byOther: OrderedRecords;
  readonly #byPage: OrderedRecords;
  #compared: Iterator<readonly [number, Int32Array]> | undefined;
  #next: readonly [number, Int32Array] | undefined;
  readonly #rules: RuleId[] = [];
  /** The pages that cases are about, and those that they are compared with. */
  readonly pages: Marks;
  readonly others: Marks;

  constructor(spill: SpillFile, count: number) {
    this.#texts = new JoinTexts(spill);
    this.#byOther = new OrderedRecords(spill, count, 2);
    this.#byPage = new OrderedRecords(spill, count, 5);
    this.pages = new Marks(count);
    this.others = new Marks(count);
  }

  add(rule: RuleId, ordinal: number, other: number): void {
    if (!this.#rules.includes(rule)) this.#rules.push(rule);
    const number = this.#rules.indexOf(rule);
    this.pages.set(ordinal);
    if (isCompared(rule)) {
      this.#byOther.put(other, number, ordinal);
      this.others.set(other);
    } else this.#byPage.put(ordinal, number, other, 0, 0, -1);
  }

  /** Pages come in their order. */
  addText(other: number, page: SitemapPage): void {
    this.#compared ??= this.#byOther[Symbol.iterator]();
    for (
      this.#next ??= this.#compared.next().value;
      this.#next?.[0] === other;
      this.#next = this.#compared.next().value
    ) {
      const [number, ordinal] = this.#next[1];
      const span = this.#texts.add(comparedText(this.#rules[number!]!, page) ?? "");
      this.#byPage.put(ordinal! >>> 0, number!, other, ...span);
    }
  }

  /** In the order of the pages. */
  *cases(): Generator<Case & { readonly rule: RuleId; readonly text: string | undefined }, undefined> {
    for (const [ordinal, [number, other, block, offset, length]] of this.#byPage) {
      const text = length! < 0 ? undefined : this.#texts.get([block!, offset!, length!]);
      yield { rule: this.#rules[number!]!, ordinal, other: other! >>> 0, text };
    }
  }
}
