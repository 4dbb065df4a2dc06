// Whether a website could be reached, judged by the results of discovery and the homepage.
import type { DiscoveryRecord, UnreachableWebsite } from "../model/event.ts";
import type { Problem } from "../model/problem.ts";
import type { Followed } from "./follow.ts";

interface Asked {
  readonly outcome: DiscoveryRecord["outcome"];
  readonly status?: number | undefined;
  readonly reason?: Problem | undefined;
}

/**
 * Why nothing could be read from a website, if so. A single answer that is not a refusal makes it reachable, even "not
 * found".
 */
export function unreachableWebsite(
  discovery: readonly DiscoveryRecord[],
  homepage: Followed<never> | undefined,
): UnreachableWebsite | undefined {
  const asked: readonly Asked[] = homepage === undefined ? discovery : [...discovery, homepage as Asked];
  const reasons: Problem[] = [];
  let blocked = 0;
  let refused = 0;
  for (const { outcome, status, reason } of asked) {
    // A limit of ours says nothing about the website.
    if (!isFailure(outcome) || reason === undefined || reason.code.startsWith("limit-")) return undefined;
    // A document was received, even if its bytes cannot be read.
    if (outcome === "failed" && status === 200) return undefined;
    if (outcome === "blocked") blocked++;
    if (outcome === "refused") refused++;
    reasons.push(reason);
  }
  const reason = mostFrequent(reasons);
  if (reason === undefined) return undefined;
  const { length } = reasons;
  const outcome = blocked === length ? "blocked" : refused === length ? "refused" : "failed";
  return { outcome, reason, documents: length };
}

function isFailure(outcome: Asked["outcome"]): boolean {
  return outcome === "failed" || outcome === "blocked" || outcome === "refused";
}

function mostFrequent(reasons: readonly Problem[]): Problem | undefined {
  const counts = new Map<string, number>();
  for (const { code } of reasons) counts.set(code, (counts.get(code) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return reasons.find(({ code }) => counts.get(code) === most);
}
