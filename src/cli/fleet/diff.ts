// `sitegrove fleet diff OLD NEW`: what changed between two runs, website by website, written as `diff` writes it. Archives are compared if
// both runs have them, files of pages (ndjson) otherwise.
import { existsSync } from "node:fs";
import path from "node:path";
import { diffBatches, resolveDiffOptions } from "../../diff/diff-trees.ts";
import { NdjsonSide } from "../../diff/ndjson-side.ts";
import { readResults } from "../../fleet/journal-file.ts";
import type { SiteOutcome, SiteSummary } from "../../fleet/site-job.ts";
import { addInto } from "../../fleet/site-responses.ts";
import { type DiffTotals, ignorable, type TreeChange } from "../../model/change.ts";
import { counted } from "../../model/figures.ts";
import type { ChangeWriter } from "../../write/changes.ts";
import { csvCell } from "../../write/csv.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import { checkChangeFlags, chosenKinds, DiffEnding, type DiffFlags, pageFilter } from "../commands/diff.ts";
import type { Context } from "../context.ts";
import { namesIn } from "../flags.ts";
import { type Batches, changeWriter, writeDiff } from "../output/changes.ts";
import type { Messages } from "../output/messages.ts";
import { withTargets } from "../run.ts";
import { journalIn } from "./totals.ts";

/** A website that is on one list only, or that ended in another way than before. */
interface SiteChange {
  readonly site: string;
  readonly kind: "site";
  readonly change: "new" | "gone" | "outcome";
  readonly before?: SiteOutcome | undefined;
  readonly after?: SiteOutcome | undefined;
}

/** Returns the exit code. */
export async function fleetDiff(before: string, after: string, flags: DiffFlags, context: Context): Promise<number> {
  const { format } = flags;
  const kinds = chosenKinds(flags);
  const ignore = namesIn("--ignore", flags.ignore, ignorable);
  checkChangeFlags(flags);
  const ending = new FleetDiffEnding([], flags.exitCode);
  const inputs = [journalIn(before), journalIn(after), before, after];
  const offline = ["include", "exclude"];
  const run = await withTargets({ context, flags, targets: [], inputs, offline, ending: () => ending });
  const { signal } = run;
  const settings = resolveDiffOptions({ only: kinds, ignore, include: pageFilter(flags), signal });
  const hasLines = format === "ndjson" || format === "csv";
  const sites: SiteChange[] = [];
  let site = "";

  /** First the websites that are on one list only, then the others in the order of their names. */
  async function* changes(): Batches {
    const [was, is] = [await resultsOf(before), await resultsOf(after)];
    const told = (change: SiteChange["change"], then: SiteSummary | undefined, now: SiteSummary | undefined) => {
      const outcomes = { ...(then && { before: then.outcome }), ...(now && { after: now.outcome }) };
      const found: SiteChange = { site: (now ?? then)?.site ?? "", kind: "site", change, ...outcomes };
      sites.push(found);
      const asChanges = [found as unknown as TreeChange];
      // Those that are written are counted like other changes.
      if (!hasLines) ending.count(asChanges);
      return hasLines ? asChanges : [];
    };
    for (const then of was.values()) if (!is.has(then.key)) yield told("gone", then, undefined);
    for (const now of is.values()) if (!was.has(now.key)) yield told("new", undefined, now);
    const totals = noTotals();
    for (const [key, now] of is) {
      const then = was.get(key);
      if (then === undefined) continue;
      signal.throwIfAborted();
      site = now.site;
      if (then.outcome !== now.outcome) yield told("outcome", then, now);
      const sides = sidesOf([before, then], [after, now]);
      if (typeof sides === "string") ending.skipped.push(`${site}: not compared: ${sides}`);
      else addInto(totals, yield* diffBatches(...sides, settings));
    }
    ending.totals = totals;
    return totals;
  }

  async function* pieces() {
    const shared = { format, csvSafe: true, kinds: new Set(kinds), names: { before, after }, seen: ending.count };
    const writer = hasLines ? lineWriter(format, () => site) : undefined;
    for await (const text of writeDiff(changes(), { ...shared, homepage: () => "about:blank", writer })) {
      if (sites.length === 0 || !(format === "markdown" || format === "summary")) yield text;
      else {
        yield text.replace(/No differences\.\n$/, "No differences on the websites of both.\n");
        yield sitesInWords(sites, format === "markdown");
      }
    }
  }
  return run.write(pieces(), () => ({ listed: ending.told, unit: "change" }));
}

type Side = string | NdjsonSide;

// Or why they cannot be compared.
function sidesOf(...runs: readonly [folder: string, summary: SiteSummary][]): readonly [Side, Side] | string {
  const at = (folder: string, name = "") =>
    name !== "" && existsSync(path.join(folder, name)) ? path.join(folder, name) : undefined;
  const pagesOf = (folder: string, { files }: SiteSummary) =>
    files["pages"]?.endsWith(".ndjson") ? at(folder, files["pages"]) : undefined;
  const archives = runs.map(([folder, { files }]) => at(folder, files["archive"]));
  const hasArchives = !archives.includes(undefined);
  const [lacking] = runs.find(([folder, summary]) => summary.pages > 0 && !pagesOf(folder, summary)) ?? [];
  if (lacking !== undefined && !hasArchives)
    return `${lacking} has no ndjson pages, and there are no archives on both sides`;
  const [one, other] = runs.map(([folder, summary], index): Side => {
    const { outcome } = summary;
    // The archive of a website that refused everything is whole, and says nothing.
    const isSilent = !["complete", "incomplete", "none"].includes(outcome);
    if (hasArchives && !isSilent) return archives[index] as string;
    const isComplete = outcome === "complete" || outcome === "none";
    return new NdjsonSide(pagesOf(folder, summary), isComplete, hasArchives ? "file" : "tree");
  });
  return [one!, other!];
}

async function resultsOf(folder: string): Promise<Map<string, SiteSummary>> {
  const results = new Map<string, SiteSummary>();
  for await (const summary of readResults(journalIn(folder))) results.set(summary.key, summary);
  return new Map([...results].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const noTotals = (): DiffTotals => ({
  before: { pages: 0, sitemaps: 0, complete: true },
  after: { pages: 0, sitemaps: 0, complete: true },
  ...{ added: 0, removed: 0, changed: 0, moved: 0, unknown: 0, expired: 0, changedOnlyLastModified: 0, sitemaps: 0 },
});

/** Lines of changes with the website of each. */
function lineWriter(format: "ndjson" | "csv", site: () => string): ChangeWriter {
  const isCsv = format === "csv";
  const { header, footer, write } = changeWriter(format, true);
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
  const words = sites.slice(0, mostSites).map((change) => {
    const site = printable(change.site);
    return isMarkdown ? `- ${inWords(change)}: \`${site.replaceAll("`", "")}\`` : `  ${inWords(change)}  ${site}`;
  });
  const more = sites.length - words.length;
  if (more > 0) words.push(`${isMarkdown ? "-" : " "} and ${counted(more, "more website")}`);
  return ["", "Websites", ...(isMarkdown ? [""] : []), ...words, ""].join("\n");
}

const mostSites = 20;
const mostSkipped = 5;

class FleetDiffEnding extends DiffEnding {
  readonly skipped: string[] = [];

  override get isComplete(): boolean {
    return this.skipped.length === 0 && super.isComplete;
  }

  override print(messages: Messages): void {
    for (const sentence of this.skipped.slice(0, mostSkipped)) messages.say(sentence, "warning");
    const more = this.skipped.length - mostSkipped;
    if (more > 0) messages.say(`and ${counted(more, "more website")} not compared`, "warning");
    super.print(messages);
  }
}
