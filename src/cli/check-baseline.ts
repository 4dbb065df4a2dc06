// Known findings: counts for each sitemap and rule. Findings that did not increase are left out, and do not fail a
// check.

import { existsSync, readFileSync } from "node:fs";
import type { Finding } from "../check/findings.ts";
import { type CheckResult, tally } from "../check/result.ts";
import { systemReason } from "../model/system-reason.ts";
import { jsonOf } from "../write/printable.ts";
import { UsageError } from "./exit-codes.ts";
import { withoutMark } from "./flag-values.ts";
import { OutputFile } from "./output-file.ts";

type Counts = Record<string, Record<string, number>>;

/** The counts in a file; undefined if there is none yet. */
export function readBaseline(file: string): Counts | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const value: unknown = JSON.parse(withoutMark(readFileSync(file, "utf8")));
    if (!isObject(value) || value["version"] !== 1 || !isCounts(value["findings"])) {
      throw new UsageError("not a baseline");
    }
    return value["findings"];
  } catch (error) {
    const isOurs = error instanceof UsageError || error instanceof SyntaxError;
    throw new UsageError(`${file}: ${isOurs ? error.message : systemReason(error)}`);
  }
}

// A count that is no number would let everything pass.
function isCounts(value: unknown): value is Counts {
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0;
  return (
    isObject(value) && Object.values(value).every((rules) => isObject(rules) && Object.values(rules).every(isCount))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function writeBaseline(file: string, { findings }: CheckResult): void {
  const output = new OutputFile(file, { force: true });
  try {
    output.write(`${jsonOf({ version: 1, findings: countsOf(findings) }, 2)}\n`);
    output.keep();
  } finally {
    output.discard();
  }
}

/** The result without known findings, and how many findings are fewer than in the baseline. */
export function withoutKnown(
  result: CheckResult,
  baseline: Counts,
): { result: CheckResult; known: number; gone: number } {
  const now = countsOf(result.findings);
  const before = (sitemap: string, rule: string) =>
    Object.hasOwn(baseline, sitemap) ? Number(baseline[sitemap]?.[rule] ?? 0) : 0;
  const findings = result.findings.filter(({ sitemap, rule }) => now[sitemap]![rule]! > before(sitemap, rule));
  const gone = Object.entries(baseline)
    .flatMap(([sitemap, rules]) => Object.entries(rules).map(([rule, count]) => count > (now[sitemap]?.[rule] ?? 0)))
    .filter(Boolean).length;
  return { result: { ...result, findings, ...tally(findings) }, known: result.findings.length - findings.length, gone };
}

function countsOf(findings: readonly Finding[]): Counts {
  const counts: Counts = Object.create(null);
  for (const { sitemap, rule, count } of findings) {
    counts[sitemap] ??= {};
    counts[sitemap]![rule] = (counts[sitemap]![rule] ?? 0) + count;
  }
  return counts;
}
