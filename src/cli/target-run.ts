// The beginning of every command that reads a website, an archive or local files: which files have to differ, when the archive of
// --save replaces another, and what is said before anything else. Nothing is created before the settings are known to be good.
import type { Options } from "../model/options.ts";
import { resolveOptions } from "../model/options.ts";
import { type CrawlFlags, givenFlags } from "./crawl-flags.ts";
import { expectDistinct } from "./distinct-files.ts";
import { UsageError } from "./exit-codes.ts";
import { insecureWarning } from "./messages.ts";
import { Run, type RunFlags, type RunReport } from "./run.ts";
import { SaveFile } from "./save-file.ts";
import type { NamedTarget, Target } from "./target.ts";

export interface Beginning {
  readonly targets: readonly (Target | NamedTarget)[];
  readonly flags: CrawlFlags & RunFlags & { readonly insecure?: true | undefined; readonly save?: string | undefined };
  readonly crawl?: Options;
  /** Further files and folders that are read. */
  readonly inputs?: readonly (string | undefined)[];
  /** Archives of earlier runs: --save may replace them, other outputs may not. */
  readonly renewed?: readonly string[] | undefined;
  /** Further files that are written, by the flags that name them. */
  readonly outputs?: Readonly<Record<string, string | undefined>>;
  /** Options that apply where nothing is fetched, too; all others are refused there. */
  readonly offline?: readonly string[];
  readonly report?: (() => RunReport) | undefined;
}

/** `save`: where to write the archive. */
export async function begin(beginning: Beginning): Promise<{ readonly run: Run; readonly save: string | undefined }> {
  const { targets, flags, crawl = {}, inputs = [], renewed = [], outputs = {}, offline, report } = beginning;
  const settings = resolveOptions(crawl);
  const isOnline = targets.some(({ kind }) => kind === "website" || kind === "sitemaps");
  const [online] = isOnline || offline === undefined ? [] : givenFlags(flags, offline);
  if (online !== undefined) throw new UsageError(`${online} has no effect on files: nothing is fetched`);
  const { output, logFile, save } = flags;
  const read = [...targets.flatMap((target) => ("path" in target ? target.path : [])), ...inputs.filter(isGiven)];
  const written = { "--output": output, "--log-file": logFile, ...outputs };
  expectDistinct(read, { "--save": save, ...written });
  expectDistinct(renewed, written);
  if (isOnline) (await import("../fetch/fetcher.ts")).expectUsable(settings);
  const archive = save === undefined ? undefined : new SaveFile(save, flags.force ?? false);
  const run = new Run(flags, report);
  if (archive !== undefined) run.owns(archive);
  for (const target of targets) {
    if (target.kind === "website" && target.isAssumed)
      run.messages.say(`no scheme given, using ${target.homepage}`, "quiet");
  }
  if (flags.insecure) run.messages.say(insecureWarning, "bad");
  return { run, save: archive?.path };
}

function isGiven(file: string | undefined): file is string {
  return file !== undefined;
}
