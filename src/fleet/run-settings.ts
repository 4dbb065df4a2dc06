// Where the outputs of a run go, and how its websites are crawled: by flags or, for websites from a queue, by the settings of the run, which
// the worker's own flags override.
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { defined } from "../model/defined.ts";
import { systemReason } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { pageFilterNames, resolveStreamOptions, type StreamOptions } from "../model/options.ts";
import type { BullRuns, RunSettings } from "./bull-runs.ts";
import { type FleetCrawlOptions, noSink, type SiteSink } from "./fleet-options.ts";
import { storedRun } from "./results.ts";
import { bucketAddress, endpointOf, isBucket, S3Bucket } from "./s3-bucket.ts";
import { type EarlierSite, type FleetFormat, fleetFormats, siteFiles } from "./site-files.ts";
import type { SiteJob } from "./site-job.ts";
import { Store } from "./store.ts";

/** The configuration of a run for its workers, whose own flags take precedence. */
export interface RunDefaults {
  readonly out?: string | undefined;
  readonly format?: FleetFormat | undefined;
  readonly archives?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly crawl?: FleetCrawlOptions | undefined;
}

/** A website that takes longer must not hold up the fleet. */
export function withDefaults(crawl: FleetCrawlOptions): FleetCrawlOptions {
  return { ...crawl, limits: { time: 600_000, ...defined(crawl.limits ?? {}) } };
}

/** What an earlier run knows of each website. */
export type EarlierRun = (job: SiteJob) => Promise<EarlierSite | undefined>;

/** Throws a `SitemapError` (`invalid-option`) if the run at this location has no archives. */
export async function earlierRun(location: string): Promise<EarlierRun> {
  const { store, results } = await storedRun(location);
  const archives = new Map<string, string>();
  for await (const { key, files } of results) if (files["archive"]) archives.set(key, files["archive"]);
  if (archives.size === 0) throw invalid(`${location} has no archives: the earlier run needs --archives`);
  return async ({ key }) => {
    const name = archives.get(key);
    if (name === undefined) return undefined;
    return (await store.fetch(name)) ?? { error: `${name} is missing in ${location}` };
  };
}

/** `run`: the name of the run, for a queue. */
export async function siteSink(
  { out, format = "ndjson", archives = false, check }: RunDefaults,
  previous?: EarlierRun,
  run?: string,
): Promise<SiteSink> {
  if (out === undefined) return noSink;
  const checkTree = check ? (await import("../check/check-tree.ts")).checkTree : undefined;
  return siteFiles({ store: await Store.open(out), format, archives, check: checkTree, previous, run });
}

/** Throws if outputs cannot go there. */
export async function expectUsableLocation(location: string | undefined): Promise<void> {
  if (isBucket(location)) await (await S3Bucket.open(location)).inspect();
  else if (location !== undefined && statSync(location, { throwIfNoEntry: false })?.isDirectory() === false)
    throw invalid(`${location} is not a folder`);
}

/** The outputs of a worker: each run has its own. */
export function runSinks(queue: BullRuns, own: RunDefaults, previous: EarlierRun | undefined): SiteSink {
  const byRun = new Map<string, ReturnType<typeof make>>();

  async function make(run: string, settings: RunDefaults) {
    const defaults: RunDefaults = { ...settings, ...defined(own) };
    const crawl = withDefaults(merged(settings.crawl, own.crawl));
    resolveStreamOptions(crawl);
    await expectUsableLocation(defaults.out);
    return { sink: await siteSink(defaults, previous, run), crawl };
  }

  function sinkOf(job: SiteJob): ReturnType<typeof make> {
    const { run, settings } = queue.runOf(job) ?? { run: "default", settings: {} };
    let made = byRun.get(run);
    if (made === undefined) {
      made = make(run, settings);
      // A store that could not be reached may be back for the next website.
      made.catch(() => byRun.delete(run));
      byRun.set(run, made);
    }
    return made;
  }

  return {
    published: async (job) => (await sinkOf(job)).sink.published?.(job),
    async open(job, attemptId) {
      const { sink, crawl } = await sinkOf(job);
      const output = await sink.open(job, attemptId);
      return { ...output, options: { ...crawl, ...output.options } };
    },
  };
}

/** Why a worker, with its own flags, cannot process a run, which may have been created by someone else or another version. */
export function settingsProblem(settings: RunSettings, flags: StreamOptions): string | undefined {
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
};
// The options that a run may set. Secrets, files on the worker's machine and anything that weakens its protection come from its own flags.
const runOptions: ReadonlySet<string> = new Set<keyof StreamOptions>([
  ...(["useRobots", "knownPaths", "useHomepage", "extraKnownPaths", "path"] as const),
  ...(["strictRobots", "strict", "concurrency", "delay", "useCrawlDelay", "retries", "timeout"] as const),
  ...(["userAgent", "limits", ...pageFilterNames] as (keyof StreamOptions)[]),
]);

function merged(one: FleetCrawlOptions = {}, other: FleetCrawlOptions = {}): FleetCrawlOptions {
  return { ...one, ...other, limits: { ...one.limits, ...other.limits } };
}

/** The local folder for the journal of a fleet whose outputs are in a bucket: the same each time, different for each bucket, and private. */
export function stateFolder(
  out: string,
  shard: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { bucket, prefix } = bucketAddress(out);
  const identity = JSON.stringify([endpointOf(environment), bucket, prefix, shard]);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  const location = privateFolder(path.join(tmpdir(), `sitegrove-fleets-${process.getuid?.() ?? userInfo().username}`));
  return path.join(location, `${bucket}-${hash}`);
}

// Anyone could create a folder with this name first: it is used only if it is ours and not accessible to others.
function privateFolder(folder: string): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      throw invalid(`${folder} cannot be created: ${systemReason(error)}`);
  }
  const stat = lstatSync(folder);
  const isOurs = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
  if (stat.isDirectory() && isOurs) return folder;
  throw invalid(`${folder} is not your own private folder; remove it, or set TMPDIR`);
}
