// Creates facts for the largest possible page: every list is longer than the page shows, and no text can be compressed.
import { checkRules } from "../../src/check/rules/rule-table.ts";
import { changeKinds, type PageChange } from "../../src/model/change.ts";
import { problem } from "../../src/model/problem.ts";
import type { PagesSitemap } from "../../src/model/sitemap.ts";
import type { ReportFacts, ReportSection } from "../../src/report/facts.ts";
import { discoveryFacts, sitemapRows } from "../../src/report/fetched.ts";
import { findingFacts } from "../../src/report/finding-list.ts";
import { fitted } from "../../src/report/html.ts";
import { largestSections } from "../../src/report/map.ts";
import { summaryFacts } from "../../src/report/since.ts";
import type { KeptResponse } from "../../src/tree/tree.ts";
import { Random } from "../support/random.ts";

const many = 500;
const large = 123_456_789_012;

/** Creates the facts. `character` returns a character by number; all texts have this `length`. */
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
  const responses = new Map<string, KeptResponse>();
  const sitemap = (index: number): PagesSitemap => {
    const sent = { status: 200, headers: [], hops: [], attempts: 1, receivedAt: new Date(index).toISOString() };
    const own = url();
    responses.set(own, { ...sent, ...numbers("wireBytes", "decodedBytes", "firstByte", "duration") });
    const problems = [{ ...problem("xml-truncated"), message: text() }];
    return { kind: "pages", url: own, format: "atom", complete: index % 2 === 0, pageCount: large, problems };
  };
  return {
    version: 1,
    generator: "sitegrove 1.0.0",
    homepage: fitted(url()),
    receivedAt: "2026-10-05T06:12:00.000Z",
    complete: false,
    verdict: "x".repeat(300),
    unreachable: fitted(text()),
    lastmodTrust: { verdict: "unknown", dated: 0, reasons: [] },
    figures: {
      ...numbers("pages", "duplicates", "flawedPages", "sitemaps", "unreadable", "incomplete"),
      ...numbers("wireBytes", "decodedBytes", "dated"),
    },
    findings: findingFacts({
      rules: checkRules,
      findings: checkRules.flatMap(({ id: rule, severity }) => {
        const example = () => ({ url: url(), value: text(), line: large });
        return list(() => ({ rule, severity, sitemap: url(), count: large, examples: [example()] }), 30);
      }),
    }),
    rulesFailed: numbers("error", "warning", "info"),
    occurrences: numbers("error", "warning", "info"),
    notChecked: [],
    sections: largestSections(section(2)),
    timeline: {
      sentence: "x".repeat(300),
      unit: "month",
      bars: list(
        (index) => ({ from: new Date(index * 2.6e9).toISOString().slice(0, 10), pages: random.below(1e12) }),
        150,
      ),
      ...numbers("before", "future", "undated"),
    },
    extensions: numbers("alternates", "images", "videos", "newsStory"),
    sitemaps: sitemapRows(
      list((index) => ({ sitemap: sitemap(index), depth: 9 })),
      responses,
    ),
    discovery: discoveryFacts(
      list(() => {
        const reason = { ...problem("scheme-refused"), message: text() };
        return { url: url(), by: "homepage-header", outcome: "refused", finalUrl: url(), reason } as const;
      }),
    ),
    changes: summaryFacts({
      totals: { ...counts, ...numbers("changedOnlyLastModified", "sitemaps"), before: side, after: side },
      bySection: list(() => ({ name: text(), changes: counts })),
      byField: new Map(),
      sitemaps: list(() => ({ kind: "sitemap", change: "now-readable", sitemap: url() }) as const),
      examples: changeKinds.flatMap((kind) => {
        const one = () => ({ kind, page: { url: url() }, sitemap: url(), from: url(), fields: [] }) as unknown;
        return kind === "sitemap" ? [] : list(() => one() as PageChange, 5);
      }),
    }),
  };
}
