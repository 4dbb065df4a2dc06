// Where the outputs of a fleet go: to a folder or a bucket, as the flags say; for websites from a queue, as the run was configured,
// unless the worker's own flags say otherwise.
import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import type { BullQueue, RunSettings } from "../../fleet/bull-queue.ts";
import { noSink, type SiteSink } from "../../fleet/fleet-options.ts";
import { readResults } from "../../fleet/journal-file.ts";
import { bucketAddress, isBucket, S3Bucket } from "../../fleet/s3-bucket.ts";
import { keyHash, type SiteJob, type SiteSummary } from "../../fleet/site-job.ts";
import { Store } from "../../fleet/store.ts";
import { defined } from "../../model/defined.ts";
import { systemReason } from "../../model/errors.ts";
import { pageFilterNames, resolveStreamOptions, type StreamOptions } from "../../model/options.ts";
import { UsageError } from "../exit-codes.ts";
import type { Dataset } from "./dataset.ts";
import { type FleetFlags, type FleetFormat, fleetFormats, givenCrawl, withDefaults } from "./flags.ts";
import { type EarlierSite, hostInNames, type SiteFilesOptions, siteFiles, summaryName } from "./sink.ts";
import { journalIn } from "./totals.ts";

/** The configuration of a run for its workers, whose own flags take precedence. */
export interface RunDefaults {
  readonly out?: string | undefined;
  readonly format?: FleetFormat | undefined;
  readonly archives?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly crawl?: StreamOptions | undefined;
  readonly dataset?: string | undefined;
}

/** What the flags say. Throws a `UsageError` if some do not go together. */
export function runDefaults(flags: FleetFlags, retry: readonly unknown[] = []): RunDefaults {
  const { out, format, archives, check, dataset } = flags;
  if (format === "changes" && !archives) throw new UsageError("-f changes needs --archives, for the next run");
  if (dataset !== undefined && retry.length > 0)
    throw new UsageError(
      "--retry does not work with --dataset, because written rows cannot be removed; start another run",
    );
  const crawl = givenCrawl(flags);
  resolveStreamOptions(crawl);
  return { out: wholePath(out), format, archives, check, crawl, dataset: wholePath(dataset) };
}

// An absolute path, for other processes, or the address of a bucket.
function wholePath(place: string | undefined): string | undefined {
  if (isBucket(place)) bucketAddress(place);
  return place === undefined || isBucket(place) ? place : path.resolve(place);
}

/** For the flags of `fleet`. */
export async function sinkFor(flags: FleetFlags): Promise<SiteSink> {
  const earlier = await earlierRun(flags);
  return siteSink(flags, { previous: async ({ key }) => earlier.get(key) }, flags.run);
}

async function siteSink(
  { out, format = "ndjson", archives = false, check, dataset }: RunDefaults,
  more: Pick<SiteFilesOptions, "previous" | "run">,
  run: string | undefined,
): Promise<SiteSink> {
  const checkTree = check ? (await import("../../check/check-tree.ts")).checkTree : undefined;
  const files = async (place: string) =>
    siteFiles({ store: await Store.open(place), format, archives, check: checkTree, ...more });
  const sink = out === undefined ? noSink : await files(out);
  return dataset === undefined ? sink : datasetAt(dataset, run, sink);
}

/** Imported only if it is wanted: it brings the library that writes Parquet. */
export async function datasetAt(place: string, run = "default", inner: SiteSink = noSink): Promise<Dataset> {
  const { openDataset } = await import("./dataset.ts");
  return openDataset(inner, await Store.open(place), run);
}

/** Throws a `UsageError` if rows of a run would be repeated. */
export async function expectNewRun(place: string, run: string): Promise<void> {
  const dataset = await datasetAt(place, run);
  if (await dataset.hasRows()) throw new UsageError(`${place} already has a run named ${run}; use another --run`);
}

// What an earlier run knows of each website, by its key. One that was tried in full since `retryDeadAfter` gets one request.
async function earlierRun({ previous: folder, retryDeadAfter }: FleetFlags): Promise<Map<string, EarlierSite>> {
  const sites = new Map<string, EarlierSite>();
  if (folder === undefined) return sites;
  for await (const { key, files, outcome, finishedAt, lastTried = finishedAt } of readResults(journalIn(folder))) {
    const isDead = outcome === "unreachable" && Date.now() - Date.parse(lastTried) < (retryDeadAfter ?? 0);
    // An archive that is missing is reported when it is needed.
    const file = files["archive"] === undefined ? undefined : path.join(folder, files["archive"]);
    sites.set(key, { file, ...(isDead ? { lastTried } : {}) });
  }
  if (retryDeadAfter === undefined && ![...sites.values()].some(({ file }) => file !== undefined && existsSync(file)))
    throw new UsageError(`${folder} has no archives: the earlier run needs --archives`);
  return sites;
}

/** Throws if outputs cannot go there. */
export async function usablePlace(place: string | undefined): Promise<void> {
  if (isBucket(place)) await (await S3Bucket.open(place)).inspect();
  else if (place !== undefined && statSync(place, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new UsageError(`${place} is not a folder`);
}

/** The outputs of a worker: each run has its own. */
export function runSinks(queue: BullQueue, own: RunDefaults): RunSinks {
  const byRun = new Map<string, ReturnType<typeof make>>();

  async function make(run: string, settings: RunDefaults) {
    const defaults: RunDefaults = { ...settings, ...defined(own) };
    const crawl = withDefaults(merged(settings.crawl, own.crawl));
    resolveStreamOptions(crawl);
    for (const place of [defaults.out, defaults.dataset]) await usablePlace(place);
    const previous = async (job: SiteJob): Promise<EarlierSite | undefined> => {
      const known = queue.runOf(job)?.previous;
      if (known === undefined) return undefined;
      const place = earlierArchive(known, job, own.out, settings as RunSettings);
      if (place === undefined) return { error: `${known} is not an archive of this website and run` };
      const store = await Store.open(place.folder);
      return (await store.fetch(place.name)) ?? { error: `${known} is missing` };
    };
    return { sink: await siteSink(defaults, { previous, run }, run), crawl };
  }

  function sinkOf(job: SiteJob): ReturnType<typeof make> {
    const { run = "default", settings = {} } = queue.runOf(job) ?? {};
    const made = byRun.get(run) ?? make(run, settings);
    byRun.set(run, made);
    // The error reaches the waiting caller; the next website tries again.
    made.catch(() => byRun.delete(run));
    return made;
  }

  return {
    published: async (job) => (await sinkOf(job)).sink.published?.(job),
    async open(job, attemptId) {
      const { sink, crawl } = await sinkOf(job);
      const output = await sink.open(job, attemptId);
      return { ...output, options: { ...crawl, ...output.options } };
    },
    async dataset(run, settings) {
      const { dataset = settings.dataset } = own;
      return dataset === undefined ? undefined : datasetAt(dataset, run);
    },
  };
}

interface RunSinks extends SiteSink {
  dataset(run: string, settings: RunDefaults): Promise<Dataset | undefined>;
}

/**
 * The archive that an earlier run wrote of a website: in the worker's own folder, or in that of a run of the same series. Undefined for
 * anything else: a queue must not choose files of the worker's machine.
 */
export function earlierArchive(
  previous: string,
  job: SiteJob,
  own: string | undefined,
  { out, series }: RunSettings,
): { readonly folder: string; readonly name: string } | undefined {
  const [, folder = "", name = "", file = ""] = /^(?:(.*)\/)?(archives\/[0-9a-f]{2}\/([^/]+))$/.exec(previous) ?? [];
  const start = `${hostInNames(job)}.${keyHash(job.key)}-`;
  if (!file.startsWith(start) || !/^\d+(?:-\w+)?\.warc\.gz$/.test(file.slice(start.length))) return undefined;
  if (own !== undefined) return { folder: own, name };
  if (typeof out !== "string" || folder.split("/").includes("..")) return undefined;
  if (series === undefined) return folder === out ? { folder, name } : undefined;
  // Each repetition writes to its own folder, inside that of the first run.
  const base = path.posix.dirname(out);
  return folder === base || path.posix.dirname(folder) === base ? { folder, name } : undefined;
}

/** Why a worker, with its own flags, cannot process a run, which may have been created by someone else or another version. */
export function settingsProblem(settings: Readonly<Record<string, unknown>>, flags: StreamOptions): string | undefined {
  const unknown = Object.keys(settings).find((name) => !(name in runSettings));
  if (unknown !== undefined) return `this version does not support its setting ${unknown}`;
  const { crawl = {}, format = "none" } = settings as { crawl?: object | null; format?: unknown };
  const isKnown = Object.entries(settings).every(([name, value]) => typeof value === runSettings[name]);
  if (!isKnown || crawl === null || !(fleetFormats as readonly unknown[]).includes(format))
    return "this version does not support its settings";
  const own = Object.keys(crawl).find((name) => !runOptions.has(name));
  if (own !== undefined) return `it sets ${own}, which only workers may set`;
  try {
    resolveStreamOptions(merged(crawl, flags));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const runSettings: Readonly<Record<string, string>> = {
  ...{ out: "string", format: "string", archives: "boolean", check: "boolean", crawl: "object" },
  ...{ dataset: "string", series: "string" },
};
// What a run may bring along. Secrets, files of the worker's machine and what weakens its protection come from its own flags.
const runOptions: ReadonlySet<string> = new Set<keyof StreamOptions>([
  ...(["useRobots", "useKnownPaths", "useHomepage", "extraKnownPaths", "keepPath", "onlyPath"] as const),
  ...(["strictRobots", "strict", "concurrency", "delay", "useCrawlDelay", "retries", "timeout"] as const),
  ...(["userAgent", "limits", ...pageFilterNames] as (keyof StreamOptions)[]),
]);

function merged(one: StreamOptions = {}, other: StreamOptions = {}): StreamOptions {
  return { ...one, ...other, limits: { ...one.limits, ...other.limits } };
}

/** The local folder for the journal of a fleet whose outputs are in a bucket: the same each time, and private. */
export function stateFolder(out: string, shard: string | undefined): string {
  const { bucket, prefix } = bucketAddress(out);
  const name = [bucket, ...prefix.split("/"), ...(shard ?? "").split("/")].filter((part) => part !== "");
  const place = privateFolder(path.join(tmpdir(), `sitegrove-fleets-${process.getuid?.() ?? userInfo().username}`));
  return path.join(place, name.map((part) => part.replaceAll(/[^\w.-]/g, "_")).join("-"));
}

// Anyone could create a folder with this name first: it is used only if it is ours and not accessible to others.
function privateFolder(folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      throw new UsageError(`${folder} cannot be created: ${systemReason(error)}`);
  }
  const stat = lstatSync(folder);
  const isOurs = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
  if (stat.isDirectory() && isOurs) return folder;
  throw new UsageError(`${folder} is not your own private folder; remove it, or set TMPDIR`);
}

/** Removes what was published of a website, and with `outputs` its files. Returns the number of files. */
export async function unpublisher(
  out: string | undefined,
  run: string | undefined,
  outputs: boolean = false,
): Promise<(summary: SiteSummary) => Promise<number>> {
  const store = out === undefined ? undefined : await Store.open(out);
  return async ({ key, site, files }) => {
    const names = outputs && store !== undefined ? Object.values(files) : [];
    for (const name of names) await store?.delete(name);
    await store?.bucket?.delete(summaryName({ key, homepage: site }, run));
    return names.length;
  };
}
