// What can be wrong with a website's sitemaps, by code. Losses and repairs are reported as problems, not thrown.
import { optionsIn, unexpected } from "./option-checks.ts";
import type { ProblemCode } from "./problem-code.ts";
import type { Problem, ProblemFacts } from "./problem-facts.ts";
import { createProblem, DocumentProblems, ownValue } from "./problem-log.ts";
import type { ProblemRow } from "./problem-row.ts";
import { problemGroups, statusRow } from "./problem-table.ts";

export type { ProblemCode } from "./problem-code.ts";
export type { Problem, ProblemFacts } from "./problem-facts.ts";

/** Adds the cause to a problem. */
export function withCause(problem: Problem, cause: unknown): Problem {
  return Object.defineProperty(problem, "cause", { value: cause });
}

/** The rows of all problems, by code. Codes such as `http-404` follow a pattern instead. */
export const problemRows: ReadonlyMap<ProblemCode, ProblemRow> = new Map(
  Object.values(problemGroups).flatMap((group) => Object.entries(group) as [ProblemCode, ProblemRow][]),
);

/**
 * Creates a problem with its message. A custom `client` may return one instead of a response.
 *
 * @example
 * const client: Client = {
 *   request: async ({ url }) => cache.get(url) ?? problem("http-404", { status: 404 }),
 * };
 */
export function problem(code: ProblemCode, facts: ProblemFacts = {}): Problem {
  // Only the spelling of the code is checked, because an archive of a later version may have unknown codes.
  if (typeof code !== "string" || !codeSpelling.test(code)) throw unexpected("code", "the code of a problem", code);
  for (const [name, fact] of optionsIn("facts", facts, factNames)) {
    const { expected, isValid } = factChecks[name as keyof ProblemFacts];
    if (fact !== undefined && !isValid(fact)) throw unexpected(`facts.${name}`, expected, fact);
  }
  return createProblem(code, facts, rowOf(code));
}

/** Recreates a problem of an untrusted archive or client, with our own message. Returns undefined if its code or a fact is invalid; `isLenient` drops invalid facts. */
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
  // A limit may be a fraction of a millisecond, or infinite.
  limit: { expected: "a number, 0 or greater", isValid: (value) => typeof value === "number" && value >= 0 },
  status: count,
  retryAfter: {
    expected: "a time in ISO 8601",
    isValid: (value) => typeof value === "string" && /^[+-]?\d{4,6}-\d\d-\d\d[T\d:.Z+-]{0,30}$/.test(value),
  },
};
const codeSpelling = /^[a-z][a-z0-9-]{0,63}$/;
const factNames = Object.keys(factChecks);

/** Whether this version has the code. Clients and archives of later versions may have others. */
export function isKnownCode(code: ProblemCode): boolean {
  return rowOf(code) !== undefined;
}

type Judgment = (code: ProblemCode) => boolean;
type Trait = "loss" | "cutOff" | "temporary" | "noResponse" | "refused";

function withTrait(trait: Trait): Judgment {
  return (code) => rowOf(code)?.[trait] ?? false;
}

/**
 * Whether something that the website declares is or may be missing because of this problem. A code of a later
 * version counts as a loss, because its meaning is unknown.
 */
export const isLossy: Judgment = (code) => rowOf(code)?.loss ?? !isKnownCode(code);
/** Whether no problem is a loss, which is what `complete` means for a sitemap. */
export function isComplete(problems: readonly Problem[]): boolean {
  return !problems.some(({ code }) => isLossy(code));
}

/** Whether a document with this problem ended too early. */
export const isCutOff: Judgment = withTrait("cutOff");
/** Whether a retry may succeed. */
export const isTemporary: Judgment = withTrait("temporary");
/** Whether a host sent no response. */
export const hasNoResponse: Judgment = withTrait("noResponse");
/** Whether our own policy forbids the request. */
export const isRefused: Judgment = withTrait("refused");

/** Says what is skipped because of this problem: "invalid URLs". Undefined if the problem skips no entries. */
export function skippedBecause(code: ProblemCode): string | undefined {
  return problemRows.get(code)?.skipsEntry;
}

/** Drops problems that follow from others: if the transfer or the compressed data was cut off, so was the XML or JSON in it. */
export function rootCauses(problems: readonly Problem[]): readonly Problem[] {
  const isConsequence = (code: ProblemCode) => code === "xml-truncated" || code === "json-not-well-formed";
  const hasCause = problems.some(({ code }) => isCutOff(code) && !isConsequence(code));
  return hasCause ? problems.filter(({ code }) => !isConsequence(code)) : problems;
}

/** Returns the message for the command line, with the hint if there is one. */
export function messageWithHint({ code, message, value, status }: Problem): string {
  const row = problemRows.get(code);
  const hint = ownValue(row?.hintFor, value) ?? ownValue(row?.hintFor, status?.toString()) ?? row?.hint;
  if (hint === undefined) return message;
  return `${message}${hint.startsWith("(") ? " " : "; "}${hint}`;
}

/** Collects problems with any code: of a document, of how it was fetched, or of a tree. */
export class ProblemLog extends DocumentProblems<ProblemCode> {
  readonly #causes = new Map<ProblemCode, unknown>();

  constructor() {
    super(rowOf);
  }

  /** Adds a problem that was made elsewhere. */
  addProblem({ code, message: _, cause, ...facts }: Problem): void {
    if (cause !== undefined && !this.has(code)) this.#causes.set(code, cause);
    this.add(code, facts);
  }

  override toArray(): Problem[] {
    const causes = this.#causes;
    return super.toArray().map((each) => (causes.has(each.code) ? withCause(each, causes.get(each.code)) : each));
  }
}

function rowOf(code: ProblemCode): ProblemRow | undefined {
  const status = /^http-(\d+)$/.exec(code)?.[1];
  return problemRows.get(code) ?? (status === undefined ? undefined : statusRow(Number(status)));
}
