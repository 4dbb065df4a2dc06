// The results of a run: from its journal or, in a bucket or from workers, from one summary for each website,
// `summaries/monday/3f/example.org.3f9a2c1b5d7e8f90.json`.
import { existsSync } from "node:fs";
import path from "node:path";
import { SitemapError } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { journalName, readResults } from "./journal-file.ts";
import { isBucket } from "./s3-bucket.ts";
import { isSummary, keyHash, type SiteJob, type SiteSummary } from "./site-job.ts";
import { Store } from "./store.ts";

export function summaryName(job: SiteJob, run: string | undefined): string {
  const hash = keyHash(job.key);
  return path.posix.join("summaries", run ?? "", hash.slice(0, 2), `${hostInNames(job)}.${hash}.json`);
}

/** The host as part of a file name, safe on every file system. A hash next to it distinguishes similar names. */
export function hostInNames({ homepage }: SiteJob): string {
  return new URL(homepage).host.replaceAll(/[^a-z0-9.-]/gi, "_").slice(0, 80);
}

/** Throws a `SitemapError` (`storage-failed`) if somebody else wrote the file. */
export function parsedSummary(name: string, text: string): SiteSummary {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON, so not a summary either.
  }
  if (isSummary(value)) return value;
  throw new SitemapError(
    "storage-failed",
    `${name} is not a summary of a website; remove it to crawl the website again`,
  );
}

/** A run and its results. `unreadable`: how many summaries are damaged, once all were read. */
export interface StoredRun {
  readonly store: Store;
  readonly run: string;
  readonly results: AsyncIterable<SiteSummary>;
  unreadable: number;
}

/** Throws a `SitemapError` (`invalid-option`) if there is no such run. The name of a run with a journal is that of its folder. */
export async function storedRun(location: string, run?: string): Promise<StoredRun> {
  const store = await Store.open(location);
  const journal = path.join(location, journalName);
  const ownName = (path.basename(path.resolve(location)).replaceAll(/[^\w.-]/g, "_") || "run").replace(
    /^[^a-z\d]/i,
    "run$&",
  );
  if (!isBucket(location) && existsSync(journal))
    return { store, run: run ?? ownName, results: readResults(journal), unreadable: 0 };
  const names = (await store.list("summaries/")).filter((name) => name.endsWith(".json"));
  const runs = [...new Set(names.map((name) => name.split("/").slice(1, -2).join("/")))];
  const chosen = run !== undefined && runs.includes(run) ? run : runs.length === 1 ? runs[0] : undefined;
  if (runs.length === 0) throw invalid(`${location} has no results: neither ${journalName} nor summaries`);
  if (chosen === undefined) throw invalid(`${location} has several runs: use --run with one of ${runs.join(", ")}`);
  const stored = { store, run: run ?? (chosen || ownName), unreadable: 0 };
  async function* results() {
    for (const name of names.filter((each) => each.split("/").slice(1, -2).join("/") === chosen)) {
      try {
        yield parsedSummary(name, (await store.get(name)) ?? "");
      } catch (error) {
        if (!(error instanceof SitemapError)) throw error;
        stored.unreadable += 1;
      }
    }
  }
  return Object.assign(stored, { results: { [Symbol.asyncIterator]: results } });
}
