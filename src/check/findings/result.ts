// The result of a check: its findings, sorted by importance, and the rules that were not checked.
import type { LastmodTrust } from "../dates/lastmod-trust.ts";
import type { Rule, Severity } from "../rules/rule.ts";

/** The result of a check. */
export interface CheckResult {
  readonly homepage: string;
  /** Whether the tree is complete, and the check had enough time. */
  readonly complete: boolean;
  /** Sitemaps that could be read, at least in part. robots.txt is not counted. */
  readonly sitemapCount: number;
  readonly pageCount: number;
  /** How many rules failed, by severity. */
  readonly rulesFailed: Readonly<Record<Severity, number>>;
  /** The number of occurrences: the sum of the counts of all findings. */
  readonly occurrences: Readonly<Record<Severity, number>>;
  /** Most severe first; within one severity, the rules that affect the most pages. */
  readonly findings: readonly Finding[];
  /** The number of occurrences that are in the baseline, and not in the findings. Absent without a baseline. */
  readonly known?: number;
  /** Rules that could not be checked, or not fully, and why. */
  readonly notChecked: readonly NotChecked[];
  /** The result of the pages that were requested, if any. */
  readonly pages?: PageResults;
  /** Whether the dates of the pages can be trusted. */
  readonly lastmodTrust: LastmodTrust;
  /** All rules, including your own and those that are off. */
  readonly rules: readonly Rule[];
}

/** The result of the pages that were requested. */
export interface PageResults {
  /** Pages of the sitemaps, each once. */
  readonly listed: number;
  /** How many of them the check was asked to request. */
  readonly requested: number;
  /** How many of these were checked. */
  readonly checked: number;
  /**
   * How many of these should not be listed as is: they cannot be opened, redirect, are soft 404s, have `noindex`, or have another canonical
   * URL.
   */
  readonly bad: number;
  /** Pages that were not fetched, because robots.txt disallows them or could not be read. */
  readonly disallowed: number;
  /** Pages that could not be checked: access was denied, the response is damaged, time ran out, or the archive lacks them. */
  readonly unanswered: number;
}

/** A rule that could not be checked, or not fully, and why. */
export interface NotChecked {
  readonly rule: string;
  readonly reason: string;
}

/** A finding of a rule in one sitemap. */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  /** The URL of the sitemap, or of the homepage if the finding is about the website as a whole. */
  readonly sitemap: string;
  readonly count: number;
  readonly examples: readonly FindingExample[];
  /** How many sitemaps are combined in this finding, if a rule found something in very many. */
  readonly otherSitemaps?: number;
  /** The number of other occurrences that are in the baseline. */
  readonly known?: number;
}

/** One occurrence of a finding. */
export interface FindingExample {
  /** The page concerned. */
  readonly url?: string;
  /** The wrong value, or what it was compared with. */
  readonly value?: string;
  /** For a static site, the path of the file concerned. */
  readonly file?: string;
  /** Its line in that file, or in the decoded sitemap, from 1. */
  readonly line?: number;
}

/** Why rules were not checked that the time limit left out. */
export const outOfTime = "the time limit was reached";

/** What is known about one occurrence. */
export type ExampleParts = { readonly [Name in keyof FindingExample]?: FindingExample[Name] | undefined };

/** Counts the rules that failed, and their occurrences. */
export function tally(findings: readonly Finding[]): Pick<CheckResult, "rulesFailed" | "occurrences"> {
  const rulesFailed = { error: 0, warning: 0, info: 0 };
  const occurrences = { error: 0, warning: 0, info: 0 };
  for (const group of groupedByRule(findings)) rulesFailed[group[0].severity] += 1;
  for (const { severity, count } of findings) occurrences[severity] += count;
  return { rulesFailed, occurrences };
}

/** Groups findings by rule and severity, and keeps their order. */
export function groupedByRule(findings: readonly Finding[]): (readonly [Finding, ...Finding[]])[] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.rule}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups.values()];
}
