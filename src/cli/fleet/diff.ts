// `sitegrove fleet diff OLD NEW`: what changed between two runs, website by website. Archives are compared where both runs have them,
// files of pages (ndjson) otherwise.
import { existsSync } from "node:fs";
import path from "node:path";
import { Scratch } from "../../archive/scratch.ts";
import { compareSides } from "../../diff/compare-sides.ts";
import type { Side } from "../../diff/diff-side.ts";
import { type DiffSettings, resolveDiffOptions } from "../../diff/diff-trees.ts";
import { NdjsonSide } from "../../diff/ndjson-side.ts";
import { openSide } from "../../diff/open-side.ts";
import { journalName, readResults } from "../../fleet/journal-file.ts";
import type { SiteSummary } from "../../fleet/site-job.ts";
import { type DiffTotals, ignorable, type TreeChange } from "../../model/change.ts";
import { counted } from "../../model/figures.ts";
import type { DiffFormat } from "../commands/diff.ts";
import { chosenKinds, namesIn, pageFilter } from "../commands/diff.ts";
import type { Context } from "../context.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { expectDistinct } from "../input/distinct-files.ts";
import type { Messages } from "../output/messages.ts";
import { type Ending, Run, type RunFlags } from "../run.ts";
import { type FleetChange, type SiteChange, writeFleetDiff } from "./diff-output.ts";

export interface FleetDiffFlags extends RunFlags {
  readonly format: DiffFormat;
  readonly only?: readonly string[] | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly exitCode?: true | undefined;
}

/** Returns the exit code. */
export async function fleetDiff(
  before: string,
  after: string,
  flags: FleetDiffFlags,
  context: Context,
): Promise<number> {
  const kinds = chosenKinds(flags);
  const ignore = namesIn("--ignore", flags.ignore, ignorable);
  if (flags.force && flags.output === undefined) throw new UsageError("--force needs --output");
  const folders = [before, after].map((folder) => path.join(folder, journalName));
  for (const [at, journal] of folders.entries()) {
    const folder = [before, after][at];
    if (!existsSync(journal)) throw new UsageError(`${folder} is not the folder of a fleet: it has no ${journalName}`);
  }
  expectDistinct([...folders, before, after], { "--output": flags.output });
  const report = new FleetDiffReport(flags.exitCode ?? false);
  const run = new Run(context, flags, () => report);
  const settings = resolveDiffOptions({ only: kinds, ignore, include: pageFilter(flags), signal: run.signal });
  const diff = new FleetDiff(before, after, settings, report);
  const pieces = writeFleetDiff(diff.changes(), { format: flags.format, kinds: new Set(kinds), before, after });
  return run.write(pieces, () => ({ listed: report.differences, unit: "change", notes: [] }));
}

class FleetDiff {
  readonly #folders: { readonly before: string; readonly after: string };
  readonly #settings: DiffSettings;
  readonly #report: FleetDiffReport;

  constructor(before: string, after: string, settings: DiffSettings, report: FleetDiffReport) {
    this.#folders = { before, after };
    this.#settings = settings;
    this.#report = report;
  }

  /** First the websites that are on one list only, then the others in the order of their names. */
  async *changes(): AsyncGenerator<readonly FleetChange[], DiffTotals> {
    const was = await resultsOf(this.#folders.before);
    const is = await resultsOf(this.#folders.after);
    const alone = siteChanges(was, is);
    this.#report.count(alone.length);
    if (alone.length > 0) yield alone;
    const totals = new Totals();
    for (const [key, after] of is) {
      const before = was.get(key);
      if (before === undefined) continue;
      this.#settings.signal?.throwIfAborted();
      if (before.outcome !== after.outcome) {
        this.#report.count(1);
        yield [{ site: after.site, kind: "site", change: "outcome", before: before.outcome, after: after.outcome }];
      }
      const batches = this.#compare(before, after);
      for (;;) {
        const step = await batches.next();
        if (step.done) {
          if (step.value !== undefined) totals.add(step.value);
          break;
        }
        this.#report.see(step.value);
        yield step.value.map((change) => ({ site: after.site, ...change }));
      }
    }
    this.#report.finish(totals.value);
    return totals.value;
  }

  async *#compare(
    before: SiteSummary,
    after: SiteSummary,
  ): AsyncGenerator<readonly TreeChange[], DiffTotals | undefined> {
    const [was, is] = [this.#sources(this.#folders.before, before), this.#sources(this.#folders.after, after)];
    const hasArchives = was.archive !== undefined && is.archive !== undefined;
    const missing = hasArchives ? undefined : [was, is].find(({ lacks }) => lacks !== undefined)?.lacks;
    if (missing !== undefined) {
      this.#report.skip(`${after.site}: ${missing}`);
      return undefined;
    }
    const scratch = new Scratch();
    const sides: Side[] = [];
    try {
      for (const { archive, pages, complete, isSilent } of [was, is]) {
        const { signal } = this.#settings;
        // What is in the archive of a website that refused everything is whole, and says nothing.
        if (hasArchives && !isSilent) sides.push(await openSide(archive as string, scratch, { signal }));
        else sides.push(new NdjsonSide({ file: pages, complete, kind: hasArchives ? "file" : "tree" }));
      }
      return yield* compareSides(sides[0]!, sides[1]!, scratch, this.#settings);
    } finally {
      for (const side of sides) await side.close();
      await scratch.close();
    }
  }

  #sources(folder: string, { outcome, pages, files }: SiteSummary) {
    const at = (name: string | undefined) => {
      const file = name === undefined ? undefined : path.join(folder, name);
      return file !== undefined && existsSync(file) ? file : undefined;
    };
    const { archive, pages: file } = files as { archive?: string; pages?: string };
    const isNdjson = file?.endsWith(".ndjson") === true && at(file) !== undefined;
    return {
      archive: at(archive),
      pages: isNdjson ? at(file) : undefined,
      complete: outcome === "complete" || outcome === "none",
      isSilent: !["complete", "incomplete", "none"].includes(outcome),
      lacks:
        isNdjson || pages === 0
          ? undefined
          : `not compared: ${folder} has neither its pages as ndjson nor archives on both sides`,
    };
  }
}

async function resultsOf(folder: string): Promise<Map<string, SiteSummary>> {
  const results: SiteSummary[] = [];
  for await (const summary of readResults(path.join(folder, journalName))) results.push(summary);
  results.sort((one, other) => (one.key < other.key ? -1 : 1));
  return new Map(results.map((summary) => [summary.key, summary]));
}

function siteChanges(was: ReadonlyMap<string, SiteSummary>, is: ReadonlyMap<string, SiteSummary>): SiteChange[] {
  const only = (some: ReadonlyMap<string, SiteSummary>, others: ReadonlyMap<string, SiteSummary>) =>
    [...some.values()].filter(({ key }) => !others.has(key));
  return [
    ...only(was, is).map(({ site, outcome }) => ({ site, kind: "site", change: "gone", before: outcome }) as const),
    ...only(is, was).map(({ site, outcome }) => ({ site, kind: "site", change: "new", after: outcome }) as const),
  ];
}

class Totals {
  value: DiffTotals = {
    before: { pages: 0, sitemaps: 0, complete: true },
    after: { pages: 0, sitemaps: 0, complete: true },
    added: 0,
    removed: 0,
    unknown: 0,
    changed: 0,
    changedOnlyLastModified: 0,
    moved: 0,
    sitemaps: 0,
  };

  add(more: DiffTotals): void {
    const side = (name: "before" | "after") => ({
      pages: this.value[name].pages + more[name].pages,
      sitemaps: this.value[name].sitemaps + more[name].sitemaps,
      complete: this.value[name].complete && more[name].complete,
    });
    const sum = (name: Exclude<keyof DiffTotals, "before" | "after">) => this.value[name] + more[name];
    this.value = {
      before: side("before"),
      after: side("after"),
      added: sum("added"),
      removed: sum("removed"),
      unknown: sum("unknown"),
      changed: sum("changed"),
      changedOnlyLastModified: sum("changedOnlyLastModified"),
      moved: sum("moved"),
      sitemaps: sum("sitemaps"),
    };
  }
}

class FleetDiffReport implements Ending {
  readonly readNothing = false;
  readonly #usesExitCode: boolean;
  readonly #skipped: string[] = [];
  #skippedCount = 0;
  #totals: DiffTotals | undefined;
  differences = 0;

  constructor(usesExitCode: boolean) {
    this.#usesExitCode = usesExitCode;
  }

  see(changes: unknown): void {
    if (!Array.isArray(changes)) return;
    for (const change of changes as TreeChange[]) {
      const isUnknown = change.kind === "unknown" || (change.kind === "sitemap" && change.change === "unknown");
      if (!isUnknown) this.differences += 1;
    }
  }

  count(more: number): void {
    this.differences += more;
  }

  skip(sentence: string): void {
    this.#skippedCount += 1;
    if (this.#skipped.length < mostSkipped) this.#skipped.push(sentence);
  }

  finish(totals: DiffTotals): void {
    this.#totals = totals;
  }

  get isComplete(): boolean {
    const { before, after } = this.#totals ?? {};
    return this.#skippedCount === 0 && before?.complete === true && after?.complete === true;
  }

  get exitCode(): number {
    if (this.#usesExitCode && this.differences > 0) return exitCodes.findings;
    return this.isComplete ? exitCodes.complete : exitCodes.incomplete;
  }

  print(messages: Messages): void {
    for (const sentence of this.#skipped) messages.say(sentence, "warning");
    const more = this.#skippedCount - this.#skipped.length;
    if (more > 0) messages.say(`and ${counted(more, "more website")} not compared`, "warning");
    const unknown = this.#totals?.unknown ?? 0;
    if (unknown > 0)
      messages.say(`${counted(unknown, "page")} unknown: missing on a side that is not complete`, "warning");
    if (this.#usesExitCode && this.differences > 0) messages.say(counted(this.differences, "difference"), "warning");
  }
}

const mostSkipped = 5;
