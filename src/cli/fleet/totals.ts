// The totals of a fleet, for summary.json, the table at the end and `fleet status DIR`.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { journalName, lockName, readResults, readSites } from "../../fleet/journal-file.ts";
import {
  preferenceNames,
  type SiteOutcome,
  type SiteReason,
  type SiteSummary,
  siteOutcomes,
} from "../../fleet/site-job.ts";
import { addInto } from "../../fleet/site-responses.ts";
import { defined } from "../../model/defined.ts";
import { counted, grouped, size } from "../../model/figures.ts";
import { problem } from "../../model/problem.ts";
import { ownerOf } from "../../storage/lock.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { Counts } from "../output/counts.ts";

export interface FleetTotals {
  readonly websites: number;
  readonly outcomes: Readonly<Record<SiteOutcome, number>>;
  readonly pages: number;
  readonly sitemaps: number;
  readonly requests: number;
  readonly wireBytes: number;
  /** Why websites are not complete: the number of websites for each code, the most frequent first. */
  readonly reasons: readonly { readonly code: string; readonly message: string; readonly websites: number }[];
  /** Websites whose earlier archive could not be used; absent if there are none. */
  readonly previousErrors?: number;
  /** Findings of all websites, by severity. */
  readonly findings?: Readonly<Record<string, number>>;
  /** AI preferences in robots.txt, such as `ai-train=no`, and on how many websites. */
  readonly preferences?: Readonly<Record<string, number>>;
}

/** Adds up summaries: of all runs for the final table, of this run for progress and metrics. */
export class FleetCounter {
  readonly #sums = {
    ...{ websites: 0, pages: 0, sitemaps: 0, requests: 0, wireBytes: 0 },
    outcomes: Object.fromEntries(siteOutcomes.map((outcome) => [outcome, 0])) as Record<SiteOutcome, number>,
    previousErrors: 0,
    findings: {},
  };
  readonly #reasons = new Map<string, FleetTotals["reasons"][number]>();
  readonly #preferences = new Counts();

  see(summary: SiteSummary): void {
    const { pages, sitemaps, requests, wireBytes, outcome, previousError, reasons, findings = {} } = summary;
    const previousErrors = previousError === undefined ? 0 : 1;
    addInto(this.#sums, { websites: 1, pages, sitemaps, requests, wireBytes, previousErrors, findings });
    this.#sums.outcomes[outcome] += 1;
    for (const { code, message } of reasons) {
      const { websites, message: before } = this.#reasons.get(code) ?? { websites: 0, message };
      this.#reasons.set(code, {
        code,
        message: before === message ? before : common(code, before),
        websites: websites + 1,
      });
    }
    for (const name of preferenceNames(summary)) this.#preferences.add(name);
  }

  totals(): FleetTotals {
    const { previousErrors, findings, ...sums } = this.#sums;
    const preferences = this.#preferences.sorted();
    return {
      ...sums,
      reasons: [...this.#reasons.values()].sort((one, other) => other.websites - one.websites),
      ...(previousErrors === 0 ? {} : { previousErrors }),
      ...(Object.keys(findings).length === 0 ? {} : { findings }),
      ...(preferences.length === 0 ? {} : { preferences: Object.fromEntries(preferences) }),
    };
  }
}

// A message for all websites, because the message of one names its own line or value.
function common(code: SiteReason["code"], message: string): string {
  const general = code === "internal" ? "Internal failure" : problem(code).message;
  return /unknown/.test(general) ? `For example: ${message.replace("For example: ", "")}` : general;
}

/** The final table for people. `headline`: how many websites there are. */
export function fleetTable(totals: FleetTotals, headline: string = counted(totals.websites, "website")): string {
  const { outcomes, pages, requests, wireBytes, reasons, findings, preferences, previousErrors = 0 } = totals;
  const width = Math.max(6, ...Object.values(outcomes).map((count) => grouped(count).length));
  const lines = [`${headline}: ${counted(pages, "page")}, ${counted(requests, "request")}, ${size(wireBytes)}`];
  const list = (title: readonly string[], rows: readonly (readonly [string, number])[]) => {
    if (rows.length === 0) return;
    lines.push("", ...title);
    for (const [text, count] of rows.slice(0, mostRows))
      lines.push(`${grouped(count).padStart(width)}  ${printable(text)}`);
  };
  const ended = siteOutcomes.filter((outcome) => outcomes[outcome] > 0);
  list(
    [],
    ended.map((outcome) => [`${outcome}${remarks[outcome] ?? ""}`, outcomes[outcome]]),
  );
  list(["Findings"], Object.entries(findings ?? {}));
  list(["AI preferences in robots.txt, by number of websites"], Object.entries(preferences ?? {}));
  list(
    ["Reasons, by number of websites"],
    reasons.map(({ code, message, websites }) => [`${message} (${code})`, websites]),
  );
  if (reasons.length > mostRows)
    lines.push(`${" ".repeat(width)}  and ${counted(reasons.length - mostRows, "more reason")}`);
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

/** The totals of a fleet, in the folder of its outputs. */
export const summaryName = "summary.json";

/** The path of the journal in the folder of a fleet. Throws a `UsageError` if there is none. */
export function journalIn(folder: string): string {
  const journal = path.join(folder, journalName);
  if (!existsSync(journal)) throw new UsageError(`${folder} is not the folder of a fleet: it has no ${journalName}`);
  return journal;
}

/** `sitegrove fleet status DIR`: shows the state of a fleet by its journal, while it runs or after. Returns the exit code. */
export async function fleetStatus(folder: string, asJson: boolean, { stdout }: Context): Promise<number> {
  const journal = journalIn(folder);
  const counter = new FleetCounter();
  for await (const summary of readResults(journal)) counter.see(summary);
  const totals = counter.totals();
  let damaged = 0;
  const sites = [...(await readSites(journal, () => void (damaged += 1))).values()];
  const owner = ownerOf(path.join(folder, lockName))?.pid;
  const active = sites.filter(({ state }) => state === "active");
  const running = owner === undefined ? 0 : active.length;
  const waiting = sites.length - totals.websites - running;
  const summary = path.join(folder, summaryName);
  const { malformed } = (existsSync(summary) ? JSON.parse(readFileSync(summary, "utf8")) : {}) as {
    malformed?: number;
  };
  if (asJson) {
    const rare = { ...defined({ malformed }), ...(damaged > 0 ? { damaged } : {}) };
    const oldest = running === 0 ? {} : oldestActive(active.map(({ startedAt }) => startedAt));
    stdout.write(`${jsonOf({ ...totals, running, waiting, ...oldest, process: owner ?? null, ...rare })}\n`);
  } else {
    const state = owner === undefined ? (waiting > 0 ? "stopped" : "finished") : `running (process ${owner})`;
    const left = `${counted(running, "website")} in progress, ${grouped(waiting)} waiting`;
    const faults = `${malformed ? `${malformedLines(malformed)}\n` : ""}${damaged > 0 ? `${damagedLines(damaged)}\n` : ""}`;
    stdout.write(`${state}: ${left}\n${faults}${fleetTable(totals)}`);
  }
  return exitCodes.complete;
}

/** How long the website that has been read longest has taken so far, in milliseconds. */
export function oldestActive(starts: Iterable<number>): { readonly oldestActive?: number } {
  const first = Math.min(...starts);
  return Number.isFinite(first) ? { oldestActive: Math.max(0, Date.now() - first) } : {};
}

export function malformedLines(count: number): string {
  return `${counted(count, "line")} of the list ${count === 1 ? "is not a website" : "are not websites"}`;
}

/** How many lines of a journal were skipped. */
export function damagedLines(count: number): string {
  return `${counted(count, "line")} of ${journalName} ${count === 1 ? "is" : "are"} damaged and ${count === 1 ? "was" : "were"} skipped`;
}
