// Checks a line of a journal. Disks fail and people edit files: a line that is not exactly right is damaged, and none of it is used.
import type { Problem } from "../model/problem.ts";
import { isHttpUrl } from "../model/url.ts";
import { type SiteOutcome, type SiteReason, type SiteSummary, siteOutcomes } from "./site-job.ts";

interface Line {
  readonly site: string;
  readonly key: string;
  readonly at: string;
}

/** A line of the journal. */
export type JournalLine =
  | (Line & { readonly type: "add" })
  | (Line & { readonly type: "start"; readonly attemptId: string })
  | (Line & { readonly type: "back"; readonly reason?: Problem })
  | (Line & { readonly type: "done"; readonly summary: SiteSummary });

/** Undefined if the value is not a line of a journal. Fields of later versions are accepted. */
export function journalLine(value: unknown): JournalLine | undefined {
  if (!isRecord(value)) return undefined;
  const { type, site, key, summary, attemptId } = value;
  if (typeof site !== "string" || typeof key !== "string" || !isHttpUrl(site)) return undefined;
  const isLine =
    type === "add" ||
    type === "back" ||
    (type === "start" && typeof attemptId === "string") ||
    (type === "done" && isSummary(summary));
  return isLine ? (value as unknown as JournalLine) : undefined;
}

function isSummary(value: unknown): value is SiteSummary {
  if (!isRecord(value)) return false;
  const { outcome, reasons, files, findings = {}, previousError = "" } = value;
  return (
    siteOutcomes.includes(outcome as SiteOutcome) &&
    ["site", "key", "attemptId", "finishedAt"].every((name) => typeof value[name] === "string") &&
    ["pages", "sitemaps", "invalid", "requests", "wireBytes", "duration"].every((name) => isCount(value[name])) &&
    Array.isArray(reasons) &&
    reasons.every(isReason) &&
    isRecord(files) &&
    Object.values(files).every(isOwnPath) &&
    typeof previousError === "string" &&
    isRecord(findings) &&
    Object.values(findings).every(isCount)
  );
}

function isReason(value: unknown): value is SiteReason {
  if (!isRecord(value)) return false;
  const { code, message, count } = value;
  return typeof code === "string" && typeof message === "string" && isCount(count);
}

// Below the folder of the outputs, and nowhere else.
function isOwnPath(value: unknown): boolean {
  return typeof value === "string" && !/^[/\\]|^[a-z]:|(^|[/\\])\.\.([/\\]|$)|\0/i.test(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
