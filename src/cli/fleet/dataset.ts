// `--dataset PLACE`: the rows of all websites of a run in a few Parquet files, `pages/run=NAME/part-….parquet` and likewise `sitemaps`,
// `problems` and `sites`. What an attempt reads is a file of its own below `_spool` before its result counts; at the end of the run, those that
// count are put together. The list of what goes into a part is written first: whoever comes after a death writes the same part.
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import type { SiteJob, SiteSummary } from "../../fleet/site-job.ts";
import { DraftFile, type Store } from "../../fleet/store.ts";
import type { PageBatch } from "../../write/pages.ts";
import { ParquetTables } from "../../write/parquet.ts";
import { jsonOf } from "../../write/printable.ts";
import { type SitemapRow, SitemapRows } from "../../write/sitemaps.ts";

/** A line of a file of an attempt. */
interface SpooledLine {
  readonly pages?: PageBatch;
  readonly sitemaps?: readonly SitemapRow[];
  readonly summary?: SiteSummary;
}

export class Dataset implements SiteSink {
  readonly #inner: SiteSink;
  readonly #store: Store;
  readonly #run: string;
  readonly #spool: string;

  /** Beside the outputs of another sink. */
  constructor(inner: SiteSink, store: Store, run: string) {
    this.#inner = inner;
    this.#store = store;
    this.#run = run;
    this.#spool = `_spool/run=${run}/`;
  }

  async published(job: SiteJob): Promise<SiteSummary | undefined> {
    return this.#inner.published?.(job);
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const output = await this.#inner.open(job, attemptId);
    const name = this.#spooled(attemptId);
    const file = new DraftFile(this.#store, name);
    const rows = new SitemapRows();
    const line = (value: SpooledLine) => `${jsonOf(value)}\n`;
    return {
      ...output,
      see: (event) => rows.see(event),
      pages: async (sitemap, pages) => {
        if (pages.length > 0) await file.write(line({ pages: { sitemap, pages } }));
        await output.pages?.(sitemap, pages);
      },
      keep: async (summary) => {
        await file.publish(line({ sitemaps: [...rows], summary }));
        const kept = await output.keep(summary);
        // Another attempt was published first, with its rows.
        if ((kept.attemptId ?? attemptId) !== attemptId) await this.#store.delete(name);
        return kept;
      },
      discard: async () => {
        await file.discard();
        await this.#store.delete(name);
        await output.discard();
      },
    };
  }

  /** Puts together what the attempts that count have left, also those of processes that died. Only one process may do this at a time. */
  async finish(results: AsyncIterable<SiteSummary>): Promise<void> {
    const names = await this.#store.list(this.#spool);
    if (names.length === 0) return;
    const counts = new Map<string, string>();
    // A website that was set aside has no rows, though its last attempt may have left some.
    for await (const { attemptId, outcome } of results)
      counts.set(hashIn(attemptId), outcome === "quarantined" ? "" : attemptId);
    const idOf = (name: string, extension: string) => name.slice(this.#spool.length, -extension.length);
    for (const name of names.filter((each) => each.endsWith(listExtension)))
      if (counts.has(hashIn(idOf(name, listExtension)))) await this.#resume(name);
    const ready: string[] = [];
    for (const name of await this.#store.list(this.#spool)) {
      const attemptId = idOf(name, spoolExtension);
      const counted = counts.get(hashIn(attemptId));
      if (counted === attemptId) ready.push(attemptId);
      // Without a result, it may be under way.
      else if (counted !== undefined) await this.#store.delete(name);
    }
    while (ready.length > 0) {
      const part = await this.#write(ready);
      ready.splice(0, part.length);
      const list = this.#spool + part[0] + listExtension;
      await this.#store.put(list, jsonOf(part));
      await this.#publish(part, list);
    }
    if (this.#store.bucket === undefined) await this.#removeEmpty();
  }

  #spooled(attemptId: string): string {
    return this.#spool + attemptId + spoolExtension;
  }

  #tablesOf(attemptId: string): string[] {
    return tableNames.map((table) => `${table}/run=${this.#run}/part-${attemptId}.parquet`);
  }

  // Where a file of an attempt is gone, the part was published.
  async #resume(list: string): Promise<void> {
    const part = JSON.parse((await this.#store.get(list)) ?? "[]") as string[];
    const left = await this.#store.list(this.#spool);
    const isWhole = part.every((attemptId) => left.includes(this.#spooled(attemptId)));
    if (isWhole) await this.#write(part, Number.POSITIVE_INFINITY);
    await this.#publish(part, list, isWhole);
  }

  // Returns those that went into the drafts of the part.
  async #write(attempts: readonly string[], mostBytes = mostBytesOfPart): Promise<string[]> {
    const files = this.#tablesOf(attempts[0] as string).map((name) => openSync(this.#store.draft(name), "w"));
    const sizes = files.map(() => 0);
    const tables = new ParquetTables((table) => {
      const at = tableNames.indexOf(table);
      return (bytes) => {
        writeSync(files[at] as number, bytes);
        sizes[at] = (sizes[at] ?? 0) + bytes.length;
      };
    }, this.#run);
    const part: string[] = [];
    try {
      for (const attemptId of attempts) {
        if (Math.max(...sizes) >= mostBytes) break;
        const file = await this.#store.fetch(this.#spooled(attemptId));
        if (file === undefined) throw new Error(`${this.#spooled(attemptId)} is missing`);
        await addRows(tables, file);
        await this.#store.discardCopy(file);
        part.push(attemptId);
      }
      tables.finish();
    } finally {
      for (const file of files) closeSync(file);
    }
    return part;
  }

  async #publish(part: readonly string[], list: string, isWritten = true): Promise<void> {
    if (isWritten) for (const name of this.#tablesOf(part[0] as string)) await this.#store.publish(name);
    for (const attemptId of part) await this.#store.delete(this.#spooled(attemptId));
    await this.#store.delete(list);
  }

  async #removeEmpty(): Promise<void> {
    const spool = path.dirname(this.#store.draft(`${this.#spool}x`));
    for (const folder of [spool, path.dirname(spool)])
      if ((await readdir(folder)).length === 0) await rm(folder, { recursive: true });
  }
}

async function addRows(tables: ParquetTables, file: string): Promise<void> {
  const linesOf = () => createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  // The last line has the summary, with the time and the name of the website.
  let last = "";
  for await (const line of linesOf()) last = line;
  const { summary, sitemaps = [] } = JSON.parse(last) as SpooledLine;
  if (summary === undefined) throw new Error(`${file} has no summary`);
  for await (const line of linesOf()) {
    const { pages } = JSON.parse(line) as SpooledLine;
    if (pages !== undefined && summary.outcome !== "failed") tables.addPages(pages, summary.site, summary.finishedAt);
  }
  for (const row of sitemaps) tables.addSitemap(row, summary.site, summary.finishedAt);
  tables.addSite(summary);
}

function hashIn(attemptId: string): string {
  return attemptId.split("-", 1)[0] ?? "";
}

const tableNames = ["pages", "sitemaps", "problems", "sites"] as const;
const spoolExtension = ".ndjson";
const listExtension = ".part.json";
const mostBytesOfPart = 128 * 2 ** 20;
