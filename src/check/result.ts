// The result of a check: the findings, sorted by importance, and the rules that were not checked.
import { counted } from "../model/figures.ts";
import { isReadSitemap } from "../model/sitemap.ts";
import type { CheckRun } from "./context.ts";
import { type Finding, type FindingDraft, groupedByRule } from "./findings.ts";
import type { LastmodTrust } from "./lastmod-trust.ts";
import { type Need, type Rule, type Severity, severities } from "./rule.ts";

/** The result of a check. */
export interface CheckResult {
  readonly homepage: string;
  /** Whether the tree is complete, and the check had enough time. */
  readonly complete: boolean;
  /** Sitemaps that could be read, at least in part, without robots.txt. */
  readonly sitemapCount: number;
  readonly pageCount: number;
  /** How many rules failed, by severity: the count used by every output and `--fail-on`. */
  readonly rulesFailed: Readonly<Record<Severity, number>>;
  /** The number of occurrences: the sum of the rulesFailed of the findings. */
  readonly occurrences: Readonly<Record<Severity, number>>;
  /** Most severe first; within one severity, the rules that affect the most pages. */
  readonly findings: readonly Finding[];
  /** The number of occurrences that are in the baseline, and not in the findings. Absent without a baseline. */
  readonly known?: number;
  /** Rules that could not be checked, and why. */
  readonly notChecked: readonly NotChecked[];
  /** The result of the pages that were requested, if any. */
  readonly pages?: PageResults;
  /** Whether the dates of the pages can be trusted. */
  readonly lastmodTrust: LastmodTrust;
  /** The rules that were applied, including your own. */
  readonly rules: readonly Rule[];
}

/** The result of the pages that were requested. */
export interface PageResults {
  /** Pages of the sitemaps, each once. */
  readonly listed: number;
  /** How many of them were to be requested. */
  readonly requested: number;
  /** How many responded, and were checked. */
  readonly checked: number;
  /** How many of these should not be listed as is: they cannot be opened, redirect, are soft 404s, have `noindex`, or have another canonical URL. */
  readonly bad: number;
  /** Pages that robots.txt disallows; they were not fetched. */
  readonly disallowed: number;
  /** Pages that could not be checked: a bot check, a rate limit, no response in time, or none in the archive. */
  readonly unanswered: number;
}

/** A rule that could not be applied, and why. */
export interface NotChecked {
  readonly rule: string;
  readonly reason: string;
}

// Optional inputs are not reported as missing.
const reasons: Readonly<Partial<Record<Need, string>>> = {
  site: "they need the whole website",
  location: "the file's URL is unknown",
  robots: "robots.txt could not be read",
};

/** `isLate`: the time limit was reached before everything was checked. `unfinished`: rules with more data than can be compared. */
export function resultOf(
  run: CheckRun,
  missing: ReadonlySet<Need>,
  isLate: boolean,
  unfinished: readonly NotChecked[],
  pages: PageResults | undefined,
  lastmodTrust: LastmodTrust,
): CheckResult {
  const { tree, settings } = run;
  const findings = sorted(run).map(({ room: _, ...finding }): Finding => finding);
  const applied = settings.rules.filter(({ id }) => run.findings.severity(id, tree.homepage) !== undefined);
  const incomplete = missingInWords(run);
  const notChecked = applied.flatMap(({ id, needs = [] }) => {
    const need = needs.find((each) => missing.has(each));
    const reason = need === "complete" ? incomplete : need && reasons[need];
    return reason === undefined ? [] : [{ rule: id, reason }];
  });
  if (isLate) {
    const said = new Set([...notChecked, ...findings].map(({ rule }) => rule));
    for (const { id } of applied)
      if (!said.has(id)) notChecked.push({ rule: id, reason: "the time limit was reached" });
  }
  notChecked.push(...unfinished);
  const sitemapCount = [...tree.sitemaps()].filter(isReadSitemap).length;
  if (sitemapCount === 0 && !tree.complete && !missing.has("site") && !missing.has("robots")) {
    notChecked.unshift({ rule: "sitemap-none", reason: incomplete });
  }
  return {
    homepage: tree.homepage,
    complete: tree.complete && !isLate,
    sitemapCount,
    pageCount: tree.pageCount,
    ...tally(findings),
    findings,
    notChecked,
    ...(pages === undefined ? {} : { pages }),
    lastmodTrust,
    rules: settings.rules,
  };
}

// What could not be read: the first of it, and how much else.
function missingInWords({ tree }: CheckRun): string {
  const invalid = [...tree.sitemaps()].filter((each) => each.kind === "invalid");
  const [first] = invalid;
  if (first === undefined) return "they need the whole website, and it could not be fully read";
  const others = invalid.length === 1 ? "" : ` and ${counted(invalid.length - 1, "other sitemap")}`;
  return `they need every sitemap, and ${first.url}${others} could not be read`;
}

/** Counts what failed. */
export function tally(findings: readonly Finding[]): Pick<CheckResult, "rulesFailed" | "occurrences"> {
  const rulesFailed = { error: 0, warning: 0, info: 0 };
  const occurrences = { error: 0, warning: 0, info: 0 };
  for (const group of groupedByRule(findings)) rulesFailed[group[0].severity] += 1;
  for (const { severity, count } of findings) occurrences[severity] += count;
  return { rulesFailed, occurrences };
}

/** `3 errors, 2 warnings (42 occurrences)`: rules of these severities. Empty if none failed. */
export function failedInWords(
  { rulesFailed, occurrences }: Pick<CheckResult, "rulesFailed" | "occurrences">,
  of: readonly Severity[] = ["error", "warning"],
): string {
  const failed = of.filter((severity) => rulesFailed[severity] > 0);
  if (failed.length === 0) return "";
  const rules = failed.map((severity) => counted(rulesFailed[severity], nouns[severity])).join(", ");
  const sum = failed.reduce((total, severity) => total + occurrences[severity], 0);
  return `${rules} (${counted(sum, "occurrence")})`;
}

/** `1 note`: notes are not failures, and are counted apart. Empty if there is none. */
export function notesInWords({ rulesFailed }: Pick<CheckResult, "rulesFailed">): string {
  return rulesFailed.info === 0 ? "" : counted(rulesFailed.info, nouns.info);
}

const nouns = { error: "error", warning: "warning", info: "note" };

// By severity, then by how many pages are affected, in the order of the rules; those of one rule in the order of the tree, and what is
// combined comes last.
function sorted({ findings, tree, settings }: CheckRun): FindingDraft[] {
  const sitemaps = new Map<string, { readonly at: number; readonly pages: number }>();
  for (const each of tree.sitemaps()) {
    // How many pages are in a sitemap that cannot be read is not known: all of them are affected.
    const pages = each.kind === "pages" ? each.pageCount : tree.pageCount;
    if (!sitemaps.has(each.url)) sitemaps.set(each.url, { at: sitemaps.size, pages });
  }
  const drafts = [...findings.drafts()];
  const rules = new Map(settings.rules.map(({ id }, index) => [id, index]));
  const affected = new Map<string, number>();
  for (const { rule, severity, sitemap, count, examples } of drafts) {
    const isOfPages = count > 1 || examples.some(({ url, line }) => url !== undefined || line !== undefined);
    const pages = isOfPages ? count : (sitemaps.get(sitemap)?.pages ?? tree.pageCount);
    affected.set(`${rule} ${severity}`, (affected.get(`${rule} ${severity}`) ?? 0) + pages);
  }
  const placeOf = ({ severity, rule, sitemap, otherSitemaps }: FindingDraft) => [
    severities.indexOf(severity),
    -(affected.get(`${rule} ${severity}`) ?? 0),
    rules.get(rule) ?? 0,
    otherSitemaps === undefined ? (sitemaps.get(sitemap)?.at ?? sitemaps.size) : sitemaps.size + 1,
  ];
  const places = new Map(drafts.map((draft) => [draft, placeOf(draft)]));
  return drafts.sort((one, two) => {
    const [own, other] = [places.get(one)!, places.get(two)!];
    const differing = own.findIndex((value, index) => value !== other[index]);
    return differing < 0 ? 0 : own[differing]! - other[differing]!;
  });
}
