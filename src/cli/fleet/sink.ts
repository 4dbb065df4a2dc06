// The outputs of a fleet: for each website a file of pages, its archive and its findings, in folders by the hash of its
// key. Each attempt writes under names of its own; its files are renamed before the journal says that the website is
// done.

import { readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { CheckOptions } from "../../check/options.ts";
import type { CheckResult } from "../../check/result.ts";
import { makeFolder } from "../../fleet/fleet-folder.ts";
import type { SiteOutput, SiteSink } from "../../fleet/fleet-options.ts";
import type { SiteJob, SiteSummary } from "../../fleet/site-job.ts";
import type { SitemapEvent } from "../../model/event.ts";
import type { SitemapPage } from "../../model/page.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import { jsonOf } from "../../write/printable.ts";
import type { FleetFormat } from "./formats.ts";
import { PagesFile, pagesEncoder } from "./pages.ts";

export interface FolderSinkOptions {
  readonly folder: string;
  readonly format: FleetFormat;
  readonly archives: boolean;
  /** The archives of an earlier run, by the key of their website. */
  readonly previous?: ReadonlyMap<string, string> | undefined;
  /** Checks a website; imported only if needed. */
  readonly check?: ((tree: SitemapTree, within: CheckOptions) => Promise<CheckResult>) | undefined;
}

export class FolderSink implements SiteSink {
  readonly #options: FolderSinkOptions;
  readonly #folders = new Set<string>();

  constructor(options: FolderSinkOptions) {
    this.#options = options;
  }

  async open(job: SiteJob, attemptId: string): Promise<SiteOutput> {
    const { folder, format, archives, check } = this.#options;
    const names = (kind: string, extension: string) => new OutputNames(folder, kind, job, attemptId, extension);
    const pagesNames = format === "none" ? undefined : names("pages", format);
    const pages =
      pagesNames === undefined || format === "none"
        ? undefined
        : new PagesFile(pagesNames.path, await pagesEncoder(format, job.homepage), this.#ready);
    const archive = archives ? names("archives", "warc.gz") : undefined;
    if (archive !== undefined) {
      await this.#ready(archive.path);
      // Files that a killed process left of this attempt.
      await rm(archive.path, { force: true });
    }
    const previous = this.#options.previous?.get(job.key);
    let findings: CheckResult | undefined;
    const findingsNames = names("findings", "json");
    return {
      options: {
        ...(archive === undefined ? {} : { save: archive.path }),
        ...(previous === undefined ? {} : { previous }),
      },
      pages: (sitemap: string, batch: readonly SitemapPage[]) => pages?.write(sitemap, batch),
      sitemap: (_: SitemapEvent) => undefined,
      ...(check === undefined
        ? {}
        : {
            async tree(tree: SitemapTree, within) {
              findings = await check(tree, within);
            },
          }),
      keep: async (summary: SiteSummary) => {
        const files: { pages?: string; archive?: string; findings?: string } = {};
        const isRead = summary.sitemaps > 0 && summary.outcome !== "failed";
        if (pages !== undefined && pagesNames !== undefined && isRead) {
          await pages.keep();
          files.pages = pagesNames.relative;
        } else await pages?.discard();
        if (archive !== undefined) files.archive = archive.relative;
        if (findings !== undefined && isRead) {
          await this.#ready(findingsNames.path);
          await rm(`${findingsNames.path}.partial`, { force: true });
          await writeFile(`${findingsNames.path}.partial`, `${jsonOf(findings)}\n`, { flag: "wx" });
          await rename(`${findingsNames.path}.partial`, findingsNames.path);
          files.findings = findingsNames.relative;
        }
        for (const each of [pagesNames, archive, findingsNames]) await each?.removeEarlier();
        return { files, ...(findings === undefined ? {} : { findings: findings.counts }) };
      },
      discard: async () => {
        await pages?.discard();
        // If they are already in place, another attempt's result counts.
        const whole = [pagesNames?.path, archive?.path, findingsNames.path, `${findingsNames.path}.partial`];
        for (const file of whole) if (file !== undefined) await rm(file, { force: true });
      },
    };
  }

  readonly #ready = async (file: string): Promise<void> => {
    const folder = path.dirname(file);
    if (this.#folders.has(folder)) return;
    makeFolder(folder);
    this.#folders.add(folder);
  };
}

/** Safe on every file system; a hash next to it tells similar names apart. */
export function hostInNames({ homepage }: SiteJob): string {
  return new URL(homepage).host.replaceAll(/[^a-z0-9.-]/gi, "_").slice(0, 80);
}

/** `pages/3f/example.org.3f9a2c1b5d7e8f90-1.ndjson`. */
class OutputNames {
  readonly #folder: string;
  readonly #name: (attemptId: string) => string;
  readonly #attemptId: string;

  constructor(folder: string, kind: string, job: SiteJob, attemptId: string, extension: string) {
    const host = hostInNames(job);
    this.#folder = folder;
    this.#attemptId = attemptId;
    this.#name = (id) => path.posix.join(kind, attemptId.slice(0, 2), `${host}.${id}.${extension}`);
  }

  get relative(): string {
    return this.#name(this.#attemptId);
  }

  get path(): string {
    return path.join(this.#folder, this.relative);
  }

  /** Removes the files of earlier attempts: those that failed, or whose result is replaced. A later one may be under way. */
  async removeEarlier(): Promise<void> {
    const [hash = "", last = "1"] = this.#attemptId.split("-");
    if (last === "1") return;
    const folder = path.dirname(this.path);
    const [start = ""] = path.basename(this.path).split(`.${hash}-`, 1);
    const beforeNumber = `${start}.${hash}-`;
    for (const name of await readdir(folder).catch(() => [])) {
      const isEarlier =
        name.startsWith(beforeNumber) && Number.parseInt(name.slice(beforeNumber.length), 10) < Number(last);
      if (isEarlier) await rm(path.join(folder, name), { force: true });
    }
  }
}
