// Makes problems, and collects those of one document. This file knows only the problems with a single document, because it is part of the
// bundles of `sitegrove/parse`; problem.ts has the others.
import { byteProblems, entryProblems, lineProblems, type NotSitemap, xmlProblems } from "./document-problems.ts";
import { amount, duration, grouped } from "./figures.ts";
import type { DocumentProblemCode, ProblemCode } from "./problem-code.ts";
import type { Problem, ProblemFacts } from "./problem-facts.ts";
import type { ProblemRow, ProblemRows } from "./problem-row.ts";
import { detached } from "./text.ts";

/** Creates a problem with its message. `row` is absent for an unknown code, which may come from an archive of a later version. */
export function createProblem(code: ProblemCode, facts: ProblemFacts = {}, row?: ProblemRow): Problem {
  const { value } = facts;
  const kept = value === undefined ? facts : { ...facts, value: shorten(value) };
  const message = row === undefined ? code : fill(ownValue(row.messageFor, kept.value) ?? row.message, kept);
  return { code, message, ...kept };
}

/** Creates a problem with a document. */
export function documentProblem(code: DocumentProblemCode, facts?: ProblemFacts): Problem {
  return createProblem(code, facts, documentRow(code));
}

/** Creates the problem of a document that is not a sitemap. */
export function notSitemap(value: NotSitemap): Problem {
  return documentProblem("not-a-sitemap", { value });
}

function documentRow(code: ProblemCode): ProblemRow | undefined {
  return documentRows[code];
}

const documentRows: ProblemRows = { ...byteProblems, ...lineProblems, ...xmlProblems, ...entryProblems };

/** Collects the problems of one document: one for each code, with its first occurrence and its count. */
export class DocumentProblems<Code extends ProblemCode = DocumentProblemCode> {
  readonly #problems = new Map<ProblemCode, Problem>();
  readonly #counts = new Map<ProblemCode, number>();
  readonly #rowOf: (code: ProblemCode) => ProblemRow | undefined;
  #complete = true;

  constructor(rowOf: (code: ProblemCode) => ProblemRow | undefined = documentRow) {
    this.#rowOf = rowOf;
  }

  /** Whether no problem is a loss. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Whether the document is cut off. */
  get isCutOff(): boolean {
    for (const code of this.#problems.keys()) if (this.#rowOf(code)?.cutOff) return true;
    return false;
  }

  /** Whether this code was added before. If so, adding it again only increases its count. */
  has(code: Code): boolean {
    return this.#problems.has(code);
  }

  add(code: Code, facts?: ProblemFacts): void {
    const count = this.#counts.get(code);
    this.#counts.set(code, (count ?? 0) + (facts?.count ?? 1));
    if (count !== undefined) return;
    const row = this.#rowOf(code);
    this.#problems.set(code, createProblem(code, facts, row));
    // A code of a later version counts as a loss, because its meaning is unknown.
    if (row === undefined || row.loss) this.#complete = false;
  }

  /** Adds a problem at a line of the document. */
  addAt(line: number, code: Code, value?: string, limit?: number): void {
    const facts = { line, ...(value === undefined ? {} : { value }), ...(limit === undefined ? {} : { limit }) };
    this.add(code, facts);
  }

  /** Returns the problems: first those of the bytes, then the others in the order of their first occurrence. */
  toArray(): Problem[] {
    const ofBytes = byteCodes.filter((code) => this.#problems.has(code));
    return [...new Set([...ofBytes, ...this.#problems.keys()])].map((code) => {
      const first = this.#problems.get(code) as Problem;
      const count = this.#counts.get(code) ?? 1;
      return count > 1 ? { ...first, count } : first;
    });
  }
}

const byteCodes = Object.keys(byteProblems) as ProblemCode[];

/** Returns the text for a value, if there is one. */
export function ownValue(
  texts: Readonly<Record<string, string>> | undefined,
  value: string | undefined,
): string | undefined {
  return texts !== undefined && value !== undefined && Object.hasOwn(texts, value) ? texts[value] : undefined;
}

// Values are cut to this length: enough to find the place, and too little for problems to fill the memory.
const valueLength = 200;

// Fills facts into a message: `{limit ms}` names a fact and its unit, and `[ at line {line}]` appears only if the fact is known.
function fill(template: string, facts: ProblemFacts): string {
  return template
    .replace(/\[([^\]{]*\{(\w+)[^\]]*)\]/g, (_, part: string, name: keyof ProblemFacts) =>
      facts[name] === undefined ? "" : part,
    )
    .replace(/\{(\w+)(?: (\w+))?\}/g, (_, name: keyof ProblemFacts, unit?: string) => figure(facts[name], unit));
}

function figure(fact: string | number | undefined, unit: string | undefined): string {
  if (fact === undefined) return "unknown";
  if (unit === "time") return timeOf(String(fact));
  if (typeof fact === "string") return fact;
  return unit === "ms" ? duration(fact) : unit === "bytes" ? amount(fact) : grouped(fact);
}

// Formats a time as `2026-05-31 10:00 UTC`, rounded up, so that nobody retries too early.
function timeOf(text: string): string {
  const time = new Date(Math.ceil(Date.parse(text) / 60_000) * 60_000);
  return Number.isNaN(time.getTime()) ? text : `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

// Cuts and copies the value, because problems outlive the document that the value was cut from.
function shorten(value: string): string {
  if (value.length <= valueLength) return detached(value);
  // The cut must not split a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(value[valueLength - 1] ?? "") ? valueLength - 1 : valueLength;
  return detached(`${value.slice(0, end)}…`);
}
