// The outputs of a fleet: for each website a file of pages, its archive and its findings, in folders by the hash of its key, under names
// that contain the attempt: `pages/3f/example.org.3f9a2c1b5d7e8f90-1.ndjson`. In a folder they are whole before the result counts. In a
// bucket they are uploaded, and then the summary that names them, under the name of the website: the first summary counts, and a later
// attempt adopts its result and removes its own files.
import { open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { storageFailed } from "../../archive/file.ts";
import type { CheckOptions } from "../../check/options.ts";
import type { CheckResult } from "../../check/result.ts";
import { makeFolder } from "../../fleet/fleet-folder.ts";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import type { S3Bucket } from "../../fleet/s3-bucket.ts";
import { keyHash, type SiteJob, type SiteSummary } from "../../fleet/site-job.ts";
import type { SitemapPage } from "../../model/page.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { csvWriter } from "../../write/csv.ts";
import { ndjsonWriter } from "../../write/pages.ts";
import { jsonOf } from "../../write/printable.ts";
import type { FleetFormat } from "./flags.ts";

export interface SiteFilesOptions {
  /** Of the outputs; with a bucket, for temporary files. */
  readonly folder: string;
  readonly format: FleetFormat;
  readonly archives: boolean;
  /** The archives of an earlier run, by the key of their website. */
  readonly previous?: ReadonlyMap<string, string> | undefined;
  /** Checks a website; imported only if needed. */
  readonly check?: ((tree: SitemapTree, within: CheckOptions) => Promise<CheckResult>) | undefined;
  readonly bucket?: S3Bucket | undefined;
  /** Part of the names of summaries in a bucket, because each run has its own. */
  readonly run?: string | undefined;
}

/** Writes the files of websites. */
export class SiteFiles implements SiteSink {
  readonly #options: SiteFilesOptions;
  readonly #folders = new Set<string>();

  constructor(options: SiteFilesOptions) {
    this.#options = options;
  }

  /** The published summary of a website, if there is one. */
  async published(job: SiteJob): Promise<SiteSummary | undefined> {
    const text = await this.#options.bucket?.get(summaryName(job, this.#options.run));
    return text === undefined ? undefined : (JSON.parse(text) as SiteSummary);
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const { folder, format, archives, check, bucket } = this.#options;
    const nameOf = (kind: string, extension: string) =>
      `${kind}/${attemptId.slice(0, 2)}/${hostInNames(job)}.${attemptId}.${extension}`;
    const at = (name: string) => path.join(folder, name);
    const names = { pages: nameOf("pages", format), archive: nameOf("archives", "warc.gz") };
    const findingsName = nameOf("findings", "json");
    const encoder = format === "none" ? undefined : await pagesEncoder(format, job.homepage);
    const pages = encoder && new PartialFile(at(names.pages), this.#ready);
    if (archives) {
      await this.#ready(at(names.archive));
      // A file that a killed process left of this attempt.
      await rm(at(names.archive), { force: true });
    }
    const previous = this.#options.previous?.get(job.key);
    let findings: CheckResult | undefined;
    const kept: Record<string, string> = {};
    const discard = async () => {
      await pages?.discard();
      for (const name of [names.pages, names.archive, findingsName, `${findingsName}.partial`])
        await rm(at(name), { force: true });
      if (bucket !== undefined) for (const name of Object.values(kept)) await bucket.delete(name);
    };
    const keep = async (summary: SiteSummary): Promise<Partial<SiteSummary>> => {
      const isRead = summary.sitemaps > 0 && summary.outcome !== "failed";
      if (isRead && pages !== undefined && encoder !== undefined) {
        await pages.write(encoder.end(), true);
        await pages.keep();
        kept["pages"] = names.pages;
      } else await pages?.discard();
      if (archives) kept["archive"] = names.archive;
      if (findings !== undefined && isRead) {
        const file = new PartialFile(at(findingsName), this.#ready);
        await file.write(`${jsonOf(findings)}\n`, true);
        await file.keep();
        kept["findings"] = findingsName;
      }
      const facts = { files: { ...kept }, ...(findings === undefined ? {} : { findings: findings.counts }) };
      const first = await this.#publish(job, { ...summary, ...facts });
      if (first !== undefined) {
        await discard();
        return first;
      }
      // What is published stays, whoever tells the queue.
      if (bucket !== undefined) for (const kind of Object.keys(kept)) delete kept[kind];
      for (const name of [names.pages, names.archive, findingsName]) await this.#removeEarlier(name, attemptId);
      return facts;
    };
    return {
      options: {
        ...(archives ? { save: at(names.archive) } : {}),
        ...(previous === undefined ? {} : { previous }),
      },
      pages: (sitemap: string, batch: readonly SitemapPage[]) => encoder && pages?.write(encoder.write(sitemap, batch)),
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
    const { bucket, folder, run } = this.#options;
    if (bucket === undefined) return undefined;
    for (const name of Object.values(summary.files)) {
      await bucket.upload(name, path.join(folder, name));
      await rm(path.join(folder, name), { force: true });
    }
    const published = await bucket.put(summaryName(job, run), `${jsonOf(summary)}\n`, "application/json");
    const first = published === "exists" ? await this.published(job) : undefined;
    return first?.attemptId === summary.attemptId ? undefined : first;
  }

  // Files of earlier attempts: those that were killed, or whose result is replaced. A later one may be under way.
  async #removeEarlier(name: string, attemptId: string): Promise<void> {
    const { folder, bucket } = this.#options;
    const [hash = "", last = "1"] = attemptId.split("-");
    if (last === "1") return;
    const start = name.slice(0, name.indexOf(`.${hash}-`) + hash.length + 2);
    const parent = path.posix.dirname(name);
    const local = (await readdir(path.join(folder, parent)).catch(() => [])).map((each) => `${parent}/${each}`);
    const isEarlier = (each: string) =>
      each.startsWith(start) && Number.parseInt(each.slice(start.length), 10) < Number(last);
    for (const each of local.filter(isEarlier)) await rm(path.join(folder, each), { force: true });
    for (const each of (await bucket?.list(start)) ?? []) if (isEarlier(each)) await bucket?.delete(each);
  }

  readonly #ready = async (file: string): Promise<void> => {
    const folder = path.dirname(file);
    if (this.#folders.has(folder)) return;
    makeFolder(folder);
    this.#folders.add(folder);
  };
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

type Piece = string | Uint8Array;

/** Turns the pages of a website into bytes or text. */
interface PagesEncoder {
  write(sitemap: string, pages: readonly SitemapPage[]): Piece;
  end(): Piece;
}

async function pagesEncoder(format: Exclude<FleetFormat, "none">, site: string): Promise<PagesEncoder> {
  if (format === "parquet") {
    const { ParquetPages } = await import("../../write/parquet.ts");
    let chunks: Uint8Array[] = [];
    // The buffer is reused afterwards.
    const table = new ParquetPages((bytes) => chunks.push(bytes.slice()), site);
    const taken = () => {
      const bytes = Buffer.concat(chunks);
      chunks = [];
      return bytes;
    };
    return {
      write(sitemap, pages) {
        table.add({ sitemap, pages });
        return taken();
      },
      end() {
        table.finish();
        return taken();
      },
    };
  }
  const writer = format === "csv" ? csvWriter() : ndjsonWriter();
  let header = writer.header;
  const withHeader = (text: string) => {
    const all = header + text;
    header = "";
    return all;
  };
  return { write: (sitemap, pages) => withHeader(writer.write({ sitemap, pages })), end: () => withHeader("") };
}

/**
 * Written under a temporary name, and renamed at the end. Small ones are written at once: with thousands of websites at a time, open files
 * are scarce.
 */
export class PartialFile {
  readonly #path: string;
  readonly #ready: (file: string) => Promise<void>;
  #held: Piece[] = [];
  #size = 0;
  #handle: Awaited<ReturnType<typeof open>> | undefined;

  /** `ready` creates the folder of a file. */
  constructor(file: string, ready: (file: string) => Promise<void>) {
    this.#path = file;
    this.#ready = ready;
  }

  write(piece: Piece, now = false): Promise<void> | undefined {
    if (piece.length > 0) this.#held.push(piece);
    this.#size += piece.length;
    return this.#size < mostHeld && !now ? undefined : this.#flush();
  }

  async keep(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    await rename(`${this.#path}.partial`, this.#path);
  }

  async discard(): Promise<void> {
    // Most websites that fail have written nothing.
    if (this.#handle === undefined) return;
    await this.#handle.close();
    this.#handle = undefined;
    await rm(`${this.#path}.partial`, { force: true });
  }

  async #flush(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    this.#size = 0;
    if (this.#handle === undefined) {
      await this.#ready(this.#path);
      await rm(`${this.#path}.partial`, { force: true });
      this.#handle = await open(`${this.#path}.partial`, "wx");
    }
    const [first = ""] = held;
    const whole = typeof first === "string" ? held.join("") : Buffer.concat(held as Uint8Array[]);
    await this.#handle.writeFile(whole).catch((error: unknown) => {
      // The system does not say which file it was.
      throw storageFailed(`${this.#path} could not be written`, error);
    });
  }
}

const mostHeld = 64 * 1024;
