// `sitegrove ls`: checks what was typed, then lets the listing run. What does the work is loaded once everything is right: a
// mistyped line is answered at once.
import { existsSync, rmSync } from "node:fs";
import { resolveOptions } from "../options.ts";
import { type CrawlFlags, crawlOptions, givenFlags } from "./crawl-flags.ts";
import { UsageError } from "./exit-codes.ts";
import { type FilterFlags, Filters } from "./filters.ts";
import { type Format, isSitemapFormat } from "./formats.ts";
import { type CsvFlags, checkCsvFlags } from "./page-writer.ts";
import { Run, type RunFlags } from "./run.ts";
import { Summary } from "./summary.ts";
import { chooseTarget, type Target } from "./target.ts";

export interface LsFlags extends CrawlFlags, CsvFlags, FilterFlags, RunFlags {
  readonly format: Format;
  readonly stripUrl?: true | undefined;
  readonly summary?: true | undefined;
  readonly trailer?: true | undefined;
  readonly sitemap?: readonly string[] | undefined;
  readonly save?: string | undefined;
  readonly insecure?: true | undefined;
  readonly keepPath?: true | undefined;
}

/** Returns the exit code. */
export async function ls(names: readonly string[], flags: LsFlags): Promise<number> {
  const targets =
    names.length === 0
      ? [chooseTarget(undefined, flags.sitemap)]
      : names.map((name) => chooseTarget(name, flags.sitemap));
  const filters = new Filters(flags);
  const options = crawlOptions(flags);
  for (const target of targets) checkTogether(flags, target);
  if (flags.save !== undefined && targets.length > 1) throw new UsageError("--save keeps one website: name one");
  resolveOptions(options);
  if (flags.save !== undefined) makeRoom(flags.save, flags.force ?? false);
  const isFolder = flags.format === "parquet";
  const run = new Run(
    isFolder ? { ...flags, output: undefined } : flags,
    flags.limit === undefined ? [] : ["limit-pages"],
  );
  for (const target of targets) {
    if (target.kind === "website" && target.isAssumed) {
      run.messages.say(`no scheme given, using ${target.homepage}`, "quiet");
    }
  }
  if (flags.insecure) run.messages.say("--insecure: certificates are NOT checked, anybody may answer", "bad");

  const { listing } = await import("./listing.ts");
  const summary = flags.summary ? new Summary() : undefined;
  const pieces = listing({ targets, flags, filters, options, run, summary });
  const code = await run.write(pieces, () => ({ listed: filters.listed, notes: filters.notes() }));
  summary?.print(run.messages);
  return code;
}

// Flags that would do nothing are refused rather than ignored.
function checkTogether(flags: LsFlags, target: Target): void {
  if (flags.stripUrl && !["tabtree", "pages", "sitemaps"].includes(flags.format)) {
    throw new UsageError("--strip-url works with the formats tabtree, pages and sitemaps");
  }
  checkCsvFlags(flags.format, flags);
  if (flags.format === "parquet" && flags.output === undefined) {
    throw new UsageError("-f parquet writes several files: name their folder with -o DIR");
  }
  if (flags.trailer && flags.format !== "ndjson") throw new UsageError("--trailer works with the format ndjson");
  if (isSitemapFormat(flags.format)) {
    const pageFlag = (["include", "exclude", "since", "unique", "limit", "summary"] as const).find(
      (name) => flags[name],
    );
    if (pageFlag !== undefined) throw new UsageError(`--${pageFlag} chooses pages; -f ${flags.format} lists sitemaps`);
  }
  if (flags.skipOldSitemaps && flags.since === undefined) throw new UsageError("--skip-old-sitemaps needs --since");
  if (flags.force && flags.save === undefined && flags.output === undefined) {
    throw new UsageError("--force needs --save or --output");
  }
  if (target.kind !== "archive") return;
  if (flags.save === target.path) throw new UsageError("--save names the archive itself");
  // The reader's own limits count for an archive, too.
  const [online] = givenFlags(flags, ["limits", "save"]);
  if (online !== undefined) throw new UsageError(`${online} has no meaning for an archive: nothing is fetched`);
}

function makeRoom(path: string, force: boolean): void {
  if (!existsSync(path)) return;
  if (!force) throw new UsageError(`${path} exists: --force replaces it`);
  rmSync(path);
}
