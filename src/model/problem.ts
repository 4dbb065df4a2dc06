// What can be wrong with a website's sitemaps, by code. Every loss and repair is reported as a problem; a website's errors are not thrown.

import { amount, duration, grouped } from "./figures.ts";
import { optionsIn, unexpected } from "./option-checks.ts";
import type { ProblemCode } from "./problem-code.ts";
import type { Problem, ProblemFacts } from "./problem-facts.ts";
import { byteProblems, type NotSitemap, type ProblemRow, problemGroups, statusRow } from "./problem-table.ts";
import { detached } from "./text.ts";

export type { ProblemCode } from "./problem-code.ts";
export type { Problem, ProblemFacts } from "./problem-facts.ts";

/** The same problem, with what caused it. */
export function withCause(problem: Problem, cause: unknown): Problem {
  return Object.defineProperty(problem, "cause", { value: cause });
}

/** The rows of all problems, by code. Codes such as `http-404` follow a pattern instead. */
export const problemRows: ReadonlyMap<ProblemCode, ProblemRow> = new Map(
  Object.values(problemGroups).flatMap((group) => Object.entries(group) as [ProblemCode, ProblemRow][]),
);

// Long enough to find the place, and short enough that problems cannot hold megabytes.
const valueLength = 200;

/**
 * A problem with its message. A custom `client` may return one instead of a response.
 *
 * @example
 * const client: Client = {
 *   request: async ({ url }) => cache.get(url) ?? problem("http-404", { status: 404 }),
 * };
 */
export function problem(code: ProblemCode, facts: ProblemFacts = {}): Problem {
  // An archive of a later version may have a code that is unknown here.
  if (typeof code !== "string" || !codeSpelling.test(code)) throw unexpected("code", "the code of a problem", code);
  for (const [name, fact] of optionsIn("facts", facts, factNames)) {
    const { expected, isValid } = factChecks[name as keyof ProblemFacts];
    if (fact !== undefined && !isValid(fact)) throw unexpected(`facts.${name}`, expected, fact);
  }
  const { value } = facts;
  const kept = value === undefined ? facts : { ...facts, value: shorten(value) };
  return { code, message: messageOf(code, kept), ...kept };
}

/** The problem of a document that is something other than a sitemap. */
export function notSitemap(value: NotSitemap): Problem {
  return problem("not-a-sitemap", { value });
}

/** A problem from an archive or a client, which are not trusted, with our own message. Undefined if it has invalid facts; `isLenient` drops these. */
export function problemFrom(given: unknown, isLenient = false): Problem | undefined {
  const { code, ...more } = Object(given) as { readonly code?: unknown };
  if (typeof code !== "string" || !codeSpelling.test(code)) return undefined;
  const facts = Object.entries(more).filter(([name, fact]) => fact !== null && Object.hasOwn(factChecks, name));
  const valid = facts.filter(([name, fact]) => factChecks[name as keyof ProblemFacts].isValid(fact));
  if (valid.length < facts.length && !isLenient) return undefined;
  return problem(code as ProblemCode, Object.fromEntries(valid));
}

type FactCheck = { readonly expected: string; readonly isValid: (value: unknown) => boolean };

const text: FactCheck = { expected: "a string", isValid: (value) => typeof value === "string" };
const count: FactCheck = {
  expected: "a whole number, 0 or greater",
  isValid: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};

/** The valid values of each fact, given by a caller or read from an archive. */
const factChecks: { readonly [fact in keyof ProblemFacts]-?: FactCheck } = {
  line: count,
  value: text,
  count,
  // A time may have fractions, and a limit that is off is infinite.
  limit: { expected: "a number, 0 or greater", isValid: (value) => typeof value === "number" && value >= 0 },
  status: count,
  retryAfter: {
    expected: "a time in ISO 8601",
    isValid: (value) => typeof value === "string" && /^[+-]?\d{4,6}-\d\d-\d\d[T\d:.Z+-]{0,30}$/.test(value),
  },
};
const codeSpelling = /^[a-z][a-z0-9-]{0,63}$/;
const factNames = Object.keys(factChecks);

/** Whether this version has the code: archives of later versions, and clients, may have others. */
export function isKnownCode(code: ProblemCode): boolean {
  return problemRows.has(code) || statusRowOf(code) !== undefined;
}

type Judgment = (code: ProblemCode) => boolean;
type Trait = "loss" | "cutOff" | "temporary" | "noResponse" | "refused";

function withTrait(trait: Trait): Judgment {
  return (code) => (problemRows.get(code) ?? statusRowOf(code))?.[trait] ?? false;
}

/** Whether something that the website declares is missing because of this problem. This alone decides what is complete. */
export const isLossy: Judgment = withTrait("loss");
/** Whether a document with this problem ended too early. */
export const isCutOff: Judgment = withTrait("cutOff");
/** Whether a retry may succeed. */
export const isTemporary: Judgment = withTrait("temporary");
/** Whether a host sent no response. */
export const hasNoResponse: Judgment = withTrait("noResponse");
/** Whether our own policy forbids the request. */
export const isRefused: Judgment = withTrait("refused");

/** Why entries with this problem are skipped, in words: "invalid URLs". Undefined if they are not. */
export function skippedBecause(code: ProblemCode): string | undefined {
  return problemRows.get(code)?.skipsEntry;
}

/** Without the consequences of others: if the transfer or the compressed data was cut off, the XML or JSON in it was, too. */
export function rootCauses(problems: readonly Problem[]): readonly Problem[] {
  const isConsequence = (code: ProblemCode) => code === "xml-truncated" || code === "json-not-well-formed";
  const hasCause = problems.some(({ code }) => isCutOff(code) && !isConsequence(code));
  return hasCause ? problems.filter(({ code }) => !isConsequence(code)) : problems;
}

/** The message, with the flag that helps, for the command line. */
export function messageWithHint({ code, message, value, status }: Problem): string {
  const row = problemRows.get(code);
  const hint = ownValue(row?.hintFor, value) ?? ownValue(row?.hintFor, status?.toString()) ?? row?.hint;
  if (hint === undefined) return message;
  return `${message}${hint.startsWith("(") ? " " : "; "}${hint}`;
}

/** Collects the problems of one document: one for each code, with its first occurrence and its count. */
export class ProblemLog {
  readonly #problems = new Map<ProblemCode, Problem>();
  readonly #counts = new Map<ProblemCode, number>();
  #complete = true;

  /** Whether no problem is a loss. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Whether the bytes of the document ended before the document did. */
  get isCutOff(): boolean {
    for (const code of this.#problems.keys()) if (isCutOff(code)) return true;
    return false;
  }

  /** Whether this code was added before: then only its count matters, and no facts are needed. */
  has(code: ProblemCode): boolean {
    return this.#problems.has(code);
  }

  add(code: ProblemCode, facts?: ProblemFacts): void {
    const count = this.#counts.get(code);
    this.#counts.set(code, (count ?? 0) + (facts?.count ?? 1));
    if (count !== undefined) return;
    this.#problems.set(code, problem(code, facts));
    if (isLossy(code)) this.#complete = false;
  }

  /** Adds a problem at a line of the document. */
  addAt(line: number, code: ProblemCode, value?: string, limit?: number): void {
    const facts = { line, ...(value === undefined ? {} : { value }), ...(limit === undefined ? {} : { limit }) };
    this.add(code, facts);
  }

  /** Adds a problem that was made elsewhere. */
  addProblem({ code, message: _, ...facts }: Problem): void {
    this.add(code, facts);
  }

  /** Problems of the bytes come first, the others in the order of their first occurrence. */
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

function messageOf(code: ProblemCode, facts: ProblemFacts): string {
  const row = problemRows.get(code);
  if (row === undefined) return statusRowOf(code)?.message ?? code;
  return fill(ownValue(row.messageFor, facts.value) ?? row.message, facts);
}

function ownValue(texts: Readonly<Record<string, string>> | undefined, value: string | undefined): string | undefined {
  return texts !== undefined && value !== undefined && Object.hasOwn(texts, value) ? texts[value] : undefined;
}

function statusRowOf(code: string): ProblemRow | undefined {
  const status = /^http-(\d+)$/.exec(code)?.[1];
  return status === undefined ? undefined : statusRow(Number(status));
}

// `{limit ms}`: the fact, and its unit. `[ at line {line}]`: only if the fact is known.
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

// `2026-05-31 10:00 UTC`, rounded up, so that nobody comes back too early.
function timeOf(text: string): string {
  const time = new Date(Math.ceil(Date.parse(text) / 60_000) * 60_000);
  return Number.isNaN(time.getTime()) ? text : `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

// A copy: problems are kept longer than the document that the value was cut from.
function shorten(value: string): string {
  if (value.length <= valueLength) return detached(value);
  // Never ends in half a character.
  const end = /[\uD800-\uDBFF]/.test(value[valueLength - 1] ?? "") ? valueLength - 1 : valueLength;
  return detached(`${value.slice(0, end)}…`);
}
