// Which rule a problem belongs to: the problems of a document, and the reasons why there is none.
import type { Problem } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { mostExamples, type SitemapFindings } from "./findings.ts";
import { repeatedProblems } from "./repeated-problems.ts";
import type { RuleId } from "./rule-id.ts";

/** The rule that a problem of a sitemap belongs to; undefined if search engines say nothing about it. */
export function ruleOf(problem: Problem, sitemap: Sitemap): RuleId | undefined {
  return sitemap.kind === "invalid" ? ruleForReason(problem) : ruleForProblem(problem, sitemap);
}

/** The rules for problems of a sitemap as a document, or of its response. */
export function judgeProblems(sitemap: Sitemap, findings: SitemapFindings): void {
  for (const problem of problemsOf(sitemap)) {
    const rule = ruleOf(problem, sitemap);
    if (rule !== undefined) report(rule, problem, findings);
  }
}

/** Gives the rules of problems that came more than once further examples. */
export async function illustrateProblems(
  tree: SitemapTree,
  sitemap: Sitemap,
  findings: SitemapFindings,
  signal: AbortSignal | undefined,
): Promise<void> {
  const repeated = problemsOf(sitemap).filter((problem) => {
    const rule = (problem.count ?? 1) > 1 ? ruleOf(problem, sitemap) : undefined;
    return rule !== undefined && findings.isWellIllustrated(rule);
  });
  if (repeated.length === 0) return;
  const seen = new Set(repeated.map(sameness));
  for (const problem of await repeatedProblems(tree, sitemap, repeated, mostExamples, signal)) {
    const rule = ruleOf(problem, sitemap);
    // They are counted already. In a document of one long line, many look the same.
    if (rule !== undefined && !seen.has(sameness(problem))) report(rule, { ...problem, count: 0 }, findings);
    seen.add(sameness(problem));
  }
}

function sameness({ code, line, value }: Problem): string {
  return JSON.stringify([code, line, value]);
}

function report(rule: RuleId, { line, value, message, count, limit }: Problem, findings: SitemapFindings): void {
  const shown = value ?? (limit === undefined ? undefined : message);
  findings.addMany(rule, count ?? 1, {
    value: shown ?? message,
    ...(line === undefined ? {} : { line }),
  });
}

// Why a declared sitemap could not be read at all.
function ruleForReason(reason: Problem): RuleId | undefined {
  const { code, value } = reason;
  // The name of a format, or of the root element: a `<nothtml>` is no HTML page.
  if (code === "not-a-sitemap") return value === "html" ? "sitemap-is-html" : "sitemap-unsupported";
  if (code === "http-401" || code === "http-403" || code === "bot-check") return "sitemap-challenge";
  return reasonRules[code] ?? documentRules[code] ?? (code.startsWith("http-") ? "sitemap-unreachable" : undefined);
}

function ruleForProblem({ code, value }: Problem, sitemap: Sitemap): RuleId | undefined {
  if (sitemap.kind === "index" && sitemap.format === "robots") return robotsRules[code];
  if (sitemap.kind === "index" && sitemap.format === "website") return websiteRules[code];
  if (sitemap.kind === "index" && code === "protocol-entries") return "index-too-many-sitemaps";
  if (sitemap.kind === "index" && code === "url-repeated") return "index-child-repeated";
  if (sitemap.kind === "index" && code === "xml-misplaced" && value === "<url>") return "index-mixed";
  // Feeds have date forms of their own, and no search engine documents how it reads others.
  if (sitemap.kind === "pages" && sitemap.format !== "xml" && code.startsWith("date-")) {
    return code === "date-invalid" ? "lastmod-invalid" : undefined;
  }
  return documentRules[code];
}

type RuleByCode = { readonly [Code in string]?: RuleId };

const reasonRules: RuleByCode = {
  "dns-not-found": "sitemap-unreachable",
  "dns-temporary": "sitemap-unreachable",
  "timeout-connect": "sitemap-unreachable",
  "timeout-tls": "sitemap-unreachable",
  "timeout-first-byte": "sitemap-unreachable",
  "timeout-idle": "sitemap-unreachable",
  "timeout-total": "sitemap-unreachable",
  "connection-refused": "sitemap-unreachable",
  "connection-reset": "sitemap-unreachable",
  "connection-failed": "sitemap-unreachable",
  "connection-no-socket": "sitemap-unreachable",
  "tls-certificate": "sitemap-unreachable",
  "tls-failed": "sitemap-unreachable",
  "http-protocol": "sitemap-unreachable",
  "rate-limited": "sitemap-unreachable",
  "address-blocked": "sitemap-unreachable",
  "port-refused": "sitemap-unreachable",
  "redirect-loop": "sitemap-redirect-broken",
  "limit-redirects": "sitemap-redirect-broken",
  "redirect-invalid": "sitemap-redirect-broken",
  "scheme-refused": "sitemap-redirect-broken",
  "xml-dtd-refused": "sitemap-not-well-formed",
  cycle: "index-cycle",
  empty: "sitemap-empty",
};

const documentRules: RuleByCode = {
  "redirect-downgrade": "sitemap-redirect-broken",
  "redirect-encoding": "sitemap-redirect",
  // The body of a document.
  "body-short": "sitemap-cut-off",
  "body-reset": "sitemap-cut-off",
  "timeout-idle": "sitemap-cut-off",
  "timeout-total": "sitemap-cut-off",
  "connection-reset": "sitemap-cut-off",
  "connection-failed": "sitemap-cut-off",
  "connection-no-socket": "sitemap-cut-off",
  "http-protocol": "sitemap-cut-off",
  "coding-truncated": "sitemap-cut-off",
  "xml-truncated": "sitemap-cut-off",
  "coding-trailing": "sitemap-compression",
  "coding-checksum": "sitemap-compression",
  "coding-damaged": "sitemap-compression",
  "coding-unknown": "sitemap-compression",
  "coding-mismatch": "sitemap-compression",
  "limit-encoding-layers": "sitemap-compression",
  "protocol-size": "sitemap-too-large",
  "charset-unsupported": "sitemap-not-utf8",
  "charset-conflict": "sitemap-not-utf8",
  "charset-invalid": "sitemap-not-utf8",
  // Lines.
  "text-junk": "text-sitemap-junk",
  "text-extra": "text-sitemap-junk",
  "limit-line-length": "text-sitemap-junk",
  // XML: what a strict parser stops at.
  "xml-mismatched-tag": "sitemap-not-well-formed",
  "xml-malformed-tag": "sitemap-not-well-formed",
  "xml-stray-text": "sitemap-not-well-formed",
  "xml-unclosed-instruction": "sitemap-not-well-formed",
  "xml-comment-end": "sitemap-not-well-formed",
  "xml-bare-ampersand": "sitemap-not-well-formed",
  "xml-html-entity": "sitemap-not-well-formed",
  "xml-unknown-entity": "sitemap-not-well-formed",
  "xml-char-reference": "sitemap-not-well-formed",
  "xml-junk-after-root": "sitemap-not-well-formed",
  "xml-not-well-formed": "sitemap-not-well-formed",
  "xml-junk-before-root": "sitemap-leading-text",
  "xml-namespace": "sitemap-namespace",
  "xml-root-name": "sitemap-namespace",
  "xml-element-name": "sitemap-namespace",
  "xml-misplaced": "sitemap-namespace",
  "xml-mixed": "index-mixed",
  // Entries.
  "url-missing": "url-missing",
  "url-several": "url-tag-repeated",
  "element-repeated": "url-tag-repeated",
  "url-relative": "url-not-absolute",
  "url-repaired": "url-invalid",
  "url-invalid": "url-invalid",
  "url-scheme": "url-invalid",
  "url-double-escaped": "url-escaped-twice",
  "url-repeated": "url-repeated",
  "protocol-url-length": "url-too-long",
  "limit-url-length": "url-too-long",
  "protocol-entries": "sitemap-too-many-urls",
  "date-invalid": "lastmod-invalid",
  "date-form": "lastmod-form",
  "date-zone": "lastmod-form",
  "date-no-offset": "lastmod-no-offset",
  "priority-invalid": "priority-invalid",
  "change-frequency-invalid": "changefreq-invalid",
  "news-repeated": "news-repeated",
  "news-date-form": "news-date-form",
  "news-incomplete": "news-incomplete",
  "image-incomplete": "image-incomplete",
  "limit-images": "image-too-many",
  "video-incomplete": "video-incomplete",
  "video-invalid": "video-field",
  "alternate-incomplete": "hreflang-incomplete",
  "alternate-relative": "hreflang-not-absolute",
};

const robotsRules: RuleByCode = {
  "limit-robots-bytes": "robots-too-large",
  "robots-spelling": "robots-sitemap-spelling",
  "url-relative": "robots-sitemap-relative",
  "url-invalid": "url-invalid",
  "url-scheme": "url-invalid",
};

const websiteRules: RuleByCode = {
  "robots-unreachable": "robots-unreachable",
  // Refused, and nothing else: what cannot be connected to is `robots-unreachable`.
  "website-unreachable": "sitemap-challenge",
};
