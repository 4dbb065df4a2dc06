// The files of a fleet: for each website its pages, its archive and its findings, in folders by the hash of its key, under names that
// contain the attempt: `pages/3f/example.org.3f9a2c1b5d7e8f90-1.ndjson`. They are whole before the result counts. In a bucket the summary
// that names them follows, under the name of the website: the first summary counts, and a later attempt adopts its result.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { CheckOptions } from "../../check/options.ts";
import type { CheckResult } from "../../check/result.ts";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import { keyHash, type SiteJob, type SiteSummary } from "../../fleet/site-job.ts";
import { DraftFile, type Store } from "../../fleet/store.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { changeNdjsonWriter } from "../../write/changes.ts";
import { csvWriter } from "../../write/csv.ts";
import { ndjsonWriter, type PageBatch } from "../../write/pages.ts";
import { jsonOf } from "../../write/printable.ts";
import type { FleetFormat } from "./flags.ts";

/** The archive of an earlier run: its path, or why there is none. */
export type EarlierArchive = { readonly file: string; remove?(): Promise<void> } | { readonly error: string };

export interface SiteFilesOptions {
  readonly store: Store;
  readonly format: FleetFormat;
  readonly archives: boolean;
  /** The archive of an earlier run; undefined if the website has none. */
  readonly previous?: ((job: SiteJob, attemptId: string) => Promise<EarlierArchive | undefined>) | undefined;
  /** When websites that were unreachable were last read in full, by their key. */
  readonly lastTried?: ReadonlyMap<string, string> | undefined;
  /** Checks a website; imported only if needed. */
  readonly check?: ((tree: SitemapTree, within: CheckOptions) => Promise<CheckResult>) | undefined;
  /** Part of the names of summaries in a bucket, because each run has its own. */
  readonly run?: string | undefined;
}

/** Writes the files of websites. */
export class SiteFiles implements SiteSink {
  readonly #options: SiteFilesOptions;

  constructor(options: SiteFilesOptions) {
    this.#options = options;
  }

  /** The published summary of a website, if there is one. */
  async published(job: SiteJob): Promise<SiteSummary | undefined> {
    const { store, run } = this.#options;
    const text = await store.bucket?.get(summaryName(job, run));
    if (text === undefined) return undefined;
    const summary = JSON.parse(text) as SiteSummary;
    // Whoever published it may have died before it could remove these.
    for (const name of Object.values(summary.files)) await store.deleteEarlier(name, summary.attemptId);
    return summary;
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const { store, format, archives, check } = this.#options;
    const nameOf = (kind: string, extension: string) =>
      `${kind}/${attemptId.slice(0, 2)}/${hostInNames(job)}.${attemptId}.${extension}`;
    const names = {
      // With the changes, it is gone when they are written.
      pages: format === "changes" ? nameOf("changes", "pages") : nameOf("pages", format),
      changes: nameOf("changes", "ndjson"),
      archive: nameOf("archives", "warc.gz"),
      findings: nameOf("findings", "json"),
    };
    const pages = format === "none" ? undefined : new DraftFile(store, names.pages);
    const encoder = await pagesEncoder(format, job.homepage);
    const earlier = await this.#options.previous?.(job, attemptId);
    // A file that a killed process left of this attempt.
    if (archives) await rm(store.draft(names.archive), { force: true });
    const previous = earlier !== undefined && "file" in earlier ? earlier.file : undefined;
    let findings: CheckResult | undefined;
    let kept: Partial<Record<keyof typeof names, string>> = {};
    const discard = async () => {
      await pages?.discard();
      if (archives) await rm(store.draft(names.archive), { force: true });
      for (const name of Object.values(kept)) await store.delete(name);
      await removeCopy(earlier);
    };
    const keep = async (summary: SiteSummary): Promise<Partial<SiteSummary>> => {
      const isRead = summary.sitemaps > 0 && summary.outcome !== "failed";
      const keepFile = async (kind: keyof typeof names, publish: () => Promise<void>) => {
        await publish();
        kept[kind] = names[kind];
      };
      if (isRead && pages !== undefined && format === "changes") {
        const changes = new DraftFile(store, names.changes);
        const file = await pages.finish(encoder.end());
        const since = summary.previousError === undefined ? previous : undefined;
        for await (const text of changedPages(since, file)) await changes.write(text);
        await keepFile("changes", () => changes.publish(""));
        await rm(file, { force: true });
      } else if (isRead && pages !== undefined) await keepFile("pages", () => pages.publish(encoder.end()));
      else await pages?.discard();
      // None is written of a website that is still dead.
      if (archives && existsSync(store.draft(names.archive)))
        await keepFile("archive", () => store.publish(names.archive));
      if (findings !== undefined && isRead) {
        const text = `${jsonOf(findings)}\n`;
        await keepFile("findings", () => new DraftFile(store, names.findings).publish(text));
      }
      const facts = {
        files: { ...kept },
        ...(findings === undefined ? {} : { findings: findings.counts }),
        ...(earlier !== undefined && "error" in earlier ? { previousError: earlier.error } : {}),
      };
      const first = await this.#publish(job, { ...summary, ...facts });
      if (first !== undefined) {
        await discard();
        return first;
      }
      // What is published in a bucket stays, whoever tells the queue.
      if (store.bucket !== undefined) kept = {};
      for (const name of Object.values(names)) await store.deleteEarlier(name, attemptId);
      await removeCopy(earlier);
      return facts;
    };
    return {
      options: {
        ...(archives ? { save: store.draft(names.archive) } : {}),
        ...(previous === undefined ? {} : { previous }),
      },
      lastTried: this.#options.lastTried?.get(job.key),
      pages: (sitemap, batch) => pages?.write(encoder.write({ sitemap, pages: batch })),
      ...(check === undefined
        ? {}
        : {
            async tree(tree: SitemapTree, within) {
              findings = await check(tree, within);
            },
          }),
      keep,
      discard,
    };
  }

  // Returns the summary of another attempt that was published first.
  async #publish(job: SiteJob, summary: SiteSummary): Promise<SiteSummary | undefined> {
    const { store, run } = this.#options;
    if (store.bucket === undefined) return undefined;
    if ((await store.put(summaryName(job, run), `${jsonOf(summary)}\n`)) === "created") return undefined;
    const first = await this.published(job);
    return first?.attemptId === summary.attemptId ? undefined : first;
  }
}

async function removeCopy(earlier: EarlierArchive | undefined): Promise<void> {
  if (earlier !== undefined && "file" in earlier) await earlier.remove?.();
}

/** `summaries/monday/3f/example.org.3f9a2c1b5d7e8f90.json`. */
export function summaryName(job: SiteJob, run: string | undefined): string {
  const hash = keyHash(job.key);
  return path.posix.join("summaries", run ?? "", hash.slice(0, 2), `${hostInNames(job)}.${hash}.json`);
}

/** Safe on every file system; a hash next to it tells similar names apart. */
export function hostInNames({ homepage }: SiteJob): string {
  return new URL(homepage).host.replaceAll(/[^a-z0-9.-]/gi, "_").slice(0, 80);
}

/** Turns the pages of a website into bytes or text. */
interface PagesEncoder {
  write(batch: PageBatch): string | Uint8Array;
  end(): string | Uint8Array;
}

async function pagesEncoder(format: FleetFormat, site: string): Promise<PagesEncoder> {
  if (format !== "parquet") {
    const writer = format === "csv" ? csvWriter() : ndjsonWriter();
    let { header } = writer;
    const withHeader = (text: string) => {
      const all = header + text;
      header = "";
      return all;
    };
    return { write: (batch) => withHeader(writer.write(batch)), end: () => withHeader("") };
  }
  const { ParquetTables } = await import("../../write/parquet.ts");
  let chunks: Uint8Array[] = [];
  // The buffer is reused afterwards.
  const keep = (bytes: Uint8Array) => void chunks.push(bytes.slice());
  const tables = new ParquetTables((file) => (file === "pages" ? keep : undefined));
  const afterwards = (work: () => void) => {
    work();
    const bytes = Buffer.concat(chunks);
    chunks = [];
    return bytes;
  };
  return {
    write: (batch) => afterwards(() => tables.addPages(batch, site)),
    end: () => afterwards(() => tables.finish()),
  };
}

/**
 * The pages of a file that are new or changed since an earlier archive, as lines of JSON. `unknown`: the earlier archive is not complete, and
 * does not have the page.
 */
async function* changedPages(archive: string | undefined, file: string): AsyncGenerator<string, void> {
  const { diffBatches, resolveDiffOptions } = await import("../../diff/diff-trees.ts");
  const { NdjsonSide } = await import("../../diff/ndjson-side.ts");
  const { write } = changeNdjsonWriter();
  const settings = resolveDiffOptions({ only: ["added", "changed", "unknown"] });
  const before = archive ?? new NdjsonSide(undefined);
  for await (const changes of diffBatches(before, new NdjsonSide(file), settings)) yield write(changes);
}
