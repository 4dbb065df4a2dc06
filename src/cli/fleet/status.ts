// `sitegrove fleet status` and the table at the end of a run.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { journalName, lockName } from "../../fleet/journal-file.ts";
import { storedRun } from "../../fleet/results.ts";
import { type SiteOutcome, type SiteSummary, siteOutcomes } from "../../fleet/site-job.ts";
import { FleetCounter, type FleetTotals } from "../../fleet/totals.ts";
import { defined } from "../../model/defined.ts";
import { counted, grouped, size } from "../../model/figures.ts";
import { ownerOf } from "../../storage/lock.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import type { Messages } from "../output/messages.ts";
import { Output } from "../output/stdout.ts";

/** The name of the file with the totals of a fleet, next to its journal. */
export const summaryName = "summary.json";

/** Shows the state of a fleet, which its journal records while it runs. */
export async function folderStatus(folder: string, asJson: boolean, { stdout }: Context): Promise<ExitCode> {
  const { results, active, unfinished, ...state } = await runIn(folder);
  const process = ownerOf(path.join(folder, lockName))?.pid;
  const totals = await totalsOf(results);
  const running = process === undefined ? 0 : active;
  const waiting = unfinished - running;
  const gaps = {
    malformed: malformedIn(path.join(folder, summaryName)),
    ...(state.damaged > 0 && { damaged: state.damaged }),
    // While a process works in the folder, it may still be adding the list.
    ...(process === undefined && state.cutLists > 0 && { cutLists: state.cutLists }),
  };
  if (asJson) stdout.write(`${jsonOf({ ...totals, running, waiting, process: process ?? null, ...defined(gaps) })}\n`);
  else {
    const name = process === undefined ? (waiting > 0 ? "stopped" : "finished") : `running (process ${process})`;
    stdout.write(`${[stateText(name, running, waiting), ...gapSentences(gaps)].join("\n")}\n${fleetTable(totals)}`);
  }
  return exitCodes.complete;
}

/** Prints the summary of each finished website. Says which part of the journal could not be read. */
export async function folderResults(folder: string, { stdout, stderr }: Context): Promise<ExitCode> {
  const { results, damaged } = await runIn(folder);
  const output = new Output(stdout);
  for await (const summary of results) await output.write(`${jsonOf(summary)}\n`);
  await output.flush();
  if (damaged === 0) return exitCodes.complete;
  for (const sentence of gapSentences({ damaged })) stderr.write(`sitegrove: incomplete: ${sentence}\n`);
  return exitCodes.incomplete;
}

function runIn(folder: string): ReturnType<typeof storedRun> {
  const hasJournal = existsSync(path.join(folder, journalName));
  if (!hasJournal) throw new UsageError(`${folder} is not the folder of a fleet: it has no ${journalName}`);
  return storedRun(folder);
}

export async function totalsOf(results: AsyncIterable<SiteSummary>): Promise<FleetTotals> {
  const counter = new FleetCounter();
  for await (const summary of results) counter.see(summary);
  return counter.totals();
}

export function stateText(name: string, running: number, waiting: number): string {
  return `${name}: ${counted(running, "website")} in progress, ${grouped(waiting)} waiting`;
}

// Returns how many lines of the list were not websites. The summary is written at the end of a run, so it may be missing or damaged.
function malformedIn(summary: string): number | undefined {
  try {
    const { malformed } = JSON.parse(readFileSync(summary, "utf8")) as { malformed?: unknown };
    return typeof malformed === "number" ? malformed : undefined;
  } catch {
    return undefined;
  }
}

/** Formats the totals as a table for people. The headline says how many websites there are. */
export function fleetTable(totals: FleetTotals, headline: string = counted(totals.websites, "website")): string {
  const { outcomes, pages, requests, wireBytes, reasons, findings = {}, preferences = {}, previousErrors = 0 } = totals;
  const width = Math.max(6, ...Object.values(outcomes).map((count) => grouped(count).length));
  const lines = [`${headline}: ${counted(pages, "page")}, ${counted(requests, "request")}, ${size(wireBytes)}`];
  const list = (title: readonly string[], rows: readonly (readonly [string, number])[]) => {
    if (rows.length === 0) return;
    lines.push("", ...title);
    for (const [text, count] of rows.slice(0, mostRows))
      lines.push(`${grouped(count).padStart(width)}  ${printable(text)}`);
    const more = rows.length - mostRows;
    if (more > 0) lines.push(`${" ".repeat(width)}  and ${counted(more, "more row")}`);
  };
  const ended = siteOutcomes.filter((outcome) => outcomes[outcome] > 0);
  list(
    [],
    ended.map((outcome) => [`${outcome}${remarks[outcome] ?? ""}`, outcomes[outcome]]),
  );
  list(["Findings"], Object.entries(findings));
  list(["AI preferences in robots.txt, by number of websites"], Object.entries(preferences));
  list(
    ["Reasons, by number of websites"],
    reasons.map(({ code, message, websites }) => [`${message} (${code})`, websites]),
  );
  if (previousErrors > 0)
    lines.push(
      "",
      `${counted(previousErrors, "earlier archive")} could not be used, so those websites were fetched in full; see previousError in the results`,
    );
  return `${lines.join("\n")}\n`;
}

const mostRows = 10;
const remarks: Partial<Record<SiteOutcome, string>> = {
  none: ": no sitemap",
  quarantined: ": set aside because the process died five times",
};

/** Sentences about what may be missing in a run, in the singular and the plural. */
const gapTexts = {
  malformed: ["line of the list is not a website", "lines of the list are not websites"],
  unreadable: ["summary could not be read", "summaries could not be read"],
  damaged: [
    "line of sites.ndjson is damaged and was skipped; --from FILE restores missing websites",
    "lines of sites.ndjson are damaged and were skipped; --from FILE restores missing websites",
  ],
  cutLists: [
    "list was not read to the end; add it again, with --from FILE",
    "lists were not read to the end; add them again, with --from FILE",
  ],
  unfinished: ["website has no result yet", "websites have no result yet"],
} as const;

type Gaps = Readonly<Partial<Record<keyof typeof gapTexts, number | undefined>>>;

function gapSentences(gaps: Gaps): string[] {
  const entries = Object.entries(gapTexts) as [keyof Gaps, readonly [string, string]][];
  return entries.flatMap(([name, texts]) => (gaps[name] ? [counted(gaps[name], ...texts)] : []));
}

/** Reports what may be missing in a run. Returns whether there was anything to report. */
export function reportGaps(gaps: Gaps, messages: Messages): boolean {
  const sentences = gapSentences(gaps);
  for (const sentence of sentences) messages.say(`incomplete: ${sentence}`, "warning");
  return sentences.length > 0;
}
