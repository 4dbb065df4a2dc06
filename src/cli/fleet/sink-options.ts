// What is written for each website of a fleet, from the flags of `fleet`.
import { existsSync } from "node:fs";
import path from "node:path";
import { journalName, readResults } from "../../fleet/journal-file.ts";
import { UsageError } from "../exit-codes.ts";
import type { FleetFlags } from "./fleet.ts";
import type { FolderSinkOptions } from "./sink.ts";

export async function outputsOf(flags: FleetFlags): Promise<Omit<FolderSinkOptions, "folder">> {
  const { format, archives = false, previous, check } = flags;
  return {
    format,
    archives,
    previous: previous === undefined ? undefined : await archivesOf(previous),
    check: check ? (await import("../../check/check-tree.ts")).checkTree : undefined,
  };
}

// The archives of an earlier run, by the key of their website.
async function archivesOf(folder: string): Promise<Map<string, string>> {
  const journal = path.join(folder, journalName);
  if (!existsSync(journal)) throw new UsageError(`${folder} is not the folder of a fleet: it has no ${journalName}`);
  const archives = new Map<string, string>();
  for await (const { key, files } of readResults(journal)) {
    const { archive } = files as { archive?: string };
    // One that is missing is reported where it is needed.
    if (archive !== undefined) archives.set(key, path.join(folder, archive));
  }
  if (![...archives.values()].some((file) => existsSync(file)))
    throw new UsageError(`${folder} has no archives: the earlier run needs --archives`);
  return archives;
}
