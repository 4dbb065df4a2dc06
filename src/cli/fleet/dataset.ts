// `--dataset PLACE`: the rows of all websites of a run in a few Parquet files, `pages/run=NAME/part-….parquet` and likewise `sitemaps`,
// `problems` and `sites`. What an attempt reads is a file of its own below `_spool` before its result counts; at the end of the run, those that
// count are put together. The list of what goes into a part is written first: whoever comes after a death writes the same part.
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { removeEmpty } from "../../archive/folder.ts";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import type { SiteJob, SiteSummary } from "../../fleet/site-job.ts";
import { DraftFile, type Store } from "../../fleet/store.ts";
import type { PageBatch } from "../../write/pages.ts";
import { ParquetTables } from "../../write/parquet.ts";
import { jsonOf } from "../../write/printable.ts";
import { type SitemapRow, SitemapRows } from "../../write/sitemaps.ts";

/** A line of a file of an attempt; the last one has the summary. */
interface SpooledLine {
  readonly pages?: PageBatch;
  readonly sitemaps?: readonly SitemapRow[];
  readonly summary?: SiteSummary;
}

export class Dataset implements SiteSink {
  readonly #inner: SiteSink;
  readonly #store: Store;
  readonly #run: string;
  readonly #mostBytes: number;

  /** Beside the outputs of another sink. A table goes on in the next part once it has so many bytes. */
  constructor(inner: SiteSink, store: Store, run: string, mostBytes: number = 128 * 2 ** 20) {
    this.#inner = inner;
    this.#store = store;
    this.#run = run;
    this.#mostBytes = mostBytes;
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
    if ((await this.#store.list(this.#spooled())).length === 0) return;
    const counts = new Map<string, string>();
    // A website that was set aside has no rows, though its last attempt may have left some.
    for await (const { attemptId, outcome } of results)
      counts.set(hashIn(attemptId), outcome === "quarantined" ? "" : attemptId);
    for (const first of await this.#ids(listed)) if (counts.has(hashIn(first))) await this.#resume(first);
    const ready: string[] = [];
    for (const attemptId of await this.#ids(spooled)) {
      const counted = counts.get(hashIn(attemptId));
      if (counted === attemptId) ready.push(attemptId);
      // Without a result, it may be under way.
      else if (counted !== undefined) await this.#store.delete(this.#spooled(attemptId));
    }
    while (ready.length > 0) {
      const part = await this.#write(ready, this.#mostBytes);
      ready.splice(0, part.length);
      await this.#store.put(this.#spooled(part[0], listed), jsonOf(part));
      await this.#publish(part);
    }
    if (this.#store.bucket === undefined) this.#removeEmpty(this.#spooled());
  }

  /** Removes the rows of the run. Returns the number of files. */
  async remove(): Promise<number> {
    let count = 0;
    for (const folder of [this.#spooled(), ...tableNames.map((table) => this.#folder(table))]) {
      const names = await this.#store.list(folder);
      for (const name of names) await this.#store.delete(name);
      if (this.#store.bucket === undefined) this.#removeEmpty(folder);
      count += names.length;
    }
    return count;
  }

  // The name of a file of an attempt.
  #spooled(attemptId = "", extension: string = attemptId && spooled): string {
    return `${this.#folder("_spool")}${attemptId}${extension}`;
  }

  async #ids(extension: string): Promise<string[]> {
    const start = this.#spooled();
    const names = (await this.#store.list(start)).filter((name) => name.endsWith(extension));
    return names.map((name) => name.slice(start.length, -extension.length));
  }

  // If a file of an attempt is gone, the part was published.
  async #resume(first: string): Promise<void> {
    const part = JSON.parse((await this.#store.get(this.#spooled(first, listed))) ?? "[]") as string[];
    const left = new Set(await this.#ids(spooled));
    const isWhole = part.every((attemptId) => left.has(attemptId));
    if (isWhole) await this.#write(part, Number.POSITIVE_INFINITY);
    await this.#publish(part, isWhole);
  }

  // Returns those that went into the drafts of the part.
  async #write(attempts: readonly string[], mostBytes: number): Promise<string[]> {
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

  async #publish(part: readonly string[], isWritten = true): Promise<void> {
    const [first = ""] = part;
    if (isWritten) for (const name of this.#tablesOf(first)) await this.#store.publish(name);
    for (const attemptId of part) await this.#store.delete(this.#spooled(attemptId));
    await this.#store.delete(this.#spooled(first, listed));
  }

  #tablesOf(attemptId: string): string[] {
    return tableNames.map((table) => `${this.#folder(table)}part-${attemptId}.parquet`);
  }

  #folder(name: string): string {
    return `${name}/run=${this.#run}/`;
  }

  #removeEmpty(folder: string): void {
    const place = path.dirname(this.#store.draft(`${folder}x`));
    removeEmpty([place, path.dirname(place)]);
  }
}

async function addRows(tables: ParquetTables, file: string): Promise<void> {
  const linesOf = () => createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let last = "";
  for await (const line of linesOf()) last = line;
  const { summary, sitemaps = [] } = JSON.parse(last) as SpooledLine;
  if (summary === undefined) throw new Error(`${file} has no summary`);
  const { site, finishedAt, outcome } = summary;
  for await (const line of linesOf()) {
    const { pages } = JSON.parse(line) as SpooledLine;
    if (pages !== undefined && outcome !== "failed") tables.addPages(pages, site, finishedAt);
  }
  for (const row of sitemaps) tables.addSitemap(row, site, finishedAt);
  tables.addSite(summary);
}

function hashIn(attemptId: string): string {
  return attemptId.split("-", 1)[0] ?? "";
}

const tableNames = ["pages", "sitemaps", "problems", "sites"] as const;
// Of the rows of an attempt, and of the list of a part.
const spooled = ".ndjson";
const listed = ".part.json";
