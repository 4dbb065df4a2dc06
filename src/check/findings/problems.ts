// Turns the problems of documents, and the reasons why documents could not be read, into findings, and finds more examples. The parser keeps
// the first problem of each kind and a count. The others are found again in the stored document, which is read no further than needed.
import { type Problem, type ProblemCode, type ProblemFacts, ProblemLog, problem } from "../../model/problem.ts";
import { problemsOf, type Sitemap } from "../../model/sitemap.ts";
import { detached } from "../../model/text.ts";
import { createDocumentParser } from "../../parse/document.ts";
import type { EntryListener } from "../../parse/entries.ts";
import { usualFastPath } from "../../parse/fast/token-reader.ts";
import { type CheckRun, isRobots } from "../context.ts";
import type { FindingDraft, Findings } from "./findings.ts";
import { isBreak, ruleOf } from "./problem-rules.ts";

/** Checks the rules about problems of a sitemap or its response. If the sitemap cannot be read, `instead` names one that exists. */
export async function checkProblems(run: CheckRun, sitemap: Sitemap, instead?: string): Promise<void> {
  const isStored = sitemap !== run.tree.root && sitemap.kind !== "invalid";
  const searched = addProblems(sitemap, run.findings, isStored, instead);
  if (searched.length > 0) await illustrateProblems(run, sitemap, searched);
}

/**
 * Adds findings for a sitemap's problems. If its document is stored (`isStored`) and more examples are wanted, problems that occur several
 * times or belong to a page are counted, but not shown: they are returned, to be searched in the document.
 */
export function addProblems(sitemap: Sitemap, findings: Findings, isStored = false, instead?: string): Problem[] {
  const searched: Problem[] = [];
  let isBroken = false;
  for (const problem of problemsOf(sitemap)) {
    const draft = draftOf(problem, sitemap, findings);
    if (draft === undefined) continue;
    // A broken transfer damages both the compression and the XML inside it. Only the first problem, which is the cause, is reported.
    const breaks = isBreak(draft.rule);
    if (breaks && isBroken) continue;
    isBroken ||= breaks;
    const count = breaks ? 1 : (problem.count ?? 1);
    draft.count += count;
    const isWanted = findings.rows !== undefined || findings.wantsExamples(draft);
    if (isStored && isWanted && (count > 1 || isOfEntry(problem, sitemap))) {
      searched.push(problem);
      continue;
    }
    // The value alone says nothing about why a sitemap could not be read: "html", or the number of a port.
    const { value, line } =
      sitemap.kind === "invalid" ? { value: problem.message, line: undefined } : exampleOf(problem);
    findings.show(draft, { value: instead === undefined ? value : `${value}; ${instead} exists`, line }, count === 1);
  }
  return searched;
}

function draftOf(problem: Problem, sitemap: Sitemap, findings: Findings): FindingDraft | undefined {
  const rule = ruleOf(problem, sitemap);
  return rule && findings.draft(rule, sitemap.url);
}

// Whether a problem is about the entry of a page.
function isOfEntry({ code }: Problem, { kind }: Sitemap): boolean {
  return kind === "pages" && entryCodes.test(code);
}

const entryCodes = /^(?:date|image|video|news|alternate|priority|change-frequency|url)-(?!missing)/;

// Reads a document again to show its problems: all of them as rows, or some as examples.
async function illustrateProblems(run: CheckRun, sitemap: Sitemap, problems: readonly Problem[]): Promise<void> {
  const { tree, settings, findings, time } = run;
  const { rows, mostExamples } = findings;
  const counts = new Map(problems.map(({ code, count = 1 }) => [code, count]));
  const ofEntries = new Set(problems.filter((each) => isOfEntry(each, sitemap)).map(({ code }) => code));
  const unlisted = new Map(problems.map((each) => [each.code, each]));
  const seen = new Set<string>();
  // Collects twice as many as are shown, because some may look the same.
  const most = rows === undefined ? 2 * mostExamples : Number.POSITIVE_INFINITY;
  const log = new RepeatedProblems(counts, ofEntries, most);
  const parser = createDocumentParser({
    url: sitemap.url,
    problems: log,
    isRobots: isRobots(sitemap),
    entries: log,
    fastPath: usualFastPath,
  });
  const show = (problem: Problem, url: string | undefined, isExample: boolean) => {
    const draft = draftOf(problem, sitemap, findings);
    const isCase = counts.get(problem.code) === 1;
    if (draft !== undefined) findings.show(draft, { url, ...exampleOf(problem) }, isCase, isExample);
  };
  const report = () => {
    for (const { problem, url } of log.take()) {
      unlisted.delete(problem.code);
      // In a document with one long line, many problems look the same.
      const isNew = seen.size < mostSeen && !seen.has(sameness(problem, url));
      if (isNew) seen.add(sameness(problem, url));
      if (isNew || rows !== undefined) show(problem, url, isNew);
    }
    return rows?.settleDocuments(time);
  };
  for await (const piece of tree.text(sitemap)) {
    settings.signal?.throwIfAborted();
    parser.write(piece);
    await report();
    if (log.isFull || parser.stopped) break;
  }
  if (!log.isFull && !parser.stopped) parser.end();
  log.finish();
  await report();
  // Problems that were not found again are shown without their pages.
  for (const problem of unlisted.values()) show(problem, undefined, true);
}

// Limits the memory for finding equal problems. Examples show far fewer.
const mostSeen = 100_000;

function sameness({ code, line, value }: Problem, url?: string): string {
  // Examples show only the beginning of a long URL.
  return JSON.stringify([code, line, value, url?.slice(0, 2000)]);
}

function exampleOf({ line, value, message }: Problem) {
  return { value: value ?? message, line };
}

interface FoundProblem {
  readonly problem: Problem;
  /** The page that the problem is about. */
  url?: string | undefined;
}

// Collects problems again while the document is read a second time, at most `most` of each kind. Problems of entries get the URLs of their
// pages.
class RepeatedProblems extends ProblemLog implements EntryListener {
  #found: FoundProblem[] = [];
  // `#ended` has the problems of the entry that ended last, until its URL is known; `#open` has the problems since then.
  #ended: FoundProblem[] = [];
  #open: FoundProblem[] = [];
  readonly #left: Map<ProblemCode, number>;
  readonly #ofEntries: ReadonlySet<ProblemCode>;

  constructor(counts: ReadonlyMap<ProblemCode, number>, ofEntries: ReadonlySet<ProblemCode>, most: number) {
    super();
    this.#left = new Map([...counts].map(([code, count]) => [code, Math.min(count, most)]));
    this.#ofEntries = ofEntries;
  }

  get isFull(): boolean {
    return this.#open.length + this.#ended.length === 0 && [...this.#left.values()].every((left) => left === 0);
  }

  /** Returns the problems since the last call whose pages are known, or never will be. */
  take(): readonly FoundProblem[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  onEnd(): void {
    for (const each of this.#ended) this.#found.push(each);
    this.#ended = this.#open;
    this.#open = [];
  }

  onPage(url: string | undefined): void {
    const copy = this.#ended.length + this.#open.length === 0 ? undefined : url && detached(url);
    for (const each of [...this.#ended, ...this.#open]) each.url = copy;
    this.finish();
  }

  /** Ends the search: the pages of the remaining problems will never be known. */
  finish(): void {
    for (const each of [...this.#ended, ...this.#open]) this.#found.push(each);
    this.#ended = [];
    this.#open = [];
  }

  // Returns false while more problems of this kind are wanted, because the parser collects no facts about problems that the log has.
  override has(code: ProblemCode): boolean {
    return (this.#left.get(code) ?? 0) === 0 && super.has(code);
  }

  override add(code: ProblemCode, facts?: ProblemFacts): void {
    super.add(code, facts);
    const left = this.#left.get(code) ?? 0;
    if (left === 0) return;
    this.#left.set(code, left - 1);
    const found = { problem: problem(code, facts) };
    if (this.#ofEntries.has(code)) this.#open.push(found);
    else this.#found.push(found);
  }
}
