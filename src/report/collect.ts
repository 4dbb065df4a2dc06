// From a tree to the facts of its report: pages are counted during the check, in one pass; the other facts follow.
import { existsSync, statSync } from "node:fs";
import { checkTreeWhile } from "../check/check-tree.ts";
import type { DateCounts } from "../check/date-counts.ts";
import type { CheckResult } from "../check/result.ts";
import type { AlternateSet } from "../check/rules/languages.ts";
import type { UrlScan } from "../check/url-scan.ts";
import type { PageWatcher } from "../check/watcher.ts";
import { failedInWords, notesInWords } from "../check/words.ts";
import { kindOfFile } from "../diff/archive-magic.ts";
import { Marks } from "../join/marks.ts";
import { OrderedRecords } from "../join/ordered-records.ts";
import { SpillFile } from "../join/spill-file.ts";
import { counted } from "../model/figures.ts";
import type { SitemapPage } from "../model/page.ts";
import { messageWithHint } from "../model/problem.ts";
import { version } from "../model/version.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { ReportFacts, ReportFigures, ReportSection } from "./facts.ts";
import { discoveryFacts, shownDiscovery, shownPreferences, shownSitemaps, sitemapFacts } from "./fetched.ts";
import { findingFacts, shownFindings } from "./finding-list.ts";
import { caps, fitted } from "./html.ts";
import { LanguageCounts, shownLanguages } from "./languages.ts";
import { shownSections } from "./map.ts";
import type { ReportOptions } from "./options.ts";
import { Sections } from "./sections.ts";
import { changeFacts, shownChanges } from "./since.ts";
import { timelineOf } from "./timeline.ts";

/** Collects the facts. The caller has already checked the `options`. */
export async function collectFacts(tree: SitemapTree, options: ReportOptions): Promise<ReportFacts> {
  const { check, previous, signal = check?.signal } = options;
  const spill = new SpillFile();
  try {
    let collector: Collector | undefined;
    const watcherFor = (dates: DateCounts) => {
      collector = new Collector(dates, tree.pageCount, spill);
      return collector;
    };
    const result = await checkTreeWhile(tree, { previous: archiveOf(previous), ...check, signal }, { watcherFor });
    const facts = await factsOf(tree, result, collector as Collector);
    const changes = previous === undefined ? undefined : await changeFacts(previous, tree, signal);
    return capped({ ...facts, changes });
  } finally {
    spill.close();
  }
}

// Only an archive contains the responses of pages.
function archiveOf(previous: ReportOptions["previous"]): string | undefined {
  const isFile = typeof previous === "string" && existsSync(previous) && statSync(previous).isFile();
  return isFile && kindOfFile(previous) === "archive" ? previous : undefined;
}

async function factsOf(tree: SitemapTree, result: CheckResult, collector: Collector): Promise<ReportFacts> {
  const website = collector.website();
  const { sitemaps, formats, figures } = sitemapFacts(tree);
  const languages = collector.languages.facts();
  const { dates } = collector;
  const { unreachable } = tree;
  const { sections: hosts = [] } = website;
  return {
    version: 1,
    generator: `sitegrove ${version}`,
    homepage: tree.homepage,
    receivedAt: new Date(dates.receivedAt).toISOString(),
    complete: result.complete,
    verdict: verdict(tree, result, figures),
    unreachable: unreachable && messageWithHint(unreachable.reason),
    figures: {
      pages: tree.pageCount,
      duplicates: result.findings.reduce((sum, { rule, count }) => sum + (rule === "url-duplicate" ? count : 0), 0),
      flawedPages: collector.flawed,
      sitemaps: result.sitemapCount,
      ...figures,
      dated: dates.dated,
      medianAge: dates.medianAge,
      languages: languages.languages.length,
    },
    rulesFailed: result.rulesFailed,
    occurrences: result.occurrences,
    findings: findingFacts(result),
    notChecked: result.notChecked,
    ...(result.pages && { pages: result.pages }),
    lastmodTrust: result.lastmodTrust,
    sections: hosts.length === 1 && hosts[0]?.kind === undefined ? hosts[0]! : website,
    timeline: timelineOf(dates, collector.pages),
    languages,
    hosts: hosts.map(({ name, pages, count }) => ({ name, pages, others: count })),
    formats,
    media: collector.media,
    sitemaps,
    discovery: discoveryFacts(tree),
    preferences: tree.root.children.flatMap((child) => (child.kind === "index" && child.preferences) || []),
    otherPreferences: 0,
  };
}

/** The first or the largest of each list, with long texts truncated. */
export function capped(facts: ReportFacts): ReportFacts {
  const named = facts.hosts.filter(({ others }) => others === undefined);
  const hosts = named.slice(0, caps.hosts).map(({ name, pages }) => ({ name: fitted(name, 80), pages }));
  const rest = [...named.slice(caps.hosts), ...facts.hosts.filter(({ others }) => others !== undefined)];
  const others = rest.reduce((sum, host) => sum + (host.others ?? 1), 0);
  const pages = rest.reduce((sum, host) => sum + host.pages, 0);
  return {
    ...facts,
    homepage: fitted(facts.homepage),
    unreachable: facts.unreachable && fitted(facts.unreachable),
    findings: shownFindings(facts.findings),
    sections: shownSections(facts.sections),
    languages: shownLanguages(facts.languages),
    hosts: others === 0 ? hosts : [...hosts, { name: "", pages, others }],
    sitemaps: shownSitemaps(facts.sitemaps),
    discovery: shownDiscovery(facts.discovery),
    preferences: shownPreferences(facts.preferences),
    otherPreferences: Math.max(0, facts.preferences.length - caps.preferences),
    changes: facts.changes && shownChanges(facts.changes),
  };
}

function verdict(
  tree: SitemapTree,
  result: CheckResult,
  { unreadable, incomplete }: Pick<ReportFigures, "unreadable" | "incomplete">,
): string {
  const { sitemapCount, pageCount, findings, complete } = result;
  if (!tree.reachable) return "Nothing could be read from this website.";
  if (sitemapCount === 0 && unreadable === 0) return "No sitemap was found on this website.";
  return [
    `${counted(pageCount, "page")} in ${counted(sitemapCount, "sitemap")}.`,
    findings.length === 0
      ? complete
        ? "Nothing that search engines would reject."
        : "No findings in what could be read."
      : `${[failedInWords(result), notesInWords(result)].filter(Boolean).join("; ")}.`,
    ...(unreadable > 0 ? [`${counted(unreadable, "declared sitemap")} could not be read.`] : []),
    ...(incomplete > 0 ? [`${counted(incomplete, "sitemap")} could only be partly read.`] : []),
  ].join(" ");
}

// This bit in the number of a page's section means that the page was counted as flawed.
const flawedBit = 0x8000_0000;

class Collector implements PageWatcher {
  readonly dates: DateCounts;
  readonly languages: LanguageCounts = new LanguageCounts();
  readonly media = { images: 0, pagesWithImages: 0, videos: 0, pagesWithVideos: 0, stories: 0 };
  /** The number of pages. Those of a repeated sitemap count once. */
  pages = 0;
  /** Pages with errors or warnings. */
  flawed = 0;
  readonly #sections = new Sections();
  // The section of each page, by its number, for rules across sitemaps that report pages at the end.
  readonly #sectionOf: OrderedRecords;
  readonly #flawedLater: Marks;

  constructor(dates: DateCounts, pageCount: number, spill: SpillFile) {
    this.dates = dates;
    this.#sectionOf = new OrderedRecords(spill, pageCount, 1);
    this.#flawedLater = new Marks(pageCount);
  }

  page(page: SitemapPage, scan: UrlScan, age: number, alternates: AlternateSet | undefined, isFlawed: boolean): void {
    const section = this.#sections.add(page.url, scan, age, isFlawed);
    this.#sectionOf.put(this.pages++, isFlawed ? section | flawedBit : section);
    if (isFlawed) this.flawed += 1;
    if (alternates !== undefined) this.languages.add(alternates);
    const { images, videos, newsStory } = page;
    const { media } = this;
    if (images !== undefined) media.pagesWithImages += 1;
    media.images += images?.length ?? 0;
    if (videos !== undefined) media.pagesWithVideos += 1;
    media.videos += videos?.length ?? 0;
    if (newsStory !== undefined) media.stories += 1;
  }

  addFlaw(ordinal: number): void {
    this.#flawedLater.set(ordinal);
  }

  /** The sections of the website, once the check is done. */
  website(): ReportSection {
    for (const [number, [section = 0]] of this.#flawedLater.isAny ? this.#sectionOf : []) {
      if (this.#flawedLater.get(number) === 0 || section < 0) continue;
      this.#sections.addFlaw(section);
      this.flawed += 1;
    }
    return this.#sections.toTree();
  }
}
