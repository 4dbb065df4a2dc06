// Checks a problem from an archive: its code and facts count, never its message.
import { factChecks, isLossy, type Problem, type ProblemCode, problem } from "../model/problem.ts";

/** Undefined if the value is not a valid problem. */
export function archivedProblem(value: unknown): Problem | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const given = new Map<string, unknown>(Object.entries(value));
  const name = given.get("code");
  if (typeof name !== "string" || !spelling.test(name)) return undefined;
  const facts: Record<string, string | number> = {};
  for (const [fact, { isValid }] of Object.entries(factChecks)) {
    const item = given.get(fact);
    if (item === undefined) continue;
    if (!isValid(item)) return undefined;
    facts[fact] = item as string | number;
  }
  // Codes of later versions are kept.
  return problem(name as ProblemCode, facts);
}

/** Why a body ended too early: whatever the code, something is missing. */
export function archivedBodyProblem(value: unknown): Problem | undefined {
  const found = archivedProblem(value);
  return found === undefined || isLossy(found.code) ? found : problem("body-short");
}

const spelling = /^[a-z][a-z0-9-]{0,63}$/;
