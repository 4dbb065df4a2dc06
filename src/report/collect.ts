// Collects the facts of a report. Pages are counted while the check reads them, so counting needs no second pass.
import { existsSync, statSync } from "node:fs";
import { checkTreeWhile } from "../check/check-tree.ts";
import type { DateCounts } from "../check/dates/date-counts.ts";
import type { CheckResult } from "../check/findings/result.ts";
import { failedInWords, notesInWords } from "../check/findings/words.ts";
import type { UrlScan } from "../check/rules/url-scan.ts";
import type { PageWatcher } from "../check/watcher.ts";
import { kindOfFile } from "../diff/archive-magic.ts";
import { Marks } from "../join/marks.ts";
import { counted } from "../model/figures.ts";
import type { SitemapPage } from "../model/page.ts";
import { messageWithHint } from "../model/problem.ts";
import { version } from "../model/version.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { ReportFacts, ReportFigures, ReportOptions } from "./facts.ts";
import { discoveryFacts, sitemapFacts } from "./fetched.ts";
import { findingFacts } from "./finding-list.ts";
import { fitted } from "./html.ts";
import { largestSections } from "./map.ts";
import { Sections } from "./sections.ts";
import { changeFacts } from "./since.ts";
import { timelineOf } from "./timeline.ts";

/** Collects the facts. The caller has checked the `options`. */
export async function collectFacts(tree: SitemapTree, options: ReportOptions): Promise<ReportFacts> {
  const { check, previous, signal = check?.signal } = options;
  let collector: Collector | undefined;
  const watcherFor = (dates: DateCounts) => (collector = new Collector(dates, tree.pageCount));
  const result = await checkTreeWhile(tree, { previous: archiveOf(previous), ...check, signal }, { watcherFor });
  const facts = factsOf(tree, result, collector as Collector);
  const changes = previous === undefined ? undefined : await changeFacts(previous, tree, signal);
  return { ...facts, changes };
}

// The check compares responses of pages, which only an archive has.
function archiveOf(previous: ReportOptions["previous"]): string | undefined {
  const isFile = typeof previous === "string" && existsSync(previous) && statSync(previous).isFile();
  return isFile && kindOfFile(previous) === "archive" ? previous : undefined;
}

function factsOf(tree: SitemapTree, result: CheckResult, collector: Collector): ReportFacts {
  const website = collector.sections.toTree();
  const { sitemaps, figures: read } = sitemapFacts(tree);
  const { dates, extensions, flawed: flawedPages } = collector;
  const { dated, medianAge } = dates;
  const { sitemapCount } = result;
  const duplicates = result.findings.reduce((sum, { rule, count }) => sum + (rule === "url-duplicate" ? count : 0), 0);
  const figures = { ...read, sitemaps: sitemapCount, duplicates, flawedPages, dated, medianAge };
  const { unreachable } = tree;
  const { sections: hosts = [] } = website;
  return {
    version: 1,
    generator: `sitegrove ${version}`,
    homepage: fitted(tree.homepage),
    receivedAt: new Date(dates.receivedAt).toISOString(),
    complete: result.complete,
    verdict: verdict(tree, result, figures),
    unreachable: unreachable && fitted(messageWithHint(unreachable.reason)),
    figures,
    rulesFailed: result.rulesFailed,
    occurrences: result.occurrences,
    findings: findingFacts(result),
    notChecked: result.notChecked,
    ...(result.pages && { pages: result.pages }),
    lastmodTrust: result.lastmodTrust,
    sections: largestSections(hosts.length === 1 && hosts[0]?.kind === undefined ? hosts[0]! : website),
    timeline: timelineOf(dates, collector.pages),
    extensions,
    sitemaps,
    discovery: discoveryFacts(tree.discovery),
  };
}

function verdict(
  tree: SitemapTree,
  result: CheckResult,
  { pages, sitemaps, unreadable, incomplete }: ReportFigures,
): string {
  const { findings, complete } = result;
  if (!tree.reachable) return "Nothing could be read from this website.";
  if (sitemaps === 0 && unreadable === 0) return "No sitemap was found on this website.";
  return [
    `${counted(pages, "page")} in ${counted(sitemaps, "sitemap")}.`,
    findings.length === 0
      ? complete
        ? "Nothing that search engines would reject."
        : "No findings in what could be read."
      : `${[failedInWords(result), notesInWords(result)].filter(Boolean).join("; ")}.`,
    ...(unreadable > 0 ? [`${counted(unreadable, "declared sitemap")} could not be read.`] : []),
    ...(incomplete > 0 ? [`${counted(incomplete, "sitemap")} could only be partly read.`] : []),
  ].join(" ");
}

const extensionNames = ["alternates", "images", "videos", "newsStory"] as const;

class Collector implements PageWatcher {
  readonly dates: DateCounts;
  readonly sections: Sections = new Sections();
  readonly extensions = { alternates: 0, images: 0, videos: 0, newsStory: 0 };
  /** The number of pages. Those of a sitemap that is listed twice count once. */
  pages = 0;
  /** Pages with errors or warnings. */
  flawed = 0;
  // The section of each page, because rules that compare pages add flaws after all pages were read.
  readonly #sectionOf: Uint16Array;
  readonly #isFlawed: Marks;

  constructor(dates: DateCounts, pageCount: number) {
    this.dates = dates;
    this.#sectionOf = new Uint16Array(pageCount);
    this.#isFlawed = new Marks(pageCount);
  }

  page(page: SitemapPage, scan: UrlScan, age: number, isFlawed: boolean): void {
    const ordinal = this.pages++;
    this.#sectionOf[ordinal] = this.sections.add(page.url, scan, age);
    if (isFlawed) this.addFlaw(ordinal);
    for (const name of extensionNames) if (page[name] !== undefined) this.extensions[name] += 1;
  }

  addFlaw(ordinal: number): void {
    if (this.#isFlawed.get(ordinal) !== 0) return;
    this.#isFlawed.set(ordinal);
    this.sections.addFlaw(this.#sectionOf[ordinal]!);
    this.flawed += 1;
  }
}
