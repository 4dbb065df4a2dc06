// `fleet dataset`: the results of a run as a few Parquet files, `pages/run=NAME/part-0001.parquet` and likewise `sitemaps`, `problems`,
// `changes` and `sites`, made from its summaries and output files. Running it again replaces the earlier files of the run.
import { closeSync, openSync, writeSync } from "node:fs";
import { isPageLine } from "../diff/ndjson-side.ts";
import type { TreeChange } from "../model/change.ts";
import { isJsonObject } from "../model/json.ts";
import { invalid } from "../model/option-checks.ts";
import { ParquetTables } from "../write/parquet.ts";
import type { SitemapRow } from "../write/sitemaps.ts";
import { expectRunName } from "./bull-queue.ts";
import { linesIn } from "./lines.ts";
import type { StoredRun } from "./results.ts";
import { preferenceNames, type SiteSummary } from "./site-job.ts";
import type { Store } from "./store.ts";

/** The size of a dataset. `damaged` lists the websites whose files are missing or cannot be read. */
export interface DatasetTotals {
  readonly sites: number;
  readonly pages: number;
  readonly damaged: readonly string[];
}

/**
 * Writes a dataset. Once a table has `mostBytes`, all tables continue in the next part. Throws a `SitemapError`: `invalid-option` if pages
 * are not in NDJSON, `folder-in-use` if another process writes the same run.
 */
export async function writeDataset(
  from: StoredRun,
  to: Store,
  mostBytes: number = 128 * 2 ** 20,
): Promise<DatasetTotals> {
  expectRunName(from.run);
  const lock = to.lock(`lock.${from.run}`);
  try {
    return await writeTables(from, to, mostBytes);
  } finally {
    lock?.release();
  }
}

async function writeTables(from: StoredRun, to: Store, mostBytes: number): Promise<DatasetTotals> {
  const { run } = from;
  const damaged: string[] = [];
  const names: string[] = [];
  let [sites, pages] = [0, 0];
  let part: Part | undefined;
  for await (const summary of from.results) {
    const { site, files } = summary;
    const format = files["pages"]?.split(".").at(-1);
    if (format !== undefined && format !== "ndjson")
      throw invalid(`The pages of ${site} are in ${format}: a dataset needs a run with -f ndjson`);
    part ??= new Part(to, run, Math.floor(names.length / tableNames.length) + 1);
    const added = await addSite(part.tables, from.store, summary);
    part.tables.addSite(summary, preferenceNames(summary));
    if (!added.isWhole) damaged.push(site);
    sites += 1;
    pages += added.pages;
    if (part.size >= mostBytes) {
      names.push(...part.finish());
      part = undefined;
    }
  }
  part ??= names.length === 0 ? new Part(to, run, 1) : undefined;
  names.push(...(part?.finish() ?? []));
  // The new files replace earlier ones only after all of them are written. `sites` is deleted first and appears last: if this process is
  // killed in between, the websites in `sites` still have all their rows, once.
  await deleteParts(to, "sites", run, names.map(draftName));
  for (const table of tableNames) {
    const own = names.filter((name) => name.startsWith(`${table}/`));
    for (const name of own) await to.publish(name, to.draft(draftName(name)));
    await deleteParts(to, table, run, own);
  }
  return { sites, pages, damaged };
}

const tableNames = ["pages", "sitemaps", "problems", "changes", "sites"] as const;

// Other programs read `*.parquet`, so the name of an unfinished file must not end like that.
function draftName(name: string): string {
  return `${name}.new`;
}

// Deletes the files of an earlier dataset, and those that a killed process did not finish.
async function deleteParts(store: Store, table: string, run: string, except: readonly string[]): Promise<void> {
  for (const name of await store.list(`${table}/run=${run}/`))
    if (/\/part-\d+\.parquet(\.new)?$/.test(name) && !except.includes(name)) await store.delete(name);
}

class Part {
  readonly tables: ParquetTables;
  readonly #names: readonly string[];
  readonly #files: readonly number[];
  readonly #sizes: number[];

  constructor(store: Store, run: string, number: number) {
    this.#names = tableNames.map((table) => `${table}/run=${run}/part-${String(number).padStart(4, "0")}.parquet`);
    this.#files = this.#names.map((name) => openSync(store.draft(draftName(name)), "w"));
    this.#sizes = this.#files.map(() => 0);
    this.tables = new ParquetTables((table) => {
      const at = tableNames.indexOf(table);
      return (bytes) => {
        // A nearly full disk may accept a part of the data, and reports an error only at the next attempt.
        for (let done = 0; done < bytes.length; ) done += writeSync(this.#files[at] as number, bytes, done);
        this.#sizes[at] = (this.#sizes[at] ?? 0) + bytes.length;
      };
    }, run);
  }

  /** The size of the largest table. */
  get size(): number {
    return Math.max(...this.#sizes);
  }

  /** Ends the tables. Returns the names of their files, which are still drafts. */
  finish(): readonly string[] {
    this.tables.finish();
    for (const file of this.#files) closeSync(file);
    return this.#names;
  }
}

// Adds those rows of a website that can be read, and counts its pages. `isWhole` means that nothing is missing or damaged.
async function addSite(
  tables: ParquetTables,
  store: Store,
  { site, finishedAt, files, ...expected }: SiteSummary,
): Promise<{ readonly pages: number; readonly isWhole: boolean }> {
  const counts = { pages: 0, sitemaps: 0, invalid: 0 };
  const readers: Record<string, (value: Record<string, unknown>) => boolean> = {
    pages: (value) => {
      const { sitemap, ...page } = value;
      if (!isPageLine(value)) return false;
      tables.addPages({ sitemap: sitemap as string, pages: [page as never] }, site, finishedAt);
      counts.pages += 1;
      return true;
    },
    sitemaps: (value) => {
      if (!isSitemapRow(value) || !tables.addSitemap(value, site, finishedAt)) return false;
      const { row, problems } = value;
      // One invalid sitemap may stand for many that were not fetched.
      if (row.kind === "invalid") counts.invalid += problems[0]?.count ?? 1;
      else if (row.kind === "pages" || row.format === "xml") counts.sitemaps += 1;
      return true;
    },
    changes: (value) => {
      const change = value as unknown as TreeChange;
      const isChange =
        isJsonObject(value["page"]) && typeof value["page"]["url"] === "string" && change.kind !== "sitemap";
      return isChange && tables.addChange(change, site, finishedAt);
    },
  };
  let isWhole = true;
  for (const [kind, read] of Object.entries(readers)) {
    const name = files[kind];
    if (name === undefined) continue;
    const fetched = await store.fetch(name);
    if (fetched === undefined) isWhole = false;
    else {
      for await (const { text } of linesIn(fetched.file)) isWhole = readLine(text, read) && isWhole;
      await fetched.remove();
    }
  }
  // Compares counts, because a file that was cut off between two lines has only valid lines.
  const { pages, sitemaps, invalid } = counts;
  const hasPages = files["pages"] === undefined || pages === expected.pages;
  const hasSitemaps =
    files["sitemaps"] === undefined || (sitemaps === expected.sitemaps && invalid === expected.invalid);
  return { pages, isWhole: isWhole && hasPages && hasSitemaps };
}

function isSitemapRow(value: Record<string, unknown>): value is Record<string, unknown> & SitemapRow {
  const { row, problems } = value;
  return isJsonObject(row) && Array.isArray(problems) && problems.every(isJsonObject);
}

function readLine(line: string, read: (value: Record<string, unknown>) => boolean): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && read(value);
  } catch {
    return false;
  }
}
