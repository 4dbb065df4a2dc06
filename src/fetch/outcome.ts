// The outcome of a request without a response.
import type { FailureOutcome } from "../exchange.ts";
import type { Problem, ProblemCode } from "../problem.ts";
import { outcomeOfStatus } from "../status.ts";

export function outcomeOfProblem({ code, status }: Problem): FailureOutcome {
  if (refusals.has(code)) return "refused";
  if (code === "bot-check") return "blocked";
  // A proxy's answer says nothing about the website.
  return status === undefined || code === "proxy-refused" ? "failed" : outcomeOfStatus(status);
}

const refusals: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  "address-blocked",
  "not-local",
  "scheme-refused",
  "port-refused",
]);
