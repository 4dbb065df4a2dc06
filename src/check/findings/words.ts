// Says in words what a check found.
import { counted, grouped } from "../../model/figures.ts";
import type { LastmodTrust } from "../dates/lastmod-trust.ts";
import type { Rule, Severity } from "../rules/rule.ts";
import type { CheckResult, Finding, FindingExample, NotChecked, PageResults } from "./result.ts";

/** Returns the result in one sentence, or two if there are also notes. */
export function verdict(result: CheckResult): string {
  const { sitemapCount, pageCount, complete, rulesFailed, known = 0 } = result;
  const none = known > 0 ? `No new findings (${counted(known, "occurrence")} in the baseline)` : "No findings";
  const failed = failedInWords(result);
  const notes = notesInWords(result);
  const found = failed === "" ? notes : failed;
  if (sitemapCount === 0) return `${found || none}: there is no sitemap to check.`;
  const size = `${counted(sitemapCount, "sitemap")} with ${counted(pageCount, "page")}`;
  const rest = complete ? "" : " (incomplete: not everything could be read)";
  if (found === "") return `${none} in ${size}${rest}.`;
  const also = failed === "" || notes === "" ? "" : ` Also ${notes}.`;
  let meaning = "nothing that search engines would reject";
  if (rulesFailed.warning > 0) meaning = "search engines may ignore some of it";
  if (rulesFailed.error > 0) meaning = "search engines reject or ignore some of it";
  return `${found} in ${size}${rest}: ${meaning}.${also}`;
}

/** Says how many rules of these severities failed: `3 errors, 2 warnings (42 occurrences)`. Empty if none did. */
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

/** Says how many notes there are: `1 note`. They are counted apart, because notes are not failures. Empty if there is none. */
export function notesInWords({ rulesFailed }: Pick<CheckResult, "rulesFailed">): string {
  return rulesFailed.info === 0 ? "" : counted(rulesFailed.info, nouns.info);
}

const nouns = { error: "error", warning: "warning", info: "note" };

/** Says how the requested pages did, if any, and whether dates can be trusted. */
export function pageSentences({ pages, lastmodTrust }: Pick<CheckResult, "pages" | "lastmodTrust">): string[] {
  return [requestedInWords(pages), trustInWords(lastmodTrust)].filter((sentence) => sentence !== "");
}

/** Says how the requested pages did. Empty if none were requested. */
export function requestedInWords(pages: PageResults | undefined): string {
  if (pages === undefined) return "";
  const { listed, checked, bad, disallowed, unanswered } = pages;
  const left = [];
  if (disallowed > 0)
    left.push(`${counted(disallowed, "page")} not fetched: disallowed by robots.txt, or robots.txt could not be read`);
  if (unanswered > 0) left.push(`${counted(unanswered, "page")} not checked: access denied, or no complete response`);
  const rest = left.length === 0 ? "" : ` (${left.join("; ")})`;
  const all =
    checked >= listed ? `all ${counted(checked, "page")}` : `${grouped(checked)} of ${counted(listed, "page")}`;
  return `Requested ${all}: ${grouped(bad)} should be fixed or removed from the sitemaps${rest}.`;
}

/** Says whether dates can be trusted. Empty if that is not known. */
export function trustInWords({ verdict, reasons }: LastmodTrust): string {
  if (verdict === "unknown") return "";
  const why = reasons.map(({ message }) => message).join("; ");
  if (verdict !== "trustworthy")
    return `Dates (lastmod) are ${verdict === "not" ? "not" : "only partly"} trustworthy: ${why}.`;
  return why === "" ? "Dates (lastmod) look trustworthy." : `Most dates (lastmod) look trustworthy, but ${why}.`;
}

/** Groups the rules that were not checked by reason. */
export function rulesByReason(notChecked: readonly NotChecked[]): (readonly [reason: string, rules: string[]])[] {
  const reasons = new Map<string, string[]>();
  for (const { rule, reason } of notChecked) reasons.set(reason, [...(reasons.get(reason) ?? []), rule]);
  return [...reasons];
}

/** Lists the rules that were not checked, in one sentence for each reason. */
export function notCheckedSentences({ notChecked }: CheckResult): string[] {
  return rulesByReason(notChecked).map(([reason, rules]) => {
    const more = rules.length > mostNamed ? ` and ${grouped(rules.length - mostNamed)} more` : "";
    return `Not checked, because ${reason}: ${rules.slice(0, mostNamed).join(", ")}${more}`;
  });
}

// Sentences name only this many rules, because more than a hundred remain unchecked if time runs out early.
const mostNamed = 20;

/** Says how far findings reach: `17 occurrences in 2 sitemaps`, or the count on the whole website. Undefined for one sitemap. */
export function extentOf(findings: readonly [Finding, ...Finding[]], homepage: string): string | undefined {
  const [{ sitemap, examples }] = findings;
  const count = findings.reduce((sum, finding) => sum + finding.count, 0);
  const known = findings.reduce((sum, finding) => sum + (finding.known ?? 0), 0);
  const sitemaps = findings.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0);
  const isSite = sitemaps === 1 && sitemap === homepage;
  const isFile = isSite && examples[0]?.file !== undefined;
  if (isFile) return occurrencesInWords({ count, known }, "file");
  if (isSite) return count === 1 ? "the website as a whole" : `${occurrencesInWords({ count, known })} on the website`;
  // The line with the URL of a single sitemap has the count.
  if (sitemaps === 1) return undefined;
  return `${occurrencesInWords({ count, known })} in ${counted(sitemaps, "sitemap")}`;
}

/** Returns a count in words: `3 occurrences`, or `39 new of 539 occurrences` with a baseline. */
export function occurrencesInWords(
  { count, known = 0 }: Pick<Finding, "count" | "known">,
  noun = "occurrence",
): string {
  return known === 0 ? counted(count, noun) : `${grouped(count)} new of ${counted(count + known, noun)}`;
}

export function exampleText({ url, value, file, line }: FindingExample): string {
  const inFile = line === undefined ? `${file}: ` : `${file}:${line}: `;
  const place = file !== undefined ? inFile : line === undefined ? "" : `line ${line}: `;
  return `${place}${[url, value].filter((part) => part !== undefined).join(" · ")}`;
}

export function failedRules({ findings, rules }: CheckResult): readonly Rule[] {
  const failed = new Set(findings.map(({ rule }) => rule));
  return rules.filter(({ id }) => failed.has(id));
}
