// The data of a job on a server, and its result. Checked when it is read: other programs and versions can write there.
import type { Job } from "bullmq";
import { isHttpUrl } from "../model/url.ts";
import { emptySummary, keyHash, type SiteJob, type SiteSummary, siteOutcomes } from "./site-job.ts";

/** The data of a job. */
export interface JobData {
  readonly key: string;
  readonly homepage: string;
  /** Its position in the list. */
  readonly at: number;
  /** The archive of an earlier run, as its summary names it. */
  readonly previous?: string;
}

/** A job on the server: one website, and its summary once it is finished. */
export type SiteQueueJob = Job<JobData, SiteSummary>;

/** Undefined where the job holds no website. */
export function queuedSite(data: unknown): Omit<JobData, "at"> | undefined {
  const { key, homepage, previous } = fieldsOf(data);
  if (typeof key !== "string" || typeof homepage !== "string" || !isHttpUrl(homepage)) return undefined;
  return { key, homepage, ...(typeof previous === "string" ? { previous } : {}) };
}

/** The position of a site in the list; jobs without one come last. */
export function placeOf(data: unknown): number {
  const { at } = fieldsOf(data);
  return typeof at === "number" ? at : Number.MAX_SAFE_INTEGER;
}

export function noSiteSummary(data: unknown, attempts: number): SiteSummary {
  const site = shownSite(data);
  const reason = { message: "The job in the queue holds no website", count: 1 };
  return emptySummary(site, `${keyHash(site.key)}-${attempts}`, "failed", reason);
}

/** The result of a finished job. */
export function summaryOf(job: {
  readonly data: unknown;
  readonly failedReason?: unknown;
  readonly returnvalue?: unknown;
}): SiteSummary {
  const { data, failedReason, returnvalue } = job;
  if (isSummary(returnvalue)) return returnvalue;
  try {
    const summary: unknown = JSON.parse(String(failedReason));
    if (isSummary(summary)) return summary;
  } catch {
    // Another program failed the job, with its own message.
  }
  const site = shownSite(data);
  const message =
    typeof failedReason === "string" && failedReason !== "" ? failedReason : "Somebody else ended the job";
  return emptySummary(site, `${keyHash(site.key)}-0`, "failed", { message, count: 1 });
}

function isSummary(value: unknown): value is SiteSummary {
  const { site, key, attemptId, outcome, reasons, files } = fieldsOf(value);
  return (
    [site, key, attemptId].every((text) => typeof text === "string") &&
    (siteOutcomes as readonly unknown[]).includes(outcome) &&
    Array.isArray(reasons) &&
    typeof files === "object" &&
    files !== null
  );
}

function shownSite(data: unknown): SiteJob {
  const { key, homepage } = fieldsOf(data);
  const shown = (text: unknown) => (typeof text === "string" ? text.slice(0, longestShown) : "");
  return { key: shown(key), homepage: shown(homepage) };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

const longestShown = 2000;

/** The id of a job that is on the server. */
export function idOf(job: SiteQueueJob): string {
  if (job.id === undefined) throw new Error("The job has no id");
  return job.id;
}
