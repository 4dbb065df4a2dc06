// From a tree to the facts of its report: pages are counted during the check, in one pass, then come the facts that need
// no pages.

import { checkTreeWhile, type PageWatcher } from "../check/check-tree.ts";
import { type CheckResult, failedInWords, severitiesInWords } from "../check/result.ts";
import type { AlternateSet } from "../check/rules/languages.ts";
import type { UrlScan } from "../check/url-scan.ts";
import { counted } from "../model/figures.ts";
import type { SitemapPage } from "../model/page.ts";
import { messageWithHint } from "../model/problem.ts";
import { version } from "../model/version.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { discoveryFacts, sitemapFacts } from "./fetched.ts";
import { findingFacts } from "./finding-list.ts";
import { LanguageMatrix } from "./languages.ts";
import type { ReportFacts, ReportFigures, ReportOptions, ReportSection } from "./report-tree.ts";
import { PageSections, Sections } from "./sections.ts";
import { changeFacts } from "./since.ts";
import { DateCounts, timelineOf } from "./timeline.ts";

/** Options are checked already. */
export async function collectFacts(tree: SitemapTree, options: ReportOptions): Promise<ReportFacts> {
  const { check, previous, signal = check?.signal } = options;
  let collector: Collector | undefined;
  try {
    const result = await checkTreeWhile(tree, { ...check, signal }, (receivedAt) => {
      collector = new Collector(receivedAt, tree.pageCount);
      return collector;
    });
    const counts = collector as Collector;
    const website = await counts.sections();
    const changes = previous === undefined ? undefined : await changeFacts(previous, tree, signal);
    return { ...factsOf(tree, result, counts, website), changes };
  } finally {
    await collector?.close();
  }
}

function factsOf(tree: SitemapTree, result: CheckResult, collector: Collector, website: ReportSection): ReportFacts {
  const { sitemaps, formats, figures } = sitemapFacts(tree);
  const languages = collector.languages.facts(tree.complete);
  const { dates } = collector;
  const { unreachable } = tree;
  const { sections: hosts = [] } = website;
  return {
    version: 1,
    generator: `sitegrove ${version}`,
    homepage: tree.homepage,
    receivedAt: new Date(collector.receivedAt).toISOString(),
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
      languages: languages.languages.filter(({ language }) => language !== undefined).length,
    },
    counts: result.counts,
    places: result.places,
    findings: findingFacts(result),
    notJudged: result.notJudged,
    sections: hosts.length === 1 && hosts[0]?.kind === undefined ? hosts[0]! : website,
    timeline: timelineOf(dates, collector.pages),
    languages,
    hosts: hosts.map(({ name, pages, count }) => ({ name, pages, others: count })),
    formats,
    media: collector.media,
    sitemaps,
    discovery: discoveryFacts(tree),
    preferences: tree.root.children.flatMap((child) => (child.kind === "index" && child.preferences) || []),
  };
}

function verdict(
  tree: SitemapTree,
  result: CheckResult,
  { unreadable, incomplete }: Pick<ReportFigures, "unreadable" | "incomplete">,
): string {
  const { sitemapCount, pageCount, counts, findings } = result;
  if (!tree.reachable) return "Nothing could be read from this website.";
  if (sitemapCount === 0 && unreadable === 0) return "No sitemap was found on this website.";
  return [
    `${counted(pageCount, "page")} in ${counted(sitemapCount, "sitemap")}.`,
    findings.length === 0
      ? "Nothing that search engines would reject."
      : `${failedInWords(result)} (${severitiesInWords(counts)}).`,
    ...(unreadable > 0 ? [`${counted(unreadable, "declared sitemap")} could not be read.`] : []),
    ...(incomplete > 0 ? [`${counted(incomplete, "sitemap")} could be read only in part.`] : []),
  ].join(" ");
}

class Collector implements PageWatcher {
  readonly receivedAt: number;
  readonly dates: DateCounts;
  readonly languages: LanguageMatrix = new LanguageMatrix();
  readonly #sections = new Sections();
  readonly #pageSections: PageSections;
  /** All pages; those of a repeated sitemap once. */
  pages = 0;
  /** Pages with errors or warnings of their own. */
  flawed = 0;
  readonly media = { images: 0, pagesWithImages: 0, videos: 0, pagesWithVideos: 0, stories: 0 };

  /** `receivedAt`: when the website was received, in milliseconds; ages are counted from it. */
  constructor(receivedAt: number, pageCount: number) {
    this.receivedAt = receivedAt;
    this.#pageSections = new PageSections(pageCount);
    this.dates = new DateCounts(receivedAt);
  }

  page(
    page: SitemapPage,
    scan: UrlScan,
    lastModified: number,
    alternates: AlternateSet | undefined,
    isFlawed: boolean,
  ): void {
    this.pages += 1;
    if (isFlawed) this.flawed += 1;
    const age = this.dates.add(lastModified, page.lastModified);
    this.#pageSections.add(this.#sections.add(page.url, scan, age, isFlawed), isFlawed);
    if (alternates !== undefined) this.languages.add(page, alternates);
    const { images, videos, newsStory } = page;
    const { media } = this;
    if (images !== undefined) media.pagesWithImages += 1;
    media.images += images?.length ?? 0;
    if (videos !== undefined) media.pagesWithVideos += 1;
    media.videos += videos?.length ?? 0;
    if (newsStory !== undefined) media.stories += 1;
  }

  flush(): Promise<void> {
    return this.#pageSections.flush();
  }

  addFlaw(ordinal: number): void {
    this.#pageSections.flaw(ordinal);
  }

  languagePair(own: string | undefined, language: string): number {
    return this.languages.pair(own, language);
  }

  link(pair: number, outcome: "no-return" | "unlisted"): void {
    this.languages.miss(pair, outcome);
  }

  /** The sections of the website, once the check is done. */
  async sections(): Promise<ReportSection> {
    for await (const section of this.#pageSections.newlyFlawed()) {
      this.#sections.addFlaw(section);
      this.flawed += 1;
    }
    return this.#sections.toTree();
  }

  /** Releases the disk. */
  close(): Promise<void> {
    return this.#pageSections.close();
  }
}
