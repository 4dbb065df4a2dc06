// The results in a journal: the last summary of each site.
import { readJournal } from "./journal-file.ts";
import type { SiteSummary } from "./site-job.ts";

/** The names of the journal and of its lock in the folder of a fleet. */
export const journalName = "sites.ndjson";
export const lockName = "lock";

/** The summaries in a journal, one for each site, also while a process works in its folder. */
export async function* readResults(file: string): AsyncGenerator<SiteSummary, void> {
  // A site that is read again has a later summary, or none yet.
  const last = new Map<string, number>();
  let number = 0;
  for await (const line of readJournal(file)) {
    const { type, key } = line;
    if (type === "done") last.set(key, number);
    if (type === "back") last.delete(key);
    number += 1;
  }
  number = 0;
  for await (const line of readJournal(file)) {
    if (line.type === "done" && last.get(line.key) === number) yield line.summary;
    number += 1;
  }
}
