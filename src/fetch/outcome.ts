// What a request that got no response came to.
import type { FailureOutcome } from "../exchange.ts";
import type { Problem, ProblemCode } from "../problem.ts";
import { outcomeOfStatus } from "../status.ts";

export function outcomeOfProblem({ code, status }: Problem): FailureOutcome {
  if (refusals.has(code)) return "refused";
  if (code === "bot-check") return "blocked";
  // A proxy that refuses answers with a status, too.
  return status === undefined ? "failed" : outcomeOfStatus(status);
}

const refusals: ReadonlySet<ProblemCode> = new Set<ProblemCode>(["address-blocked", "scheme-refused", "port-refused"]);
