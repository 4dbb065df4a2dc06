// The files of a fleet: for each website its pages, its sitemaps, its archive and its findings, in folders by the hash of its key, under names
// that contain the attempt: `pages/3f/example.org.3f9a2c1b5d7e8f90-1.ndjson`. They are complete before the result counts. In a bucket, and
// for workers, the summary that lists them follows, under the name of the website: the first counts, and a later attempt adopts its result.
import { existsSync } from "node:fs";
import type { CheckOptions } from "../check/options.ts";
import type { CheckResult } from "../check/result.ts";
import { SitemapError } from "../model/errors.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { changeNdjsonWriter } from "../write/changes.ts";
import { csvWriter } from "../write/csv.ts";
import { ndjsonWriter, type PageBatch } from "../write/pages.ts";
import { jsonOf } from "../write/printable.ts";
import { SitemapRows } from "../write/sitemaps.ts";
import type { SiteOutput, SiteSink } from "./fleet-options.ts";
import { hostInNames, parsedSummary, summaryName } from "./results.ts";
import { keyHash, type SiteJob, type SiteSummary } from "./site-job.ts";
import { DraftFile, type Store } from "./store.ts";

export const fleetFormats = ["ndjson", "csv", "parquet", "changes", "none"] as const;
export type FleetFormat = (typeof fleetFormats)[number];

/** What an earlier run knows of a website: the path of its archive, or why it cannot be used. */
export interface EarlierSite {
  readonly file?: string | undefined;
  readonly error?: string;
  /** Present if the file is a copy. */
  remove?(): Promise<void>;
}

export interface SiteFilesOptions {
  readonly store: Store;
  readonly format: FleetFormat;
  readonly archives: boolean;
  readonly previous?: ((job: SiteJob) => Promise<EarlierSite | undefined>) | undefined;
  /** Checks a website; imported only if needed. */
  readonly check?: ((tree: SitemapTree, within: CheckOptions) => Promise<CheckResult>) | undefined;
  /** Of a queue: part of the names of summaries, because each run has its own. */
  readonly run?: string | undefined;
}

/** Writes the files of websites. */
export function siteFiles(options: SiteFilesOptions): Required<SiteSink> {
  const { store, format, archives, check, previous, run } = options;

  const hasSummaries = store.bucket !== undefined || run !== undefined;

  // The published summary of a website, if there is one.
  async function published(job: SiteJob): Promise<SiteSummary | undefined> {
    const name = summaryName(job, run);
    const text = hasSummaries ? await store.get(name) : undefined;
    if (text === undefined) return undefined;
    const summary = parsedSummary(name, text);
    if (!isOwnSummary(summary, job)) throw new SitemapError("storage-failed", `${name} belongs to another website`);
    // The process that published it may have died before it could remove earlier files.
    for (const file of Object.values(summary.files)) await store.deleteEarlier(file, summary.attemptId);
    return summary;
  }

  // Returns the summary of another attempt that was published first.
  async function publishSummary(job: SiteJob, summary: SiteSummary): Promise<SiteSummary | undefined> {
    if (!hasSummaries) return undefined;
    if ((await store.put(summaryName(job, run), `${jsonOf(summary)}\n`)) === "created") return undefined;
    const first = await published(job);
    return first?.attemptId === summary.attemptId ? undefined : first;
  }

  async function open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const nameOf = (kind: Kind, extension: string) => fileName(kind, job, attemptId, extension);
    const names = {
      // For `changes`, the pages are only a temporary file.
      pages: format === "changes" ? nameOf("changes", "pages") : nameOf("pages", format),
      changes: nameOf("changes", "ndjson"),
      sitemaps: nameOf("sitemaps", "ndjson"),
      archive: nameOf("archives", "warc.gz"),
      findings: nameOf("findings", "json"),
    };
    const pages = format === "none" ? undefined : new DraftFile(store, names.pages);
    const encoder = await pagesEncoder(format, job.homepage);
    pages?.write(encoder.header);
    const earlier = await previous?.(job);
    const archive = archives ? store.draft(names.archive) : undefined;
    // Removes a file that a killed process left of this attempt.
    await store.discard(names.archive);
    const sitemaps = new SitemapRows();
    let findings: CheckResult | undefined;
    let kept: Partial<Record<keyof typeof names, string>> = {};
    const discard = async () => {
      for (const name of Object.values(names)) await store.discard(name);
      for (const name of Object.values(kept)) await store.delete(name);
      await earlier?.remove?.();
    };
    const keep = async (summary: SiteSummary): Promise<Partial<SiteSummary>> => {
      const isRead = summary.sitemaps > 0 && summary.outcome !== "failed";
      const publish = async (kind: keyof typeof names, publishing: Promise<unknown>) => {
        await publishing;
        kept[kind] = names[kind];
      };
      if (!isRead) await store.discard(names.pages);
      else if (pages !== undefined && format === "changes") {
        const draft = await pages.finish(encoder.end());
        const changes = new DraftFile(store, names.changes);
        const since = summary.previousError === undefined ? earlier?.file : undefined;
        for await (const text of changedPages(since, draft)) await changes.write(text);
        await publish("changes", changes.publish(""));
        await store.discard(names.pages);
      } else if (pages !== undefined) await publish("pages", pages.publish(encoder.end()));
      if (isRead && format !== "none") {
        const rows = new DraftFile(store, names.sitemaps);
        for (const row of sitemaps) await rows.write(`${jsonOf(row)}\n`);
        await publish("sitemaps", rows.publish(""));
      }
      if (archive !== undefined && existsSync(archive)) await publish("archive", store.publish(names.archive));
      if (findings !== undefined && isRead)
        await publish("findings", store.replace(names.findings, `${jsonOf(findings)}\n`));
      const added = {
        files: { ...kept },
        ...(findings && { findings: findings.rulesFailed }),
        ...(earlier?.error === undefined ? {} : { previousError: earlier.error }),
      };
      const first = await publishSummary(job, { ...summary, ...added });
      if (first !== undefined) {
        await discard();
        return first;
      }
      // Files that a summary lists are kept, whoever reports to the queue.
      if (hasSummaries) kept = {};
      for (const name of Object.values(names)) await store.deleteEarlier(name, attemptId);
      await earlier?.remove?.();
      return added;
    };
    const tree = async (whole: SitemapTree, within: CheckOptions) => {
      findings = await check?.(whole, within);
      return findings?.complete === false && whole.complete ? "late" : undefined;
    };
    return {
      options: { ...(archive && { save: archive }), ...(earlier?.file && { previous: earlier.file }) },
      event: (event) => sitemaps.see(event),
      pages: (sitemap, batch) => pages?.write(encoder.write({ sitemap, pages: batch })),
      ...(check && { tree }),
      keep,
      discard,
    };
  }

  return { published, open };
}

const kinds = ["pages", "changes", "sitemaps", "archives", "findings"] as const;
type Kind = (typeof kinds)[number];

function fileName(kind: Kind, job: SiteJob, attemptId: string, extension: string): string {
  return `${kind}/${attemptId.slice(0, 2)}/${hostInNames(job)}.${attemptId}.${extension}`;
}

// Anybody may write into a bucket: a summary must not lead to the files of other websites.
function isOwnSummary({ key, attemptId, files }: SiteSummary, job: SiteJob): boolean {
  const isAttempt = attemptId.startsWith(`${keyHash(job.key)}-`) && /^[0-9a-f]+-\d+(-\w+)?$/.test(attemptId);
  const isOwn = (name: string) => kinds.some((kind) => name.startsWith(fileName(kind, job, attemptId, "")));
  return (
    key === job.key && isAttempt && Object.values(files).every((name) => isOwn(name) && name.split("/").length === 3)
  );
}

/** Removes what all attempts have left of a quarantined website. */
export async function removeAttempts(store: Store, { key, site, attemptId }: SiteSummary): Promise<void> {
  const [hash = "", last] = attemptId.split("-");
  const next = `${hash}-${Number(last) + 1}`;
  for (const kind of kinds) await store.deleteEarlier(fileName(kind, { key, homepage: site }, next, ""), next);
}

/** Removes the summary of a website, so that it is crawled again, and with `outputs` its files. Returns the number of files. */
export async function unpublish(
  store: Store,
  run: string | undefined,
  summary: SiteSummary,
  outputs = false,
): Promise<number> {
  const job = { key: summary.key, homepage: summary.site };
  const names = outputs && isOwnSummary(summary, job) ? Object.values(summary.files) : [];
  for (const name of names) await store.delete(name);
  await store.delete(summaryName(job, run));
  return names.length;
}

/** Turns the pages of a website into bytes or text. */
interface PagesEncoder {
  readonly header: string;
  write(batch: PageBatch): string | Uint8Array;
  end(): string | Uint8Array;
}

async function pagesEncoder(format: FleetFormat, site: string): Promise<PagesEncoder> {
  if (format !== "parquet") return { ...(format === "csv" ? csvWriter() : ndjsonWriter()), end: () => "" };
  const { ParquetTables } = await import("../write/parquet.ts");
  const chunks: Uint8Array[] = [];
  // A copy, because the buffer is reused.
  const hold = (bytes: Uint8Array) => void chunks.push(bytes.slice());
  const tables = new ParquetTables((file) => (file === "pages" ? hold : undefined));
  const taken = () => Buffer.concat(chunks.splice(0));
  return {
    header: "",
    write: (batch) => {
      tables.addPages(batch, site);
      return taken();
    },
    end: () => {
      tables.finish();
      return taken();
    },
  };
}

/**
 * The pages of a file that are new or changed since an earlier archive, as lines of JSON. `unknown`: the earlier archive is not complete,
 * and does not have the page.
 */
async function* changedPages(archive: string | undefined, file: string): AsyncGenerator<string, void> {
  const { diffBatches } = await import("../diff/diff-trees.ts");
  const { resolveDiffOptions } = await import("../diff/settings.ts");
  const { emptySide } = await import("../diff/diff-side.ts");
  const { NdjsonSide } = await import("../diff/ndjson-side.ts");
  const { write } = changeNdjsonWriter();
  const settings = resolveDiffOptions({ only: ["added", "changed", "unknown"] });
  const after = new NdjsonSide(file);
  for await (const changes of diffBatches(archive ?? emptySide, after, settings)) yield write(changes);
}
