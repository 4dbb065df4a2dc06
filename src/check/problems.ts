// Findings from the problems of documents, and from the reasons why there is none: which rule a problem belongs to, and further
// examples of it. Of each kind the reader keeps the first and a count; the next ones are found again in the stored document,
// which is read no further than needed.
import { type Problem, type ProblemCode, type ProblemFacts, ProblemLog, problem } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import { createDocumentParser } from "../parse/document.ts";
import { type CheckRun, isRobots } from "./context.ts";
import { mostExamples, type SitemapFindings } from "./findings.ts";
import { type RuleId, ruleRows } from "./rule-table.ts";

/** The rule that a problem of a sitemap belongs to; undefined if search engines say nothing about it. */
export function ruleOf({ code, value }: Problem, sitemap: Sitemap): RuleId | undefined {
  if (sitemap.kind === "invalid") {
    // The name of a format, or of the root element: a `<nothtml>` is no HTML page.
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
  // Feeds have date forms of their own, and no search engine documents how it reads others.
  if (kind === "pages" && format !== "xml" && code.startsWith("date-")) {
    return code === "date-invalid" ? "lastmod-invalid" : undefined;
  }
  // https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7: links of Atom may be relative.
  if (format === "atom" && code === "url-relative") return undefined;
  return documentRules.get(code);
}

/** The rules for problems of a sitemap as a document, or of its response. */
export function judgeProblems(sitemap: Sitemap, findings: SitemapFindings): void {
  for (const problem of problemsOf(sitemap)) report(problem, problem.count ?? 1, sitemap, findings);
}

/** Gives the rules of problems that came more than once further examples. */
export async function illustrateProblems(
  { tree, settings }: CheckRun,
  sitemap: Sitemap,
  findings: SitemapFindings,
): Promise<void> {
  const repeated = problemsOf(sitemap).filter((problem) => {
    const rule = (problem.count ?? 1) > 1 ? ruleOf(problem, sitemap) : undefined;
    return rule !== undefined && findings.isWellIllustrated(rule);
  });
  if (repeated.length === 0) return;
  const log = new RepeatedProblems(repeated);
  const parser = createDocumentParser({ url: sitemap.url, problems: log, isRobots: isRobots(sitemap) });
  for await (const piece of tree.text(sitemap)) {
    settings.signal?.throwIfAborted();
    parser.write(piece);
    if (log.isFull || parser.stopped) break;
  }
  if (!log.isFull && !parser.stopped) parser.end();
  const seen = new Set(repeated.map(sameness));
  for (const problem of log.found) {
    // They are counted already. In a document of one long line, many look the same.
    if (!seen.has(sameness(problem))) report(problem, 0, sitemap, findings);
    seen.add(sameness(problem));
  }
}

function sameness({ code, line, value }: Problem): string {
  return JSON.stringify([code, line, value]);
}

function report(problem: Problem, count: number, sitemap: Sitemap, findings: SitemapFindings): void {
  const rule = ruleOf(problem, sitemap);
  const { line, value, message } = problem;
  if (rule !== undefined) findings.addMany(rule, count, { value: value ?? message, line });
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

// Keeps the first of each of these problems, and as many as a finding shows of those that come after it.
class RepeatedProblems extends ProblemLog {
  readonly found: Problem[] = [];
  readonly #left: Map<ProblemCode, number>;

  constructor(problems: readonly Problem[]) {
    super();
    this.#left = new Map(problems.map(({ code, count = 1 }) => [code, Math.min(count, mostExamples + 1)]));
  }

  get isFull(): boolean {
    return [...this.#left.values()].every((left) => left === 0);
  }

  // Facts are gathered for as long as more are wanted.
  override has(code: ProblemCode): boolean {
    return (this.#left.get(code) ?? 0) === 0 && super.has(code);
  }

  override add(code: ProblemCode, facts?: ProblemFacts): void {
    super.add(code, facts);
    const left = this.#left.get(code) ?? 0;
    if (left === 0) return;
    this.#left.set(code, left - 1);
    this.found.push(problem(code, facts));
  }
}
