// From a tree to the facts of its report: pages are counted during the check, in one pass, then come the facts that need
// no pages. Every table is limited; what is beyond the limit is counted together.
import { checkTreeWhile } from "../check/check-tree.ts";
import type { AlternateSet } from "../check/language-rules.ts";
import type { PageWatcher } from "../check/page-watcher.ts";
import { type CheckResult, failedInWords, severitiesInWords } from "../check/result.ts";
import type { UrlScan } from "../check/url-scan.ts";
import type { DiffSummary } from "../model/change.ts";
import { counted } from "../model/figures.ts";
import type { SitemapPage } from "../model/page.ts";
import { messageWithHint } from "../model/problem.ts";
import { version } from "../model/version.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { sitemapFacts } from "./fetched.ts";
import { findingGroups } from "./finding-list.ts";
import { shortened } from "./html.ts";
import { pageOf } from "./html-page.ts";
import { LanguageMatrix } from "./languages.ts";
import { mapSections } from "./map.ts";
import type { ReportDiscovery, ReportFacts, ReportLanguages, ReportOptions, ReportShare } from "./report-tree.ts";
import { mostBytes, type Room, rooms } from "./room.ts";
import { PageSections, type Section, Sections } from "./sections.ts";
import { changesOf, changesSince } from "./since.ts";
import { DateCounts, timelineOf } from "./timeline.ts";

/** Options are checked already. */
export async function collectFacts(tree: SitemapTree, options: ReportOptions): Promise<ReportFacts> {
  const { check, previous, signal = check?.signal } = options;
  let collector: Collector | undefined;
  try {
    const result = await checkTreeWhile(tree, { ...check, signal }, (receivedAt) => {
      collector = new Collector(receivedAt);
      return collector;
    });
    const counts = collector as Collector;
    const sections = await counts.sections();
    const changes = previous === undefined ? undefined : await changesSince(previous, tree, signal);
    const [usual, ...smaller] = rooms;
    let facts = factsOf(tree, result, counts, sections, changes, usual);
    for (const room of smaller) {
      if (Buffer.byteLength(pageOf(facts)) <= mostBytes) break;
      facts = factsOf(tree, result, counts, sections, changes, room);
    }
    return facts;
  } finally {
    await collector?.close();
  }
}

function factsOf(
  tree: SitemapTree,
  result: CheckResult,
  collector: Collector,
  sections: Section,
  changes: DiffSummary | undefined,
  room: Room,
): ReportFacts {
  const { sitemaps, formats, figures } = sitemapFacts(tree, room);
  const languages = languagesOf(tree, collector);
  const { dates, images, pagesWithImages, videos, pagesWithVideos, stories } = collector;
  const { medianAge } = dates;
  const { unreachable } = tree;
  const duplicates = result.findings.reduce((sum, { rule, count }) => sum + (rule === "url-duplicate" ? count : 0), 0);
  return {
    version: 1,
    generator: `sitegrove ${version}`,
    homepage: shortened(tree.homepage),
    receivedAt: new Date(collector.receivedAt).toISOString(),
    complete: result.complete,
    verdict: verdict(tree, result, figures),
    ...(unreachable === undefined ? {} : { unreachable: shortened(messageWithHint(unreachable.reason)) }),
    figures: {
      pages: tree.pageCount,
      duplicates,
      flawedPages: collector.flawed,
      sitemaps: result.sitemapCount,
      ...figures,
      dated: dates.dated,
      ...(medianAge === undefined ? {} : { medianAge }),
      languages: languages.languages.filter(({ language }) => language !== undefined).length + languages.others,
    },
    counts: result.counts,
    places: result.places,
    findings: findingGroups(result, room),
    notJudged: result.notJudged,
    sections: mapSections(sections, room),
    timeline: timelineOf(collector),
    languages,
    hosts: hostsOf(sections, room),
    formats,
    media: { images, pagesWithImages, videos, pagesWithVideos, stories },
    sitemaps,
    discovery: discoveryOf(tree, room),
    ...(changes === undefined ? {} : { changes: changesOf(changes, room) }),
  };
}

function verdict(
  tree: SitemapTree,
  result: CheckResult,
  { unreadable, incomplete }: { unreadable: number; incomplete: number },
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

const mostLanguages = 24;

function languagesOf(tree: SitemapTree, { languages: matrix, pagesWithAlternates }: Collector): ReportLanguages {
  const { languages, links } = matrix.finish();
  const shown = languages.slice(0, mostLanguages);
  return {
    languages: shown,
    others: languages.length - shown.length,
    links: shown.map((_, row) =>
      shown.map((_, column) => {
        const cell = links(row, column);
        return cell === undefined ? null : { ...cell };
      }),
    ),
    judged: tree.complete,
    defaultPages: matrix.defaultPages,
    pages: pagesWithAlternates,
  };
}

const mostHosts = 12;

function hostsOf({ children }: Section, { text }: Room): ReportShare[] {
  const hosts = children.filter(({ kind }) => kind === "section");
  const rest = children.filter((child) => child.kind === "rest" || hosts.indexOf(child) >= mostHosts);
  const others = rest.reduce((sum, { sections = 1 }) => sum + sections, 0);
  return [
    ...hosts.slice(0, mostHosts).map(({ name, pages }) => ({ name: shortened(name, Math.min(text, 80)), pages })),
    ...(others === 0 ? [] : [{ name: "", pages: rest.reduce((sum, { pages }) => sum + pages, 0), others }]),
  ];
}

function discoveryOf({ discovery }: SitemapTree, { rows, text }: Room): ReportDiscovery {
  return {
    rows: discovery.slice(0, rows / 2).map(({ url, by, outcome, status, sameAs, finalUrl = sameAs, reason }) => ({
      url: shortened(url, text),
      by,
      outcome,
      ...(status === undefined ? {} : { status }),
      ...(finalUrl === undefined ? {} : { finalUrl: shortened(finalUrl, text) }),
      ...(reason === undefined ? {} : { reason: shortened(reason.message, text) }),
    })),
    others: Math.max(0, discovery.length - rows / 2),
  };
}

export class Collector implements PageWatcher {
  readonly receivedAt: number;
  readonly dates: DateCounts;
  readonly languages: LanguageMatrix = new LanguageMatrix();
  readonly #sections = new Sections();
  readonly #pageSections = new PageSections();
  /** All pages; those of a repeated sitemap once. */
  pages = 0;
  /** Pages with errors or warnings of their own. */
  flawed = 0;
  images = 0;
  pagesWithImages = 0;
  videos = 0;
  pagesWithVideos = 0;
  stories = 0;
  pagesWithAlternates = 0;

  /** `receivedAt`: when the website was received, in milliseconds; ages are counted from it. */
  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
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
    if (alternates !== undefined) {
      this.pagesWithAlternates += 1;
      this.languages.add(page, alternates);
    }
    const { images, videos } = page;
    if (images !== undefined) {
      this.pagesWithImages += 1;
      this.images += images.length;
    }
    if (videos !== undefined) {
      this.pagesWithVideos += 1;
      this.videos += videos.length;
    }
    if (page.newsStory !== undefined) this.stories += 1;
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
  async sections(): Promise<Section> {
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
