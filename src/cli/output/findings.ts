// What the formats of `sitegrove check` share: their names, the verdict, findings by rule, examples, and what was not judged.
import { type Finding, type FindingExample, groupedByRule } from "../../check/findings.ts";
import { type CheckResult, failedInWords, severitiesInWords } from "../../check/result.ts";
import type { Rule, Severity } from "../../check/rule.ts";
import { counted, grouped } from "../../model/figures.ts";

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
  const found = result.findings.length === 0 ? "" : `${failedInWords(result)} (${severitiesInWords(counts)})`;
  if (sitemapCount === 0) return `${found || "No findings"}: no sitemap could be read.`;
  const size = `${counted(sitemapCount, "sitemap")} with ${counted(pageCount, "page")}`;
  const rest = complete ? "" : `, as far as the website could be read`;
  if (found === "") return `No findings in ${size}${rest}.`;
  let meaning = "nothing that search engines would reject";
  if (counts.warning > 0) meaning = "search engines may ignore parts of it";
  if (counts.error > 0) meaning = "search engines reject or ignore parts of it";
  return `${found} in ${size}: ${meaning}${rest}.`;
}

/** What the sample of pages says; undefined where no page was fetched. */
export function sampleSentence({ sample }: CheckResult): string | undefined {
  if (sample === undefined) return undefined;
  const { pages, judged, bad, atMost, disallowed, unanswered } = sample;
  const left = [];
  if (disallowed > 0) left.push(`${counted(disallowed, "page")} not fetched: robots.txt disallows it`);
  if (unanswered > 0) left.push(`${counted(unanswered, "page")} not judged: the server did not let us see it`);
  const percent = `${(atMost * 100).toFixed(atMost < 0.1 ? 1 : 0)} %`;
  let bound = `at most ${percent} of all ${counted(pages, "page")}, at 95 % confidence`;
  if (judged >= pages) bound = "these are all pages";
  if (judged === 0) bound = "nothing can be said about the others";
  const rest = left.length === 0 ? "" : ` (${left.join("; ")})`;
  return `Sample: ${bad} of ${counted(judged, "page")} should not be listed as they are; ${bound}${rest}.`;
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
  const known = findings.reduce((sum, finding) => sum + (finding.known ?? 0), 0);
  const isFile = isSite && findings[0]?.examples[0]?.file !== undefined;
  if (isFile) return casesInWords({ count, known }, "file");
  if (isSite) return count === 1 ? "the website as a whole" : `${casesInWords({ count, known })} on the website`;
  // Of one sitemap, the line with its URL says it.
  if (sitemaps === 1) return undefined;
  return `${casesInWords({ count, known })} in ${counted(sitemaps, "sitemap")}`;
}

/** `3 places`, `39 new of 539 places`. */
export function casesInWords({ count, known = 0 }: Pick<Finding, "count" | "known">, noun = "place"): string {
  return known === 0 ? counted(count, noun) : `${grouped(count)} new of ${counted(count + known, noun)}`;
}

export function exampleText({ url, value, file, line }: FindingExample): string {
  const inFile = line === undefined ? `${file}: ` : `${file}:${line}: `;
  const place = file !== undefined ? inFile : line === undefined ? "" : `line ${line}: `;
  return `${place}${[url, value].filter((part) => part !== undefined).join(" · ")}`;
}
