// Reads the results of a run. They are in its journal; in a bucket, or if workers made them, each website has a file with its summary:
// `summaries/monday/3f/example.org.3f9a2c1b5d7e8f90.json`.
import { existsSync } from "node:fs";
import path from "node:path";
import { SitemapError } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { journalName } from "./journal-file.ts";
import { readResults, readState } from "./journal-state.ts";
import { isBucket } from "./s3-bucket.ts";
import { isSummary, keyHash, type SiteJob, type SiteSummary } from "./site-job.ts";
import { Store } from "./store.ts";

export function summaryName(job: SiteJob, run: string | undefined): string {
  return `${nameInFolder("summaries", run, job)}.json`;
}

/** The name of the summary of a website that failed or is quarantined. It counts if there is no other summary. */
export function failureName(job: SiteJob, run: string | undefined): string {
  return `${nameInFolder("failures", run, job)}.json`;
}

/**
 * How the names of a website's files of one kind begin. The host has only safe characters, and the hash keeps names distinct.
 */
export function nameInFolder(kind: string, run: string | undefined, { key, homepage }: SiteJob): string {
  const hash = keyHash(key);
  const host = new URL(homepage).host.replaceAll(/[^a-z0-9.-]/gi, "_").slice(0, 80);
  return path.posix.join(kind, run ?? "", hash.slice(0, 2), `${host}.${hash}`);
}

export const fileKinds = ["pages", "changes", "sitemaps", "archives", "findings"] as const;
export type FileKind = (typeof fileKinds)[number];

/** The name of a file of one attempt at a website. */
export function fileName(
  kind: FileKind,
  run: string | undefined,
  job: SiteJob,
  attemptId: string,
  extension: string,
): string {
  return `${nameInFolder(kind, run, job)}${attemptId.slice(keyHash(job.key).length)}.${extension}`;
}

// Others may write into a bucket, so a summary must not refer to the files of other websites.
function isOwnSummary({ key, attemptId, files }: SiteSummary, job: SiteJob, run: string | undefined): boolean {
  const isOwn = (name: string) =>
    fileKinds.some((kind) => {
      const start = fileName(kind, run, job, attemptId, "");
      return name.startsWith(start) && !name.slice(start.length).includes("/");
    });
  const [hash, ...attempt] = attemptId.split("-");
  const isAttempt = hash === keyHash(job.key) && /^\d+(-\w+)?$/.test(attempt.join("-"));
  return key === job.key && isAttempt && Object.values(files).every(isOwn);
}

/**
 * Parses the summary of `job` or, without one, of the website that the text names. Throws a `SitemapError` (`storage-failed`) if it is not a
 * summary, or belongs to another website.
 */
export function parsedSummary(name: string, text: string, job?: SiteJob, run?: string): SiteSummary {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // A text that is not JSON is not a summary either.
  }
  if (isSummary(value)) {
    const own = job ?? { key: value.key, homepage: value.site };
    // A copy of a summary under another name must not count twice.
    if (isOwnSummary(value, own, run) && [summaryName, failureName].some((nameOf) => nameOf(own, run) === name))
      return value;
    throw new SitemapError("storage-failed", `${name} belongs to another website`);
  }
  throw new SitemapError(
    "storage-failed",
    `${name} is not a summary of a website; remove it to crawl the website again`,
  );
}

/** A run and its results. Only a journal tells which websites have no result. */
export interface StoredRun {
  readonly store: Store;
  readonly run: string;
  readonly results: AsyncIterable<SiteSummary>;
  /** How many summaries are damaged; known once all results were read. */
  unreadable: number;
  /** How many websites have no result yet, and how many of them were started. */
  readonly unfinished: number;
  readonly active: number;
  /** How many lines of the journal cannot be read. */
  readonly damaged: number;
  /** How many lists were only partly added. */
  readonly cutLists: number;
}

/** Opens the results of a run. Throws a `SitemapError` (`invalid-option`) if there is no such run. A run with a journal is named like its folder. */
export async function storedRun(location: string, run?: string): Promise<StoredRun> {
  const { store, journal, chosen, names } = await openRun(location, "--run", run);
  const noGaps = { unreadable: 0, unfinished: 0, active: 0, damaged: 0, cutLists: 0 };
  const stored = { store, run: run ?? (chosen || nameOfFolder(location)), ...noGaps };
  if (journal !== undefined) {
    const { state, damaged } = await readState(journal);
    const open = [...state.sites.values()].filter(({ result }) => result === undefined);
    const active = open.filter((site) => site.state === "active").length;
    const gaps = { unfinished: open.length, active, damaged, cutLists: state.cutLists.size };
    return { ...stored, ...gaps, results: readResults(journal, state.sites) };
  }
  async function* results() {
    const seen = new Set<string>();
    for (const name of names.filter((each) => runOf(each) === chosen)) {
      const website = name.slice(name.indexOf("/"));
      if (seen.has(website)) continue;
      try {
        yield parsedSummary(name, (await store.get(name)) ?? "", undefined, chosen);
        seen.add(website);
      } catch (error) {
        if (!(error instanceof SitemapError)) throw error;
        stored.unreadable += 1;
      }
    }
  }
  return Object.assign(stored, { results: { [Symbol.asyncIterator]: results } });
}

// Finds the results of a run: its journal, or the names of all summaries and the run to choose from them. Messages name `flag`.
async function openRun(location: string, flag: string, run: string | undefined) {
  const store = await Store.open(location);
  const journal = path.join(location, journalName);
  if (!isBucket(location) && existsSync(journal)) return { store, journal, chosen: "", names: [] };
  // Summaries come first: a failure counts only if its website has none.
  const all = [...(await store.list("summaries/")), ...(await store.list("failures/"))];
  const names = all.filter((name) => name.endsWith(".json"));
  return { store, journal: undefined, names, chosen: chosenRun(location, names, run, flag) };
}

function nameOfFolder(location: string): string {
  const name = path.basename(path.resolve(location)).replaceAll(/[^\w.-]/g, "_") || "run";
  return name.replace(/^[^a-z\d]/i, "run$&");
}

// The run that a summary belongs to. Empty if the run has no name.
function runOf(summary: string): string {
  return summary.split("/").slice(1, -2).join("/");
}

// Chooses a run by its name. A single run need not be named, and accepts any name if it has none, so that no run gets the name of another.
function chosenRun(location: string, names: readonly string[], wanted: string | undefined, flag: string): string {
  const ownName = nameOfFolder(location);
  const runs = [...new Set(names.map(runOf))];
  if (runs.length === 0) throw invalid(`${location} has no results: neither ${journalName} nor summaries`);
  const [only] = runs.length === 1 ? runs : [];
  const chosen = wanted === undefined || only === "" ? only : runs.find((run) => (run || ownName) === wanted);
  if (chosen !== undefined) return chosen;
  const use = `use ${flag} with ${runs.length === 1 ? "" : "one of "}${runs.map((run) => run || ownName).join(", ")}`;
  throw invalid(`${location} has ${wanted === undefined ? "several runs" : `no run ${wanted}`}: ${use}`);
}

/** What an earlier run has for a website: the path of its archive, or why it cannot be used. */
export interface EarlierSite {
  readonly file?: string;
  readonly error?: string;
  /** Removes the file if it is a copy. */
  remove?(): Promise<void>;
}

/** Looks up what an earlier run has for a website. */
export type EarlierRun = (job: SiteJob) => Promise<EarlierSite | undefined>;

/**
 * Opens an earlier run: `run`, if there are several. Throws a `SitemapError` (`invalid-option`) if it has no archives. Summaries are read
 * one by one, when their websites are crawled: a bucket may have very many.
 */
export async function earlierRun(location: string, run?: string): Promise<EarlierRun> {
  const { store, journal, chosen } = await openRun(location, "--previous-run", run);
  let archiveOf: (job: SiteJob) => Promise<string | undefined>;
  let hasArchives: boolean;
  if (journal !== undefined) {
    const archives = new Map<string, string>();
    for await (const { key, files } of readResults(journal)) if (files["archive"]) archives.set(key, files["archive"]);
    archiveOf = async ({ key }) => archives.get(key);
    hasArchives = archives.size > 0;
  } else {
    archiveOf = async (job) => {
      const name = summaryName(job, chosen);
      const text = await store.get(name);
      return text === undefined ? undefined : parsedSummary(name, text, job, chosen).files["archive"];
    };
    hasArchives = (await store.list(`${path.posix.join("archives", chosen)}/`)).length > 0;
  }
  if (!hasArchives) throw invalid(`${location} has no archives: the earlier run needs --archives`);
  return async (job) => {
    try {
      const name = await archiveOf(job);
      return name === undefined
        ? undefined
        : ((await store.fetch(name)) ?? { error: `${name} is missing from ${location}` });
    } catch (error) {
      if (error instanceof SitemapError) return { error: error.message };
      throw error;
    }
  };
}
