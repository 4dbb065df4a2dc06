// Where the outputs of a fleet go: to a folder or a bucket, as the flags say; for websites from a queue, as the run was configured, unless the
// worker's own flags say otherwise.
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { type FileLock, ownerOf } from "../../archive/lock.ts";
import type { BullQueue, RunSettings } from "../../fleet/bull-queue.ts";
import { takeFolder } from "../../fleet/fleet-folder.ts";
import { noSink, type SiteOutput, type SiteSink } from "../../fleet/fleet-options.ts";
import { lockName, readResults } from "../../fleet/journal-file.ts";
import { bucketAddress, isBucket, S3Bucket } from "../../fleet/s3-bucket.ts";
import { keyHash, type SiteJob, type SiteSummary } from "../../fleet/site-job.ts";
import { systemReason } from "../../model/errors.ts";
import { resolveStreamOptions, type StreamOptions } from "../../model/options.ts";
import { UsageError } from "../exit-codes.ts";
import type { Dataset } from "./dataset.ts";
import { fleetFormats, withDefaults } from "./flags.ts";
import type { FleetFlags } from "./fleet.ts";
import type { RunDefaults } from "./queue.ts";
import { hostInNames, SiteFiles, type SiteFilesOptions, summaryName } from "./sink.ts";
import { journalIn } from "./totals.ts";

/** For the flags of `fleet`; `folder` is that of the journal. */
export async function sinkFor(flags: FleetFlags, folder: string): Promise<SiteSink> {
  const previous = flags.previous === undefined ? undefined : await archivesOf(flags.previous);
  return siteFiles(flags, { folder, previous }, flags.run);
}

async function siteFiles(
  { out = "", format = "ndjson", archives = false, check, dataset }: RunDefaults,
  more: Pick<SiteFilesOptions, "folder" | "previous" | "run">,
  run: string | undefined,
): Promise<SiteSink> {
  const files = new SiteFiles({
    format,
    archives,
    check: check ? (await import("../../check/check-tree.ts")).checkTree : undefined,
    bucket: isBucket(out) ? await usableBucket(out) : undefined,
    ...more,
  });
  return dataset === undefined ? files : datasetOf(dataset, run, files);
}

/** Imported only if it is wanted: it brings the library that writes Parquet. */
export async function datasetOf(folder: string, run = "default", inner: SiteSink = noSink): Promise<Dataset> {
  const { Dataset: Made } = await import("./dataset.ts");
  return new Made(inner, folder, run);
}

/** An absolute path. Throws a `UsageError` where no dataset can be written. */
export function datasetPath(dataset: string | undefined, retry: readonly unknown[] = []): string | undefined {
  if (dataset === undefined) return undefined;
  if (isBucket(dataset)) throw new UsageError("--dataset takes a folder");
  if (retry.length > 0)
    throw new UsageError("--retry does not work with --dataset: rows that are written stay; start another run");
  return path.resolve(dataset);
}

// The archives of an earlier run, by the key of their website.
async function archivesOf(folder: string): Promise<Map<string, string>> {
  const archives = new Map<string, string>();
  for await (const { key, files } of readResults(journalIn(folder))) {
    // One that is missing is reported where it is needed.
    if (files["archive"] !== undefined) archives.set(key, path.join(folder, files["archive"]));
  }
  if (![...archives.values()].some((file) => existsSync(file)))
    throw new UsageError(`${folder} has no archives: the earlier run needs --archives`);
  return archives;
}

/** Throws a `SitemapError` if the bucket cannot be used. */
export async function usableBucket(out: string): Promise<S3Bucket> {
  const bucket = await S3Bucket.open(out);
  await bucket.inspect();
  return bucket;
}

export class RunSinks implements SiteSink {
  readonly #queue: BullQueue;
  readonly #own: RunDefaults;
  readonly #byRun = new Map<string, Promise<RunSink>>();
  #temporary: Promise<string> | undefined;

  constructor(queue: BullQueue, own: RunDefaults) {
    this.#queue = queue;
    this.#own = own;
  }

  async published(job: SiteJob): Promise<SiteSummary | undefined> {
    const { sink } = await this.#of(job);
    return sink.published?.(job);
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const { sink, crawl } = await this.#of(job);
    const output = await sink.open(job, attemptId);
    const options = { ...crawl, ...output.options };
    const { previous, settings = {} } = this.#queue.runOf(job) ?? {};
    if (previous === undefined) return { ...output, options };
    const earlier = earlierArchive(previous, job, this.#own.out, settings);
    const file = earlier && (await this.#archive(earlier, attemptId));
    if (file === undefined) {
      const previousError = `${previous} is ${earlier === undefined ? "no archive of this website and run" : "missing"}`;
      const keep: SiteOutput["keep"] = async (summary) => {
        return { previousError, ...(await output.keep({ ...summary, previousError })) };
      };
      return { ...output, options, keep };
    }
    // A copy from a bucket is removed afterwards.
    const over = async () => {
      if (isBucket(earlier?.folder ?? "")) await rm(file, { force: true });
    };
    return {
      ...output,
      options: { previous: file, ...options },
      keep: (summary) => output.keep(summary).finally(over),
      discard: () => output.discard().finally(over),
    };
  }

  /** Removes what is left of temporary files. */
  async close(): Promise<void> {
    if (this.#temporary !== undefined) await rm(await this.#temporary, { recursive: true, force: true });
    this.#lock?.release();
  }

  #lock: FileLock | undefined;

  #folder(): Promise<string> {
    this.#temporary ??= (async () => {
      await removeAbandoned();
      const folder = await mkdtemp(path.join(tmpdir(), temporaryStart));
      this.#lock = takeFolder(path.join(folder, lockName));
      return folder;
    })();
    return this.#temporary;
  }

  #of(job: SiteJob): Promise<RunSink> {
    const { run = "default", settings = {} } = this.#queue.runOf(job) ?? {};
    let made = this.#byRun.get(run);
    if (made === undefined) {
      made = this.#make(run, settings);
      // The error reaches whoever waits for it; the next website tries again.
      made.catch(() => this.#byRun.delete(run));
      this.#byRun.set(run, made);
    }
    return made;
  }

  async #make(run: string, settings: RunDefaults): Promise<RunSink> {
    const own = this.#own;
    const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const defaults: RunDefaults = { ...settings, ...given };
    const crawl = withDefaults(merged(settings.crawl, own.crawl));
    resolveStreamOptions(crawl);
    const { out, dataset } = defaults;
    if (out === undefined) return { sink: dataset === undefined ? noSink : await datasetOf(dataset, run), crawl };
    const folder = isBucket(out) ? await this.#folder() : out;
    return { sink: await siteFiles(defaults, { folder, run }, run), crawl };
  }

  // Undefined where it is missing.
  async #archive({ folder, name }: ArchivePlace, attemptId: string): Promise<string | undefined> {
    const isRemote = isBucket(folder);
    const file = isRemote ? path.join(await this.#folder(), `previous-${attemptId}.warc.gz`) : path.join(folder, name);
    const isThere = isRemote ? await (await S3Bucket.open(folder)).download(name, file) : existsSync(file);
    return isThere ? file : undefined;
  }
}

// Folders of workers that were killed.
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const folder = path.join(tmpdir(), name);
    const lock = path.join(folder, lockName);
    if (!name.startsWith(temporaryStart) || !existsSync(lock) || ownerOf(lock) !== undefined) continue;
    // That of another user stays.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

const temporaryStart = "sitegrove-worker-";

interface ArchivePlace {
  /** A folder, or the address of a bucket. */
  readonly folder: string;
  /** `archives/3f/example.org.3f9a2c1b5d7e8f90-1.warc.gz`. */
  readonly name: string;
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
): ArchivePlace | undefined {
  const [, folder = "", name = "", file = ""] = /^(?:(.*)\/)?(archives\/[0-9a-f]{2}\/([^/]+))$/.exec(previous) ?? [];
  const start = `${hostInNames(job)}.${keyHash(job.key)}-`;
  if (!file.startsWith(start) || !/^\d+(?:-\w+)?\.warc\.gz$/.test(file.slice(start.length))) return undefined;
  if (own !== undefined) return { folder: own, name };
  if (typeof out !== "string" || folder.split("/").includes("..")) return undefined;
  if (series === undefined) return folder === out ? { folder, name } : undefined;
  // Each repetition writes into a folder of its own, below that of the first run.
  const base = path.posix.dirname(out);
  return folder === base || path.posix.dirname(folder) === base ? { folder, name } : undefined;
}

interface RunSink {
  readonly sink: SiteSink;
  readonly crawl: StreamOptions;
}

/** Why a worker with flags of its own cannot do what a run asks for: somebody else, or another version, may have filled it. */
export function settingsProblem(settings: Readonly<Record<string, unknown>>, flags: StreamOptions): string | undefined {
  const unknown = Object.keys(settings).find((name) => !runSettings.has(name));
  if (unknown !== undefined) return `this version does not know its setting ${unknown}`;
  const { out, format, archives, check, crawl = {}, dataset } = settings;
  const isFlag = (value: unknown) => value === undefined || typeof value === "boolean";
  const isFormat = format === undefined || (fleetFormats as readonly unknown[]).includes(format);
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  if (!isText(out) || !isText(dataset) || !isFormat || !isFlag(archives) || !isFlag(check))
    return "its outputs are not what this version knows";
  if (typeof crawl !== "object" || crawl === null) return "its options are not what this version knows";
  const own = Object.keys(crawl).find((name) => !runOptions.has(name));
  if (own !== undefined) return `it sets ${own}, which only workers may`;
  try {
    resolveStreamOptions(merged(crawl as StreamOptions, flags));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const runSettings: ReadonlySet<string> = new Set([
  ...["out", "format", "archives", "check", "crawl"],
  "dataset",
  "series",
]);
// What a run may bring along. Secrets, files of the worker's machine and what weakens its protection come from its own flags.
const runOptions: ReadonlySet<string> = new Set<keyof StreamOptions>([
  ...([
    "useRobots",
    "useKnownPaths",
    "useHomepage",
    "extraKnownPaths",
    "keepPath",
    "onlyPath",
    "strictRobots",
  ] as const),
  ...(["strict", "concurrency", "delay", "useCrawlDelay", "retries", "timeout", "userAgent", "limits"] as const),
  ...(["include", "exclude", "since", "undated", "sameHost", "sameSite", "unique", "skipOldSitemaps"] as const),
]);

/** Options of the second take precedence. */
function merged(one: StreamOptions = {}, other: StreamOptions = {}): StreamOptions {
  return { ...one, ...other, limits: { ...one.limits, ...other.limits } };
}

/** An absolute path, for other processes. Throws if it is neither a folder nor the address of a bucket. */
export function wholePath(out: string): string {
  if (!isBucket(out)) return path.resolve(out);
  bucketAddress(out);
  return out;
}

/** The local folder for the journal of a fleet whose outputs are in a bucket: the same each time, and nobody else's. */
export function stateFolder(out: string, shard: string | undefined): string {
  const { bucket, prefix } = bucketAddress(out);
  const name = [bucket, ...prefix.split("/"), ...(shard ?? "").split("/")].filter((part) => part !== "");
  const place = privateFolder(path.join(tmpdir(), `sitegrove-fleets-${process.getuid?.() ?? userInfo().username}`));
  return path.join(place, name.map((part) => part.replaceAll(/[^\w.-]/g, "_")).join("-"));
}

// Whoever comes first could make a folder of this name: only one that is ours, and that nobody else can look or write into, is used.
function privateFolder(folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      throw new UsageError(`${folder} cannot be made: ${systemReason(error)}`);
  }
  const stat = lstatSync(folder);
  const isOurs = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
  if (stat.isDirectory() && isOurs) return folder;
  throw new UsageError(`${folder} is not a private folder of yours: remove it, or name another place with TMPDIR`);
}

/** Removes the published summary of a website that is read again. */
export async function unpublisher(
  out: string | undefined,
  run: string | undefined,
): Promise<(summary: SiteSummary) => Promise<void>> {
  if (out === undefined || !isBucket(out)) return async () => {};
  const bucket = await S3Bucket.open(out);
  return ({ key, site }) => bucket.delete(summaryName({ key, homepage: site }, run));
}

/** Removes the outputs that a summary names, and returns how many there were. */
export async function outputRemover(out: string, run: string): Promise<(summary: SiteSummary) => Promise<number>> {
  const unpublish = await unpublisher(out, run);
  const bucket = isBucket(out) ? await S3Bucket.open(out) : undefined;
  return async (summary) => {
    const names = Object.values(summary.files);
    for (const name of names)
      await (bucket === undefined ? rm(path.join(out, name), { force: true }) : bucket.delete(name));
    await unpublish(summary);
    return names.length;
  };
}
