// Facts that make the largest page there can be: every list is longer than the page shows, no text can be compressed.
import { checkRules } from "../../src/check/rule-table.ts";
import { changeKinds } from "../../src/model/change.ts";
import type { ReportFacts, ReportSection } from "../../src/report/facts.ts";
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
  const numbers = <Name extends string>(...names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, large - random.below(1e6)])) as Record<Name, number>;
  const counts = numbers("added", "removed", "changed", "moved", "unknown", "expired");
  const side = { ...numbers("pages", "sitemaps"), complete: false };
  return {
    version: 1,
    generator: "sitegrove 1.0.0",
    homepage: url(),
    preferences: list(() => ({ field: "License", value: url(), line: large, agents: [text()] })),
    otherPreferences: 0,
    receivedAt: "2026-10-05T06:12:00.000Z",
    complete: false,
    verdict: "x".repeat(300),
    unreachable: text(),
    lastmodTrust: { verdict: "unknown", dated: 0, reasons: [] },
    figures: {
      ...numbers("pages", "duplicates", "flawedPages", "sitemaps", "unreadable", "incomplete"),
      ...numbers("wireBytes", "decodedBytes", "dated", "languages"),
    },
    findings: checkRules.map(({ id, ...rule }) => ({
      ...rule,
      rule: id,
      ...numbers("count", "sitemaps"),
      occurrences: list(() => ({ sitemap: url(), count: large }), 30),
      examples: list(() => ({ sitemap: url(), url: url(), value: text(), line: large }), 30),
    })),
    rulesFailed: numbers("error", "warning", "info"),
    occurrences: numbers("error", "warning", "info"),
    notChecked: [],
    sections: section(2),
    timeline: {
      sentence: "x".repeat(300),
      odd: "x".repeat(300),
      unit: "month",
      bars: list(
        (index) => ({ from: new Date(index * 2.6e9).toISOString().slice(0, 10), pages: random.below(1e12) }),
        150,
      ),
      ...numbers("before", "future", "undated"),
    },
    languages: {
      languages: list(() => ({ language: text().slice(0, 35), pages: large }), 30),
      ...numbers("otherPages", "defaultPages", "pages"),
    },
    hosts: list(() => ({ name: text(), pages: large })),
    formats: list(() => ({ format: "atom" as const, ...numbers("sitemaps", "pages") }), 4),
    media: numbers("images", "pagesWithImages", "videos", "pagesWithVideos", "stories"),
    sitemaps: {
      rows: list((index) => ({
        url: url(),
        depth: 9,
        kind: "pages" as const,
        format: "atom",
        complete: index % 2 === 0,
        problem: text(),
        status: 200,
        ...numbers("pages", "wireBytes", "decodedBytes", "start", "firstByte", "duration"),
      })),
    },
    discovery: {
      rows: list(() => {
        return { url: url(), by: "homepage-header", outcome: "refused", finalUrl: url(), reason: text() } as const;
      }),
      ...{ others: 0, found: 0, skipped: 0 },
    },
    changes: {
      totals: { ...counts, ...numbers("changedOnlyLastModified", "sitemaps"), before: side, after: side },
      sections: list(() => ({ name: text(), changes: counts })),
      otherSections: 0,
      fields: {},
      sitemaps: list(() => ({ change: "now-readable" as const, sitemap: url() })),
      examples: changeKinds.flatMap((kind) =>
        kind === "sitemap" ? [] : list(() => ({ kind, url: url(), what: text() }), 5),
      ),
    },
  };
}
