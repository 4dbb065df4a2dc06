// Facts that make the largest page there can be: every list is longer than the page shows, no text can be compressed.
import { checkRules } from "../../src/check/rule-table.ts";
import { changeKinds } from "../../src/model/change.ts";
import type { ReportFacts, ReportSection } from "../../src/report/report-tree.ts";
import { Random } from "../support/random.ts";

const many = 500;
const large = 123_456_789_012;

/** `character`: the character of a number, for all texts. */
export function worstFacts(character: (number: number) => string, length: number): ReportFacts {
  const random = new Random(3);
  const text = () =>
    Array.from({ length: 20 }, () => character(random.below(20_000)))
      .join("")
      .repeat(length / 20);
  const url = () => `https://e.org/${text()}`;
  const list = <T>(one: (index: number) => T, count: number = many) =>
    Array.from({ length: count }, (_, index) => one(index));
  const section = (depth: number): ReportSection => ({
    name: text(),
    pages: 10 ** (7 + depth),
    ages: list(() => random.below(1e9), 7),
    flawed: random.below(10 ** (7 + depth)),
    sections: depth === 0 ? undefined : list(() => section(depth - 1), 30),
  });
  const counts = { added: large, removed: large, changed: large, moved: large, unknown: large };
  const side = { pages: large, sitemaps: large, complete: false };
  return {
    version: 1,
    generator: "sitegrove 1.0.0",
    homepage: url(),
    preferences: list(() => ({ field: "License", value: url(), line: large, agents: [text()] })),
    receivedAt: "2026-10-05T06:12:00.000Z",
    complete: false,
    verdict: "x".repeat(300),
    unreachable: text(),
    figures: {
      ...{ pages: large, duplicates: large, flawedPages: large, sitemaps: large, unreadable: large, incomplete: large },
      ...{ wireBytes: large, decodedBytes: large, dated: large, languages: large },
    },
    findings: checkRules.map(({ id, ...rule }) => ({
      ...rule,
      rule: id,
      count: large,
      sitemaps: large,
      places: list(() => ({ sitemap: url(), count: large }), 30),
      examples: list(() => ({ sitemap: url(), url: url(), value: text(), line: large }), 30),
    })),
    counts: { error: large, warning: large, info: large },
    places: { error: large, warning: large, info: large },
    notJudged: [],
    sections: section(2),
    timeline: {
      sentence: "x".repeat(300),
      odd: "x".repeat(300),
      unit: "month",
      bars: list(
        (index) => ({ from: new Date(index * 2.6e9).toISOString().slice(0, 10), pages: random.below(1e12) }),
        150,
      ),
      before: large,
      future: large,
      undated: large,
    },
    languages: {
      languages: list(() => ({ language: text().slice(0, 35), pages: large })),
      others: 0,
      links: list(() =>
        list(() => ({ links: random.below(1e9), noReturn: random.below(1e8), unlisted: random.below(1e8) })),
      ),
      judged: true,
      defaultPages: large,
      pages: large,
    },
    hosts: list(() => ({ name: text(), pages: large })),
    formats: list(() => ({ format: "atom" as const, sitemaps: large, pages: large }), 4),
    media: { images: large, pagesWithImages: large, videos: large, pagesWithVideos: large, stories: large },
    sitemaps: {
      rows: list((index) => ({
        url: url(),
        depth: 9,
        kind: "pages" as const,
        format: "atom",
        complete: index % 2 === 0,
        pages: random.below(1e12),
        problem: text(),
        status: 200,
        wireBytes: random.below(1e12),
        decodedBytes: random.below(1e12),
        start: random.below(1e9),
        firstByte: random.below(1e9),
        duration: random.below(1e9),
      })),
    },
    discovery: {
      rows: list(() => {
        return { url: url(), by: "homepage-header", outcome: "refused", finalUrl: url(), reason: text() } as const;
      }),
      others: 0,
    },
    changes: {
      totals: { ...counts, changedOnlyLastModified: large, sitemaps: large, before: side, after: side },
      sections: list(() => ({ name: text(), counts })),
      otherSections: 0,
      fields: {},
      sitemaps: list(() => ({ change: "now-readable" as const, sitemap: url() })),
      examples: changeKinds.flatMap((kind) =>
        kind === "sitemap" ? [] : list(() => ({ kind, url: url(), what: text() }), 5),
      ),
    },
  };
}
