// Findings from the problems of documents, and from the reasons why there is none: which rule a problem belongs to, and further
// examples of it. Of each kind the reader keeps the first and a count; the next ones are found again in the stored document,
// which is read no further than needed.
import { type Problem, type ProblemCode, type ProblemFacts, ProblemLog, problem } from "../model/problem.ts";
import { problemsOf, type Sitemap } from "../model/sitemap.ts";
import { createDocumentParser } from "../parse/document.ts";
import { type CheckRun, isRobots } from "./context.ts";
import type { SitemapFindings } from "./findings.ts";
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

/** The rules for problems of a sitemap as a document, or of its response. `instead`: a sitemap that exists, if this one cannot be read. */
export function judgeProblems(sitemap: Sitemap, findings: SitemapFindings, instead?: string): void {
  let isBroken = false;
  for (const problem of problemsOf(sitemap)) {
    const rule = ruleOf(problem, sitemap);
    if (rule === undefined) continue;
    // One broken transfer damages the compression and the XML in it: the first problem, that of the bytes, is the cause.
    const breaks = rule === "sitemap-cut-off" || rule === "sitemap-compression";
    if (breaks && isBroken) continue;
    isBroken ||= breaks;
    const { value, line } = exampleOf(problem);
    const shown = instead === undefined ? value : `${value}; ${instead} exists`;
    findings.addMany(rule, breaks ? 1 : (problem.count ?? 1), { value: shown, line });
  }
}

/** Gives the rules of problems that came more than once further examples, and lists every one if that is wanted. */
export async function illustrateProblems(
  { tree, settings, findings: { rows, mostExamples }, time }: CheckRun,
  sitemap: Sitemap,
  findings: SitemapFindings,
): Promise<void> {
  const repeated = problemsOf(sitemap).filter((problem) => {
    const rule = (problem.count ?? 1) > 1 ? ruleOf(problem, sitemap) : undefined;
    return rule !== undefined && (rows !== undefined || findings.isWellIllustrated(rule));
  });
  if (repeated.length === 0) return;
  const seen = new Set(repeated.map(sameness));
  const log = new RepeatedProblems(repeated, rows === undefined ? mostExamples + 1 : Number.POSITIVE_INFINITY);
  const parser = createDocumentParser({ url: sitemap.url, problems: log, isRobots: isRobots(sitemap) });
  const report = () => {
    for (const problem of log.take()) {
      const rule = ruleOf(problem, sitemap);
      // In a document of one long line, many look the same.
      const isNew = seen.size < mostSeen && !seen.has(sameness(problem));
      if (isNew) seen.add(sameness(problem));
      if (rule !== undefined && (isNew || rows !== undefined)) findings.another(rule, exampleOf(problem), isNew);
    }
    return rows?.settleDocuments(() => time.isOver());
  };
  for await (const piece of tree.text(sitemap)) {
    settings.signal?.throwIfAborted();
    parser.write(piece);
    await report();
    if (log.isFull || parser.stopped) break;
  }
  if (!log.isFull && !parser.stopped) parser.end();
  await report();
}

// As many as examples can show, and more.
const mostSeen = 100_000;

function sameness({ code, line, value }: Problem): string {
  return JSON.stringify([code, line, value]);
}

function exampleOf({ line, value, message }: Problem) {
  return { value: value ?? message, line };
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

// Keeps what comes after the first of each of these problems, as many as are wanted and were counted.
class RepeatedProblems extends ProblemLog {
  #found: Problem[] = [];
  readonly #left: Map<ProblemCode, number>;
  readonly #isFirst: Set<ProblemCode>;

  constructor(problems: readonly Problem[], most: number) {
    super();
    this.#left = new Map(problems.map(({ code, count = 1 }) => [code, Math.min(count, most)]));
    this.#isFirst = new Set(this.#left.keys());
  }

  get isFull(): boolean {
    return [...this.#left.values()].every((left) => left === 0);
  }

  /** Those since the last call. */
  take(): readonly Problem[] {
    const found = this.#found;
    this.#found = [];
    return found;
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
    if (!this.#isFirst.delete(code)) this.#found.push(problem(code, facts));
  }
}
