// What the formats of `sitegrove check` share: their names, the verdict, findings by rule, examples, and what was not judged.
import { type Finding, type FindingExample, groupedByRule } from "../../check/findings.ts";
import { type CheckResult, failedInWords, severitiesInWords } from "../../check/result.ts";
import type { Rule, Severity } from "../../check/rule.ts";
import { counted } from "../../model/figures.ts";

export const checkFormats = ["text", "json", "sarif", "markdown", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

export const failLevels = ["error", "warning", "info", "never"] as const;
export type FailLevel = (typeof failLevels)[number];

/** The findings of one rule with one severity. */
export interface FindingGroup {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly findings: readonly Finding[];
  readonly count: number;
}

/** Most severe first. */
export function groupsOf({ findings, rules }: CheckResult): FindingGroup[] {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  return groupedByRule(findings).map((group) => ({
    rule: rows.get(group[0].rule) as Rule,
    severity: group[0].severity,
    findings: group,
    count: group.reduce((sum, { count }) => sum + count, 0),
  }));
}

/** The result in one sentence. */
export function verdict(result: CheckResult): string {
  const { sitemapCount, pageCount, complete, counts } = result;
  const { error: errors, warning: warnings } = counts;
  const size = `${counted(sitemapCount, "sitemap")} with ${counted(pageCount, "page")}`;
  const found = result.findings.length === 0 ? "" : `${failedInWords(result)} (${severitiesInWords(counts)})`;
  if (sitemapCount === 0) return `${found === "" ? "No findings" : found}: no sitemap could be read.`;
  const meaning =
    errors > 0
      ? "search engines reject or ignore parts of it"
      : warnings > 0
        ? "search engines may ignore parts of it"
        : "nothing that search engines would reject";
  const rest = complete ? "" : `, as far as the website could be read`;
  return found === "" ? `No findings in ${size}${rest}.` : `${found} in ${size}: ${meaning}${rest}.`;
}

/** What the sample of pages says; undefined where no page was fetched. */
export function sampleSentence({ sample }: CheckResult): string | undefined {
  if (sample === undefined) return undefined;
  const { pages, judged, bad, atMost, disallowed, unanswered } = sample;
  const left = [
    ...(disallowed > 0 ? [`${counted(disallowed, "page")} not fetched: robots.txt disallows it`] : []),
    ...(unanswered > 0 ? [`${counted(unanswered, "page")} not judged: the server did not let us see it`] : []),
  ];
  const bound =
    judged === 0
      ? "nothing can be said about the others"
      : judged >= pages
        ? "these are all pages"
        : `at most ${percent(atMost)} of all ${counted(pages, "page")}, at 95 % confidence`;
  const rest = left.length === 0 ? "" : ` (${left.join("; ")})`;
  return `Sample: ${bad} of ${counted(judged, "page")} should not be listed as they are; ${bound}${rest}.`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** Rules that were not judged, by the reason, as sentences. */
export function notJudgedSentences({ notJudged }: CheckResult): string[] {
  const reasons = new Map<string, string[]>();
  for (const { rule, reason } of notJudged) reasons.set(reason, [...(reasons.get(reason) ?? []), rule]);
  return [...reasons].map(([reason, rules]) => `Not judged, because ${reason}: ${rules.join(", ")}`);
}

/** `17 places in 2 sitemaps`, or how often where it is about the website as a whole. Undefined for one sitemap. */
export function extentOf({ findings, count }: FindingGroup, { homepage }: CheckResult): string | undefined {
  const sitemaps = findings.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0);
  const isSite = sitemaps === 1 && findings[0]?.sitemap === homepage;
  if (isSite) return count === 1 ? "the website as a whole" : `${counted(count, "place")} on the website`;
  // Of one sitemap, the line with its URL says it.
  if (sitemaps === 1) return undefined;
  return `${counted(count, "place")} in ${counted(sitemaps, "sitemap")}`;
}

export function exampleText({ url, value, line }: FindingExample): string {
  const place = line === undefined ? "" : `line ${line}: `;
  return `${place}${[url, value].filter((part) => part !== undefined).join(" · ")}`;
}
