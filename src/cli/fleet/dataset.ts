// `--dataset PLACE`: the rows of all websites of a run in a few Parquet files, `pages/run=NAME/part-….parquet` and likewise `sitemaps`,
// `problems` and `sites`. What an attempt reads is a file of its own below `_spool` before its result counts; at the end of the run, those that
// count are put together. Their list is written first: whoever comes after a death writes the same parts.
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
    const name = this.#spoolName(attemptId, rows);
    const file = new DraftFile(this.#store, name);
    const sitemaps = new SitemapRows();
    const line = (value: SpooledLine) => `${jsonOf(value)}\n`;
    return {
      ...output,
      see: (event) => sitemaps.see(event),
      pages: async (sitemap, pages) => {
        if (pages.length > 0) await file.write(line({ pages: { sitemap, pages } }));
        await output.pages?.(sitemap, pages);
      },
      keep: async (summary) => {
        await file.publish(line({ sitemaps: [...sitemaps], summary }));
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
    if ((await this.#store.list(this.#folder("_spool"))).length === 0) return;
    const counts = new Map<string, string>();
    // A website that was set aside has no rows, though its last attempt may have left some.
    for await (const { attemptId, outcome } of results)
      counts.set(hashIn(attemptId), outcome === "quarantined" ? "" : attemptId);
    for (const first of await this.#spooled(list))
      if (counts.has(hashIn(first)))
        await this.#publish(JSON.parse((await this.#store.get(this.#spoolName(first, list))) ?? "[]"));
    const ready: string[] = [];
    for (const attemptId of await this.#spooled(rows)) {
      const counted = counts.get(hashIn(attemptId));
      if (counted === attemptId) ready.push(attemptId);
      // Without a result, it may be under way.
      else if (counted !== undefined) await this.#store.delete(this.#spoolName(attemptId, rows));
    }
    if (ready.length > 0) {
      await this.#store.put(this.#spoolName(ready[0], list), jsonOf(ready));
      await this.#publish(ready);
    }
    this.#removeEmpty("_spool");
  }

  async hasRows(): Promise<boolean> {
    for (const table of tableNames) if ((await this.#store.list(this.#folder(table))).length > 0) return true;
    return false;
  }

  /** Removes the rows of the run. Returns the number of files. */
  async remove(): Promise<number> {
    let count = 0;
    for (const table of ["_spool", ...tableNames]) {
      const names = await this.#store.list(this.#folder(table));
      for (const name of names) await this.#store.delete(name);
      this.#removeEmpty(table);
      count += names.length;
    }
    return count;
  }

  // If the rows of an attempt are gone, all parts were published.
  async #publish(attempts: readonly string[]): Promise<void> {
    const spooled = new Set(await this.#spooled(rows));
    const rest = attempts.every((attemptId) => spooled.has(attemptId)) ? [...attempts] : [];
    while (rest.length > 0) rest.splice(0, await this.#publishPart(rest));
    for (const attemptId of attempts) await this.#store.delete(this.#spoolName(attemptId, rows));
    await this.#store.delete(this.#spoolName(attempts[0], list));
  }

  // Returns how many of the attempts went into the part.
  async #publishPart(attempts: readonly string[]): Promise<number> {
    const names = tableNames.map((table) => `${this.#folder(table)}part-${attempts[0]}.parquet`);
    const files = names.map((name) => openSync(this.#store.draft(name), "w"));
    const sizes = files.map(() => 0);
    const tables = new ParquetTables((table) => {
      const at = tableNames.indexOf(table);
      return (bytes) => {
        writeSync(files[at] as number, bytes);
        sizes[at] = (sizes[at] ?? 0) + bytes.length;
      };
    }, this.#run);
    let count = 0;
    try {
      for (; count < attempts.length && Math.max(...sizes) < this.#mostBytes; count += 1) {
        const name = this.#spoolName(attempts[count], rows);
        const file = await this.#store.fetch(name);
        if (file === undefined) throw new Error(`${name} is missing`);
        await addRows(tables, file);
        await this.#store.discardCopy(file);
      }
      tables.finish();
    } finally {
      for (const file of files) closeSync(file);
    }
    for (const name of names) await this.#store.publish(name);
    return count;
  }

  #folder(name: string): string {
    return `${name}/run=${this.#run}/`;
  }

  #spoolName(attemptId: string | undefined, extension: string): string {
    return `${this.#folder("_spool")}${attemptId}${extension}`;
  }

  // The attempts that have left such a file.
  async #spooled(extension: string): Promise<string[]> {
    const start = this.#folder("_spool");
    const names = (await this.#store.list(start)).filter((name) => name.endsWith(extension));
    return names.map((name) => name.slice(start.length, -extension.length));
  }

  #removeEmpty(name: string): void {
    if (this.#store.bucket !== undefined) return;
    const folder = path.dirname(this.#store.draft(`${this.#folder(name)}x`));
    removeEmpty([folder, path.dirname(folder)]);
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
// The rows of an attempt, and the list of those that are being put together, by the first of them.
const rows = ".ndjson";
const list = ".list.json";
