// `sitegrove fleet status DIR`: the state of a fleet by its journal, while it runs or after.
import { existsSync } from "node:fs";
import path from "node:path";
import { FolderLock } from "../../fleet/fleet-folder.ts";
import { journalName, lockName, readJournal, readResults } from "../../fleet/journal-file.ts";
import { counted } from "../../model/figures.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { FleetCounter, fleetTable } from "./totals.ts";

/** Returns the exit code. */
export async function fleetStatus(folder: string, asJson: boolean, { stdout }: Context): Promise<number> {
  const journal = path.join(folder, journalName);
  if (!existsSync(journal)) throw new UsageError(`${folder} is not the folder of a fleet: it has no ${journalName}`);
  const counter = new FleetCounter();
  for await (const summary of readResults(journal)) counter.see(summary);
  const totals = counter.totals();
  const { sites, begun, suspects, damaged } = await states(journal);
  const process_ = FolderLock.owner(path.join(folder, lockName));
  const running = process_ === undefined ? 0 : begun;
  const waiting = sites - totals.websites - running;
  // Those that were being read when the last process died are read again in small groups, too.
  const again = suspects + begun - running;
  if (asJson) {
    const state = {
      running,
      waiting,
      process: process_ ?? null,
      ...(again > 0 ? { again } : {}),
      ...(damaged > 0 ? { damaged } : {}),
    };
    stdout.write(`${jsonOf({ ...totals, ...state })}\n`);
  } else {
    const state = process_ === undefined ? (waiting > 0 ? "stopped" : "finished") : `running (process ${process_})`;
    const inGroups = again > 0 ? `, ${again} of them to be read again in small groups, because a process died` : "";
    const left = `${counted(running, "website")} being read, ${counted(waiting, "website")} waiting${inGroups}`;
    const faults = damaged > 0 ? `${damagedLines(damaged)}\n` : "";
    stdout.write(`${state}: ${left}\n${faults}${fleetTable(totals)}`);
  }
  return exitCodes.complete;
}

/** How many lines of a journal were skipped. */
export function damagedLines(count: number): string {
  return `${counted(count, "line")} of ${journalName} ${count === 1 ? "is" : "are"} damaged and ${count === 1 ? "was" : "were"} skipped`;
}

async function states(journal: string): Promise<{ sites: number; begun: number; suspects: number; damaged: number }> {
  const sites = new Set<string>();
  const begun = new Set<string>();
  const suspects = new Set<string>();
  let damaged = 0;
  const onDamaged = () => {
    damaged += 1;
  };
  for await (const line of readJournal(journal, onDamaged)) {
    const { type, key } = line;
    // Where the line that added a website is damaged, any other tells of it, too.
    sites.add(key);
    if (type === "start") begun.add(key);
    else if (type !== "add") begun.delete(key);
    if (type === "back" && line.group !== undefined) suspects.add(key);
    else suspects.delete(key);
  }
  return { sites: sites.size, begun: begun.size, suspects: suspects.size, damaged };
}
