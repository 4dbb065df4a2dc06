// Turns a run into its result: sorts the findings by importance, and lists the rules that were not checked.
import { counted } from "../../model/figures.ts";
import { isReadSitemap } from "../../model/sitemap.ts";
import type { CheckRun } from "../context.ts";
import type { LastmodTrust } from "../dates/lastmod-trust.ts";
import { type Need, severities } from "../rules/rule.ts";
import type { FindingDraft } from "./findings.ts";
import { type CheckResult, type Finding, type NotChecked, outOfTime, type PageResults, tally } from "./result.ts";

// Inputs that the caller may leave out. When the time limit is reached, rules that need one are listed only if pages or files were given.
const optional: readonly Need[] = ["requested", "files", "pages"];

// Why a rule was not checked, by what it needs. `missingInWords` is the reason for `complete`; other needs are not reported as missing.
const reasons: Readonly<Partial<Record<Need, string>>> = {
  site: "the whole website is needed",
  location: "the file's URL is unknown",
  robots: "robots.txt could not be read",
};

/**
 * Assembles the result of a run. `isLate` means that the time limit was reached before everything was checked; `unfinished` lists rules
 * that were checked only in part.
 */
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
    const isUnread = need === "robots" && missing.has("site");
    const reason = need === "complete" ? incomplete : isUnread ? "robots.txt was not read" : need && reasons[need];
    return reason === undefined ? [] : [{ rule: id, reason }];
  });
  if (isLate) {
    const said = new Set([...notChecked, ...findings].map(({ rule }) => rule));
    const hasPages = pages !== undefined || settings.files !== undefined;
    for (const { id, needs = [] } of applied) {
      const isAsked = hasPages || !needs.some((need) => optional.includes(need));
      if (isAsked && !said.has(id)) notChecked.push({ rule: id, reason: outOfTime });
    }
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

// Names the first sitemap that could not be read, and says how many others there are.
function missingInWords({ tree }: CheckRun): string {
  const invalid = [...tree.sitemaps()].filter((each) => each.kind === "invalid");
  const [first] = invalid;
  if (first === undefined) return "the whole website is needed, and it could not be fully read";
  const others = invalid.length === 1 ? "" : ` and ${counted(invalid.length - 1, "other sitemap")}`;
  return `every sitemap is needed, and ${first.url}${others} could not be read`;
}

// Sorts findings by severity, by how many pages a rule affects, and by the order of the rules. Findings of one rule come in the order of
// the tree, and the one that combines the remaining sitemaps comes last.
function sorted({ findings, tree, settings }: CheckRun): FindingDraft[] {
  const sitemaps = new Map<string, { readonly at: number; readonly pages: number }>();
  for (const each of tree.sitemaps()) {
    // An index or an unreadable sitemap may concern any number of pages, so it counts as the whole website.
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
