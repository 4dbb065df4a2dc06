// From a tree to the facts of its report: the check and the counting in one pass, then the facts that need no pages.

import { checkTreeWhile } from "../check/check-tree.ts";
import { type CheckResult, failedInWords, severitiesInWords } from "../check/result.ts";
import type { DiffSummary } from "../model/change.ts";
import { counted } from "../model/figures.ts";
import { messageWithHint } from "../model/problem.ts";
import { version } from "../model/version.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { changesOf, changesSince } from "./changes.ts";
import { Collector } from "./collect.ts";
import type { ReportDiscovery, ReportFacts, ReportLanguages, ReportShare } from "./facts.ts";
import { findingGroups } from "./finding-groups.ts";
import { mapSections } from "./map-sections.ts";
import { pageOf } from "./page/report-page.ts";
import type { ReportOptions } from "./report.ts";
import { mostBytes, type Room, rooms } from "./room.ts";
import type { Section } from "./sections.ts";
import { sitemapFacts } from "./sitemap-rows.ts";
import { shortened } from "./text.ts";
import { timelineOf } from "./timeline.ts";

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
