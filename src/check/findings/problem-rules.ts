// Decides which rule a problem of a document belongs to, or the reason why a document could not be read.
import { isLossy, type Problem } from "../../model/problem.ts";
import { problemsOf, type Sitemap } from "../../model/sitemap.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import type { RuleId } from "../rules/rule-id.ts";
import { ruleRows } from "../rules/rule-table.ts";

/** Returns the rule that a problem of a sitemap belongs to; undefined if search engines say nothing about it. */
export function ruleOf({ code, value }: Problem, sitemap: Sitemap): RuleId | undefined {
  if (sitemap.kind === "invalid") {
    // The value is the name of a format, or of the root element: a `<nothtml>` is not an HTML page.
    if (code === "not-a-sitemap") return value === "html" ? "sitemap-is-html" : "sitemap-unsupported";
    if (code === "http-401" || code === "http-403" || code === "bot-check") return "sitemap-challenge";
    const rule = reasonRules.get(code) ?? documentRules.get(code);
    return rule ?? (code.startsWith("http-") ? "sitemap-unreachable" : undefined);
  }
  const { kind, format } = sitemap;
  if (format === "robots") return robotsRules.get(code);
  if (format === "website") return websiteRules.get(code);
  if (kind === "index" && code === "protocol-entries") return "index-too-many-sitemaps";
  if (kind === "index" && code === "url-repeated") return "index-child-repeated";
  if (kind === "index" && code === "xml-misplaced" && value === "<url>") return "index-mixed";
  // Feeds have their own date formats, and no search engine documents how it reads others.
  if (kind === "pages" && format !== "xml" && code.startsWith("date-")) {
    return code === "date-invalid" ? "lastmod-invalid" : undefined;
  }
  // https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7: links in Atom may be relative.
  if (format === "atom" && code === "url-relative") return undefined;
  return documentRules.get(code);
}

/** Whether a rule is about a document that breaks off. Only the first such problem of a document is reported, which is the cause. */
export function isBreak(rule: string | undefined): boolean {
  return rule === "sitemap-cut-off" || rule === "sitemap-compression";
}

/** Whether everything that could not be read is a finding that `isKnown` accepts. */
export function areLossesKnown(tree: SitemapTree, isKnown: (rule: string, sitemap: string) => boolean): boolean {
  return [...tree.sitemaps()].every((sitemap) => {
    const losses = problemsOf(sitemap).filter(({ code }) => isLossy(code));
    const rules = losses.map((problem) => ruleOf(problem, sitemap));
    const cause = rules.find(isBreak);
    return rules.every((rule) => rule !== undefined && isKnown(isBreak(rule) ? cause! : rule, sitemap.url));
  });
}

function byCode(field: "problems" | "reasons" | "robotsProblems" | "websiteProblems"): ReadonlyMap<string, RuleId> {
  return new Map(
    ruleRows.flatMap(({ id, [field]: codes }) => (codes?.split(" ") ?? []).map((code) => [code, id] as const)),
  );
}

const documentRules = byCode("problems");
const reasonRules = byCode("reasons");
const robotsRules = byCode("robotsProblems");
const websiteRules = byCode("websiteProblems");
