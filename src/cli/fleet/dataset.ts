// `--dataset PLACE`: the rows of all websites of a run in a few Parquet files, `pages/run=NAME/part-….parquet` and likewise `sitemaps`,
// `problems` and `sites`. What an attempt reads is a file of its own below `_spool` before its result counts; at the end of the run, those that
// count are put together. Their list is written first: whoever comes after a death writes the same parts.
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { SiteSink } from "../../fleet/fleet-options.ts";
import type { SiteSummary } from "../../fleet/site-job.ts";
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

export interface Dataset extends SiteSink {
  /** Puts together what the attempts that count have left, also those of processes that died. Only one process may do this at a time. */
  finish(results: AsyncIterable<SiteSummary>): Promise<void>;
  hasRows(): Promise<boolean>;
  /** Removes the rows of the run. Returns the number of files. */
  remove(): Promise<number>;
}

/** Beside the outputs of another sink. A table goes on in the next part once it has so many bytes. */
export function openDataset(inner: SiteSink, store: Store, run: string, mostBytes: number = 128 * 2 ** 20): Dataset {
  const folderOf = (name: string) => `${name}/run=${run}/`;
  const spoolName = (attemptId = "", extension = rows) => `${folderOf("_spool")}${attemptId}${extension}`;
  // The attempts that have left such a file.
  const spooled = async (extension: string) => {
    const start = folderOf("_spool");
    const names = (await store.list(start)).filter((name) => name.endsWith(extension));
    return names.map((name) => name.slice(start.length, -extension.length));
  };

  // If the rows of an attempt are gone, all parts were published.
  async function publish(attempts: readonly string[]): Promise<void> {
    const there = new Set(await spooled(rows));
    const rest = attempts.every((attemptId) => there.has(attemptId)) ? [...attempts] : [];
    while (rest.length > 0) rest.splice(0, await publishPart(rest));
    for (const attemptId of attempts) await store.delete(spoolName(attemptId));
    await store.delete(spoolName(attempts[0], list));
  }

  // Returns how many of the attempts went into the part.
  async function publishPart(attempts: readonly string[]): Promise<number> {
    const names = tableNames.map((table) => `${folderOf(table)}part-${attempts[0]}.parquet`);
    const files = names.map((name) => openSync(store.draft(name), "w"));
    const sizes = files.map(() => 0);
    const tables = new ParquetTables((table) => {
      const at = tableNames.indexOf(table);
      return (bytes) => {
        writeSync(files[at] as number, bytes);
        sizes[at] = (sizes[at] ?? 0) + bytes.length;
      };
    }, run);
    let count = 0;
    try {
      for (; count < attempts.length && Math.max(...sizes) < mostBytes; count += 1) {
        const name = spoolName(attempts[count]);
        const fetched = await store.fetch(name);
        if (fetched === undefined) throw new Error(`${name} is missing`);
        await addRows(tables, fetched.file);
        await fetched.remove();
      }
      tables.finish();
    } finally {
      for (const file of files) closeSync(file);
    }
    for (const name of names) await store.publish(name);
    return count;
  }

  return {
    published: async (job) => inner.published?.(job),
    async open(job, attemptId) {
      const output = await inner.open(job, attemptId);
      const name = spoolName(attemptId);
      const file = new DraftFile(store, name);
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
          if ((kept.attemptId ?? attemptId) !== attemptId) await store.delete(name);
          return kept;
        },
        discard: async () => {
          await store.delete(name);
          await output.discard();
        },
      };
    },
    async finish(results) {
      if ((await store.list(folderOf("_spool"))).length === 0) return;
      const counts = new Map<string, string>();
      // A website that was set aside has no rows, though its last attempt may have left some.
      for await (const { attemptId, outcome } of results)
        counts.set(hashIn(attemptId), outcome === "quarantined" ? "" : attemptId);
      for (const first of await spooled(list))
        if (counts.has(hashIn(first))) await publish(JSON.parse((await store.get(spoolName(first, list))) ?? "[]"));
      const ready: string[] = [];
      for (const attemptId of await spooled(rows)) {
        const counted = counts.get(hashIn(attemptId));
        if (counted === attemptId) ready.push(attemptId);
        // Without a result, it may be under way.
        else if (counted !== undefined) await store.delete(spoolName(attemptId));
      }
      if (ready.length > 0) {
        await store.put(spoolName(ready[0], list), jsonOf(ready));
        await publish(ready);
      }
      store.removeEmpty(folderOf("_spool"));
    },
    async hasRows() {
      return (await Promise.all(tableNames.map((table) => store.list(folderOf(table))))).flat().length > 0;
    },
    async remove() {
      let count = 0;
      for (const table of ["_spool", ...tableNames]) {
        const names = await store.list(folderOf(table));
        for (const name of names) await store.delete(name);
        store.removeEmpty(folderOf(table));
        count += names.length;
      }
      return count;
    },
  };
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
