// `sitegrove fleet diff OLD NEW`: what changed between two runs, website by website, written as `diff` writes it. Archives are compared where
// both runs have them, files of pages (ndjson) otherwise.
import { existsSync } from "node:fs";
import path from "node:path";
import { resolveDiffOptions } from "../../diff/diff-trees.ts";
import { NdjsonSide } from "../../diff/ndjson-side.ts";
import { readResults } from "../../fleet/journal-file.ts";
import type { SiteOutcome, SiteSummary } from "../../fleet/site-job.ts";
import { type DiffTotals, ignorable, type TreeChange } from "../../model/change.ts";
import { counted } from "../../model/figures.ts";
import { type ChangeWriter, changeCsvWriter, changeNdjsonWriter } from "../../write/changes.ts";
import { csvCell } from "../../write/csv.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import { checkChangeFlags, chosenKinds, type DiffFlags, isDifference, namesIn, pageFilter } from "../commands/diff.ts";
import type { Context } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { expectDistinct } from "../input/target.ts";
import { writeDiff } from "../output/changes.ts";
import type { Messages } from "../output/messages.ts";
import { type Ending, Run } from "../run.ts";
import { type SiteSide, siteChanges } from "./changes.ts";
import { journalIn } from "./totals.ts";

/** A website that is on one list only, or that ended in another way than before. */
interface SiteChange {
  readonly site: string;
  readonly kind: "site";
  readonly change: "new" | "gone" | "outcome";
  readonly before?: SiteOutcome;
  readonly after?: SiteOutcome;
}

/** Returns the exit code. */
export async function fleetDiff(before: string, after: string, flags: DiffFlags, context: Context): Promise<number> {
  const { format, exitCode: usesExitCode = false } = flags;
  const kinds = chosenKinds(flags);
  const ignore = namesIn("--ignore", flags.ignore, ignorable);
  checkChangeFlags(flags);
  const journals = [journalIn(before), journalIn(after)];
  expectDistinct([...journals, before, after], { "--output": flags.output });
  const ending = new FleetDiffEnding(usesExitCode);
  const run = new Run(context, flags, () => ending);
  const { signal } = run;
  const settings = resolveDiffOptions({ only: kinds, ignore, include: pageFilter(flags), signal });
  const hasLines = format === "ndjson" || format === "csv";
  const isMarkdown = format === "markdown";
  const sites: SiteChange[] = [];
  let site = "";

  /** First the websites that are on one list only, then the others in the order of their names. */
  async function* changes(): AsyncGenerator<readonly TreeChange[], DiffTotals> {
    const [was, is] = [await resultsOf(before), await resultsOf(after)];
    const told = (change: SiteChange): TreeChange[] => {
      ending.differences += 1;
      sites.push(change);
      return hasLines ? [change as unknown as TreeChange] : [];
    };
    for (const { key, site, outcome } of was.values())
      if (!is.has(key)) yield told({ site, kind: "site", change: "gone", before: outcome });
    for (const { key, site, outcome } of is.values())
      if (!was.has(key)) yield told({ site, kind: "site", change: "new", after: outcome });
    let totals = noTotals;
    for (const [key, now] of is) {
      const then = was.get(key);
      if (then === undefined) continue;
      signal.throwIfAborted();
      site = now.site;
      if (then.outcome !== now.outcome)
        yield told({ site, kind: "site", change: "outcome", before: then.outcome, after: now.outcome });
      const both = [sourcesOf(before, then), sourcesOf(after, now)];
      const hasArchives = both.every(({ archive }) => archive !== undefined);
      const lacking = hasArchives ? undefined : both.find(({ isLacking }) => isLacking)?.folder;
      if (lacking !== undefined) {
        const why = `not compared: ${lacking} has no ndjson pages, and there are no archives on both sides`;
        ending.skipped.push(`${site}: ${why}`);
        continue;
      }
      // What is in the archive of a website that refused everything is whole, and says nothing.
      const sides = both.map(({ archive, pages, complete, isSilent }): SiteSide => {
        if (hasArchives && !isSilent) return archive as string;
        return new NdjsonSide(pages, complete, hasArchives ? "file" : "tree");
      });
      const found = siteChanges(sides[0]!, sides[1]!, settings);
      let step = await found.next();
      for (; !step.done; step = await found.next()) {
        ending.differences += step.value.filter(isDifference).length;
        yield step.value;
      }
      totals = added(totals, step.value);
    }
    ending.totals = totals;
    return totals;
  }

  async function* pieces() {
    const shared = { format, csvSafe: true, kinds: new Set(kinds), names: { before, after } };
    const writer = hasLines ? lineWriter(format, () => site) : undefined;
    for await (const text of writeDiff(changes(), { ...shared, homepage: () => "about:blank", writer })) {
      if (sites.length === 0 || !(isMarkdown || format === "summary")) yield text;
      else {
        yield text.replace(/No differences\.\n$/, "No differences on the websites of both.\n");
        yield sitesInWords(sites, isMarkdown);
      }
    }
  }
  return run.write(pieces(), () => ({ listed: ending.differences, unit: "change", notes: [] }));
}

function sourcesOf(folder: string, { outcome, pages, files }: SiteSummary) {
  const at = (name = "") => (name !== "" && existsSync(path.join(folder, name)) ? path.join(folder, name) : undefined);
  const file = files["pages"]?.endsWith(".ndjson") ? at(files["pages"]) : undefined;
  return {
    folder,
    archive: at(files["archive"]),
    pages: file,
    complete: outcome === "complete" || outcome === "none",
    isSilent: !["complete", "incomplete", "none"].includes(outcome),
    isLacking: file === undefined && pages > 0,
  };
}

async function resultsOf(folder: string): Promise<Map<string, SiteSummary>> {
  const results = new Map<string, SiteSummary>();
  for await (const summary of readResults(journalIn(folder))) results.set(summary.key, summary);
  return new Map([...results].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const noSide = { pages: 0, sitemaps: 0, complete: true };
const noCounts = { added: 0, removed: 0, unknown: 0, changed: 0, changedOnlyLastModified: 0, moved: 0, sitemaps: 0 };
const noTotals: DiffTotals = { before: noSide, after: noSide, ...noCounts };

function added(one: DiffTotals, other: DiffTotals): DiffTotals {
  const side = (name: "before" | "after") => ({
    pages: one[name].pages + other[name].pages,
    sitemaps: one[name].sitemaps + other[name].sitemaps,
    complete: one[name].complete && other[name].complete,
  });
  const names = Object.keys(noCounts) as (keyof typeof noCounts)[];
  const counts = Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as typeof noCounts;
  return { before: side("before"), after: side("after"), ...counts };
}

/** Lines of changes with the website of each. */
function lineWriter(format: "ndjson" | "csv", site: () => string): ChangeWriter {
  const isCsv = format === "csv";
  const { header, footer, write } = isCsv ? changeCsvWriter() : changeNdjsonWriter();
  const cell = csvCell(true);
  const line = (change: TreeChange | SiteChange) => {
    if (change.kind === "site") {
      if (!isCsv) return `${jsonOf(change)}\n`;
      return `${[change.site, "site", change.site, inWords(change), "", "", "", ""].map(cell).join(",")}\n`;
    }
    const text = write([change]);
    return isCsv ? `${cell(site())},${text}` : `{"site":${jsonOf(site())},${text.slice(1)}`;
  };
  return { header: isCsv ? `site,${header}` : "", footer, write: (changes) => changes.map(line).join("") };
}

function inWords({ change, before, after }: SiteChange): string {
  return change === "outcome" ? `${before} → ${after}` : change;
}

function sitesInWords(sites: readonly SiteChange[], isMarkdown: boolean): string {
  const shown = sites.slice(0, mostSites);
  const more = sites.length - shown.length;
  const words = shown.map((change) => {
    const site = printable(change.site);
    return isMarkdown ? `${inWords(change)}: \`${site.replaceAll("`", "")}\`` : `${inWords(change)}  ${site}`;
  });
  const lines = [...words, ...(more > 0 ? [`and ${counted(more, "more website")}`] : [])];
  const title = isMarkdown ? ["", "Websites", ""] : ["", "Websites"];
  return `${[...title, ...lines.map((text) => `${isMarkdown ? "-" : " "} ${text}`)].join("\n")}\n`;
}

const mostSites = 20;

class FleetDiffEnding implements Ending {
  readonly readNothing = false;
  readonly skipped: string[] = [];
  readonly #usesExitCode: boolean;
  totals: DiffTotals | undefined;
  differences = 0;

  constructor(usesExitCode: boolean) {
    this.#usesExitCode = usesExitCode;
  }

  see(): void {}

  get isComplete(): boolean {
    const { before, after } = this.totals ?? {};
    return this.skipped.length === 0 && before?.complete === true && after?.complete === true;
  }

  get exitCode(): number {
    if (this.#usesExitCode && this.differences > 0) return exitCodes.findings;
    return this.isComplete ? exitCodes.complete : exitCodes.incomplete;
  }

  print(messages: Messages): void {
    const shown = this.skipped.slice(0, mostSkipped);
    for (const sentence of shown) messages.say(sentence, "warning");
    const more = this.skipped.length - shown.length;
    if (more > 0) messages.say(`and ${counted(more, "more website")} not compared`, "warning");
    const unknown = this.totals?.unknown ?? 0;
    if (unknown > 0)
      messages.say(`${counted(unknown, "page")} unknown: missing on a side that is not complete`, "warning");
    if (this.#usesExitCode && this.differences > 0) messages.say(counted(this.differences, "difference"), "warning");
  }
}

const mostSkipped = 5;
