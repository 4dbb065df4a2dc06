// The files of a fleet: for each website its pages or changes, sitemaps, archive and findings, in folders by the hash of its key, under
// names that contain the attempt: `pages/3f/example.org.3f9a2c1b5d7e8f90-1-c0ffee.ndjson`. They are complete before the result counts. In a
// bucket, and for workers, a summary that lists them follows, under the name of the website. The first summary counts; a later attempt
// adopts it. Several runs of a queue may share a folder: each has its own subfolders.
import { existsSync } from "node:fs";
import type { CheckResult } from "../check/findings/result.ts";
import type { CheckOptions } from "../check/options.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { changeNdjsonWriter } from "../write/changes.ts";
import { csvWriter } from "../write/csv.ts";
import { ndjsonWriter } from "../write/pages.ts";
import { jsonOf } from "../write/printable.ts";
import { SitemapRows } from "../write/sitemaps.ts";
import type { SiteOutput, SiteSink } from "./fleet-options.ts";
import {
  type EarlierRun,
  type FileKind,
  failureName,
  fileKinds,
  fileName,
  nameInFolder,
  parsedSummary,
  summaryName,
} from "./results.ts";
import type { SiteJob, SiteReason, SiteSummary } from "./site-job.ts";
import { DraftFile, type Store } from "./store.ts";

export const fleetFormats = ["ndjson", "csv", "changes", "none"] as const;
export type FleetFormat = (typeof fleetFormats)[number];

export interface SiteFilesOptions {
  readonly store: Store;
  /** @default "ndjson" */
  readonly format?: FleetFormat | undefined;
  readonly archives?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly previous?: EarlierRun | undefined;
  /** The run of a queue, which is part of all names. */
  readonly run?: string | undefined;
}

/** Creates a sink that writes the files of websites. */
export function siteFiles(options: SiteFilesOptions): Required<SiteSink> {
  const { store, format = "ndjson", archives = false, check = false, previous, run } = options;
  const hasSummaries = store.bucket !== undefined || run !== undefined;

  // Returns the published summary of a website. Deletes it if the user asked to replace it.
  async function published(job: SiteJob, replaced?: string): Promise<SiteSummary | undefined> {
    const name = summaryName(job, run);
    const text = hasSummaries ? await store.get(name) : undefined;
    if (text === undefined) return undefined;
    const summary = parsedSummary(name, text, job, run);
    if (summary.attemptId === replaced) {
      // The files of the summary stay until there are newer ones.
      await store.delete(name);
      return undefined;
    }
    // The process that published it may have died before it could remove earlier files.
    await deleteEarlier(job, summary);
    return summary;
  }

  // A failure has a name of its own, so that it never takes the place of a result: another worker may still publish one.
  async function fail(job: SiteJob, summary: SiteSummary): Promise<void> {
    await deleteEarlier(job, summary);
    if (hasSummaries) await store.replace(failureName(job, run), `${jsonOf(summary)}\n`);
  }

  // Publishes a summary. If that of another attempt was published first, returns it.
  async function publishSummary(job: SiteJob, summary: SiteSummary): Promise<SiteSummary | undefined> {
    const name = summaryName(job, run);
    if (!hasSummaries || (await store.create(name, `${jsonOf(summary)}\n`)) === "created") return undefined;
    const first = await published(job);
    if (first === undefined) throw new SitemapError("storage-failed", `${name} could not be written`);
    return first.attemptId === summary.attemptId ? undefined : first;
  }

  // Removes the files of earlier attempts, which were killed or are replaced. If this attempt has no files, only unfinished ones are removed,
  // because the website may be unreachable only today. Files of later attempts stay, because one may be running.
  async function deleteEarlier(
    job: SiteJob,
    { attemptId, files }: Pick<SiteSummary, "attemptId" | "files">,
  ): Promise<void> {
    const [, last = 1] = attemptId.split("-").map(Number);
    if (last === 1) return;
    if (hasSummaries) await store.delete(failureName(job, run));
    const hasFiles = Object.keys(files).length > 0;
    for (const kind of fileKinds) {
      const start = `${nameInFolder(kind, run, job)}-`;
      const earlier = (await store.list(start)).filter((name) => Number.parseInt(name.slice(start.length), 10) < last);
      for (const name of earlier) await (hasFiles ? store.delete(name) : store.deleteDraft(name));
    }
  }

  async function open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const nameOf = (kind: FileKind, extension: string) => fileName(kind, run, job, attemptId, extension);
    const names = {
      // For `changes`, the pages are only a temporary file.
      pages: format === "changes" ? nameOf("changes", "pages") : nameOf("pages", format),
      changes: nameOf("changes", "ndjson"),
      sitemaps: nameOf("sitemaps", "ndjson"),
      archive: nameOf("archives", "warc.gz"),
      findings: nameOf("findings", "json"),
    };
    const pages = format === "none" ? undefined : new DraftFile(store, names.pages);
    const { header, write } = format === "csv" ? csvWriter() : ndjsonWriter();
    pages?.write(header);
    const earlier = await previous?.(job);
    const archive = archives ? store.draft(names.archive) : undefined;
    const sitemaps = new SitemapRows();
    let findings: CheckResult | undefined;
    let isLate = false;
    const kept: Partial<Record<keyof typeof names, string>> = {};
    let isPublished = false;
    const discard = async () => {
      await earlier?.remove?.();
      // Other processes adopt the files of a published summary, so they must stay.
      if (isPublished) return;
      for (const name of Object.values(names)) await store.discard(name);
      for (const name of Object.values(kept)) await store.delete(name);
    };
    const publish = async (kind: keyof typeof names, publishing: Promise<unknown>) => {
      await publishing;
      kept[kind] = names[kind];
    };
    const publishLines = async (kind: keyof typeof names, lines: AsyncIterable<string> | Iterable<string>) => {
      const file = new DraftFile(store, names[kind]);
      for await (const line of lines) await file.write(line);
      await publish(kind, file.publish());
    };
    const keep = async (summary: SiteSummary): Promise<Partial<SiteSummary>> => {
      const isRead = summary.sitemaps > 0;
      if (isRead && pages !== undefined) {
        if (format === "changes") {
          const since = summary.previousError === undefined ? earlier?.file : undefined;
          await publishLines("changes", changedPages(since, await pages.finish()));
        } else await publish("pages", pages.publish());
        await publishLines("sitemaps", rowLines(sitemaps));
      }
      if (kept.pages === undefined) await store.discard(names.pages);
      if (archive !== undefined && existsSync(archive)) await publish("archive", store.publish(names.archive));
      if (findings !== undefined && isRead)
        await publish("findings", store.replace(names.findings, `${jsonOf(findings)}\n`));
      const added = {
        files: { ...kept },
        ...defined({ findings: findings?.rulesFailed, previousError: earlier?.error }),
        ...(isLate && summary.outcome === "complete" && ({ outcome: "incomplete", reasons: [lateCheck] } as const)),
      };
      // From here on, the summary may have been published, even if no response arrives.
      isPublished = hasSummaries;
      const first = await publishSummary(job, { ...summary, ...added });
      if (first !== undefined) {
        isPublished = false;
        await discard();
        return first;
      }
      await deleteEarlier(job, { attemptId, files: kept });
      await earlier?.remove?.();
      return added;
    };
    const tree = async (whole: SitemapTree, within: CheckOptions) => {
      const { checkTree } = await import("../check/check-tree.ts");
      findings = await checkTree(whole, within);
      isLate = !findings.complete && whole.complete;
    };
    return {
      options: { ...defined({ save: archive, previous: earlier?.file }), onEvent: (event) => sitemaps.see(event) },
      pages: (sitemap, batch) => pages?.write(write({ sitemap, pages: batch })),
      ...(check && { tree }),
      keep,
      discard,
    };
  }

  return { published, fail, open };
}

const lateCheck: SiteReason = { code: "limit-time", message: "The check did not finish in time", count: 1 };

function* rowLines(rows: SitemapRows): Generator<string, void> {
  for (const row of rows) yield `${jsonOf(row)}\n`;
}

/**
 * Yields the pages of a file that are new or changed since an earlier archive, as lines of JSON. A page is `unknown` if the earlier archive
 * does not have it, but is not complete.
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
