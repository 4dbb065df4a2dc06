// `--dataset DIR`: the rows of all websites of a run in a few Parquet files, `pages/run=NAME/part-….parquet` and likewise `sitemaps`, `problems`
// and `sites`. What an attempt reads is kept in a file of its own below `_spool` until its result counts; such files are then put together.
// Whoever does that moves them into a folder first, which names the part: if it dies, the next one writes the same part from that folder.
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { ownerOf } from "../../archive/lock.ts";
import { makeFolder, takeFolder } from "../../fleet/fleet-folder.ts";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import { lockName } from "../../fleet/journal-file.ts";
import type { SiteJob, SiteSummary } from "../../fleet/site-job.ts";
import type { SitemapPage } from "../../model/page.ts";
import { type ParquetFile, ParquetTables } from "../../write/parquet.ts";
import { jsonOf } from "../../write/printable.ts";
import { type SitemapRow, SitemapRows } from "../../write/sitemaps.ts";
import { PartialFile } from "./sink.ts";

/** A line of a file of an attempt. */
interface SpooledLine {
  readonly pages?: { readonly sitemap: string; readonly pages: readonly SitemapPage[] };
  readonly sitemaps?: readonly SitemapRow[];
  readonly summary?: SiteSummary;
}

export class Dataset implements SiteSink {
  readonly #inner: SiteSink;
  readonly #folder: string;
  readonly #run: string;
  readonly #spool: string;
  #spooled = 0;
  #writing: Promise<void> = Promise.resolve();

  /** Beside the outputs of another sink. */
  constructor(inner: SiteSink, folder: string, run: string) {
    this.#inner = inner;
    this.#folder = folder;
    this.#run = run;
    this.#spool = path.join(folder, "_spool", `run=${run}`);
  }

  async published(job: SiteJob): Promise<SiteSummary | undefined> {
    return this.#inner.published?.(job);
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const output = await this.#inner.open(job, attemptId);
    const file = new PartialFile(path.join(this.#spool, `${attemptId}.ndjson`), async () => {
      makeFolder(this.#spool);
    });
    const rows = new SitemapRows();
    let size = 0;
    const line = (value: SpooledLine, isLast = false) => {
      const text = `${jsonOf(value)}\n`;
      size += text.length;
      return file.write(text, isLast);
    };
    return {
      ...output,
      see: (event) => rows.see(event),
      async pages(sitemap, pages) {
        if (pages.length > 0) await line({ pages: { sitemap, pages } });
        await output.pages?.(sitemap, pages);
      },
      keep: async (summary) => {
        const kept = await output.keep(summary);
        const whole = { ...summary, ...kept };
        // Another attempt was published first, with its rows.
        if (whole.attemptId !== attemptId) await file.discard();
        else await line({ sitemaps: [...rows], summary: whole }, true);
        return kept;
      },
      accepted: async () => {
        await output.accepted?.();
        await file.keep().catch(() => undefined);
        this.#spooled += size;
        if (this.#spooled < mostSpooled) return;
        this.#spooled = 0;
        this.#writing = this.#writing.then(() => this.#putTogether());
        await this.#writing;
      },
      discard: async () => {
        await file.discard();
        await output.discard();
      },
    };
  }

  /** Puts together what is left, also by processes that died: `results` tells which attempts count. */
  async finish(results: AsyncIterable<SiteSummary>): Promise<void> {
    await this.#writing;
    const names = await readdir(this.#spool).catch(() => []);
    const open = names.filter((name) => name.endsWith(partial));
    if (open.length > 0) {
      const counts = new Map<string, string>();
      for await (const { attemptId } of results) counts.set(hashIn(attemptId), attemptId);
      for (const name of open) {
        const attemptId = name.slice(0, -".ndjson".length - partial.length);
        const counted = counts.get(hashIn(attemptId));
        const file = path.join(this.#spool, name);
        // Without a result, it may be under way.
        if (counted === attemptId) await rename(file, file.slice(0, -partial.length)).catch(() => undefined);
        else if (counted !== undefined) await rm(file, { force: true });
      }
    }
    for (const name of names.filter((each) => each.startsWith("part-"))) {
      const folder = path.join(this.#spool, name);
      if (ownerOf(path.join(folder, lockName)) === undefined) await this.#write(folder, []);
    }
    await this.#putTogether();
    for (const folder of [this.#spool, path.dirname(this.#spool)]) await removeEmpty(folder);
  }

  async #putTogether(): Promise<void> {
    const names = await readdir(this.#spool).catch(() => []);
    let ready = names.filter((name) => name.endsWith(".ndjson"));
    while (ready.length > 0) {
      const id = `${Date.now().toString(36)}-${process.pid}-${Math.random().toString(36).slice(2, 6)}`;
      const folder = path.join(this.#spool, `part-${id}`);
      await mkdir(folder);
      ready = await this.#write(folder, ready);
    }
  }

  // Moves files into the folder until the part is large, and returns those that are left. What is in the folder belongs to the part.
  async #write(folder: string, ready: readonly string[]): Promise<string[]> {
    const lock = takeFolder(path.join(folder, lockName));
    const sizes = new Map<ParquetFile, number>(tableNames.map((name) => [name, 0]));
    const files = new Map(tableNames.map((name) => [name, openSync(path.join(folder, `${name}.parquet`), "w")]));
    const tables = new ParquetTables(
      (name) => (bytes) => {
        writeSync(files.get(name) as number, bytes);
        sizes.set(name, (sizes.get(name) ?? 0) + bytes.length);
      },
      this.#run,
    );
    let isEmpty = true;
    const add = async (name: string) => {
      isEmpty = false;
      await addRows(tables, path.join(folder, name));
    };
    const left = [...ready];
    try {
      for (const name of await readdir(folder)) if (name.endsWith(".ndjson")) await add(name);
      while (left.length > 0 && Math.max(...sizes.values()) < mostBytes) {
        const name = left.shift() as string;
        const isOurs = await rename(path.join(this.#spool, name), path.join(folder, name)).then(
          () => true,
          () => false,
        );
        // Otherwise another process has it.
        if (isOurs) await add(name);
      }
      tables.finish();
    } finally {
      for (const file of files.values()) closeSync(file);
    }
    for (const name of isEmpty ? [] : tableNames) {
      const place = path.join(this.#folder, name, `run=${this.#run}`);
      makeFolder(place);
      await rename(path.join(folder, `${name}.parquet`), path.join(place, `${path.basename(folder)}.parquet`));
    }
    lock.release();
    await rm(folder, { recursive: true, force: true });
    return left;
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

async function removeEmpty(folder: string): Promise<void> {
  const isEmpty = (await readdir(folder).catch(() => ["missing"])).length === 0;
  if (isEmpty) await rm(folder, { recursive: true, force: true });
}

function hashIn(attemptId: string): string {
  return attemptId.split("-", 1)[0] ?? "";
}

const tableNames = ["pages", "sitemaps", "problems", "sites"] as const;
const partial = ".partial";
// In bytes: of a file of the dataset, and of what waits to be put together.
const mostBytes = 128 * 2 ** 20;
const mostSpooled = 512 * 2 ** 20;
