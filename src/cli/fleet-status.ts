// `sitegrove fleet status DIR`: what the journal says, while somebody writes it or after.
import { existsSync } from "node:fs";
import path from "node:path";
import { counted } from "../figures.ts";
import { FolderLock } from "../fleet/folder-lock.ts";
import { readJournal } from "../fleet/journal-file.ts";
import { journalName, lockName, readResults } from "../fleet/journal-queue.ts";
import { exitCodes, UsageError } from "./exit-codes.ts";
import { FleetCounter, fleetTable } from "./fleet-totals.ts";

/** Returns the exit code. */
export async function fleetStatus(folder: string, asJson: boolean): Promise<number> {
  const journal = path.join(folder, journalName);
  if (!existsSync(journal)) throw new UsageError(`${folder} is not the folder of a fleet: it has no ${journalName}`);
  const counter = new FleetCounter();
  for await (const summary of readResults(journal)) counter.see(summary);
  const totals = counter.totals();
  const { sites, begun } = await states(journal);
  const process_ = FolderLock.owner(path.join(folder, lockName));
  const running = process_ === undefined ? 0 : begun;
  const waiting = sites - totals.websites - running;
  if (asJson) {
    process.stdout.write(`${JSON.stringify({ ...totals, running, waiting, process: process_ ?? null })}\n`);
  } else {
    const state = process_ === undefined ? (waiting > 0 ? "stopped" : "finished") : `running (process ${process_})`;
    const left = `${counted(running, "website")} being read, ${counted(waiting, "website")} waiting`;
    process.stdout.write(`${state}: ${left}\n${fleetTable(totals)}`);
  }
  return exitCodes.complete;
}

async function states(journal: string): Promise<{ sites: number; begun: number }> {
  const sites = new Set<string>();
  const begun = new Set<string>();
  for await (const { type, key } of readJournal(journal)) {
    if (typeof key !== "string") continue;
    if (type === "add") sites.add(key);
    else if (type === "start") begun.add(key);
    else begun.delete(key);
  }
  return { sites: sites.size, begun: begun.size };
}
