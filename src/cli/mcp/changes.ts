// What changed on a website since an agent last asked. A comparison is written to a file, line by line, and answers are read from it. Once
// its last answer was sent, the file is renamed; until then, a call without a cursor repeats the list, so no change is lost. Several agents
// may share the file: the renamed one serves those that are still reading it, until the next list replaces it.
import { existsSync, linkSync, renameSync, rmSync, type Stats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { ChangesRun, type WebsiteChange } from "../../diff/changes.ts";
import { SitemapError } from "../../model/errors.ts";
import type { CrawlEvent } from "../../model/event.ts";
import { counted } from "../../model/figures.ts";
import { AtomicFile } from "../../storage/atomic-file.ts";
import type { ChangeWriter } from "../../write/changes.ts";
import { jsonOf } from "../../write/printable.ts";
import { writeChanges } from "../output/changes.ts";
import { type Answer, Bounded, cursorOf, listed, placeIn, unlessComplete } from "./answers.ts";
import { type KeptSite, NoAnswer, notRead, type Sites, whenFree } from "./sites.ts";

/** The first line of the file with the changes. */
interface ListHeader {
  /** Whether there was no earlier state. */
  readonly isFirst: boolean;
  /** Whether all sitemaps could be read. Unreadable ones keep their last known state. */
  readonly complete: boolean;
  /** ISO 8601: when the website was crawled. */
  readonly crawledAt: string;
}

/** Lists the changes since the last time; with a cursor, the next ones of the same list. */
export async function changesSince(sites: Sites, site: string, cursor?: string): Promise<Answer> {
  const kept = sites.site(site);
  if (cursor === undefined) await whenFree(kept, () => compare(kept));
  for (const list of cursor === undefined ? [kept.list] : [kept.list, kept.delivered]) {
    const answer = await answerFrom(list, kept, cursor);
    if (answer !== undefined) return answer;
  }
  // Another server that shares the folder has just delivered the list.
  if (cursor === undefined) return changesSince(sites, site);
  throw new NoAnswer(
    "Cannot continue: the list of this cursor was read to its end and is no longer kept, or there was none. If you have not read all of it, the rest is not listed again: list_pages with `since` finds recent pages. Call the tool without a cursor for later changes",
  );
}

// Returns undefined if the file does not exist, or is not the list of the cursor.
async function answerFrom(list: string, kept: KeptSite, cursor: string | undefined): Promise<Answer | undefined> {
  const file = await open(list).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const id = idOf(await file.stat());
    const from = placeIn(cursor, id);
    if (from === undefined) return undefined;
    const found = new Bounded<object>();
    let header: ListHeader | undefined;
    let at = 0;
    for await (const line of file.readLines()) {
      if (header === undefined) header = JSON.parse(line) as ListHeader;
      else if (at++ >= from && !found.add(JSON.parse(line))) break;
    }
    if (header === undefined) throw new Error(`${list} is empty`);
    const hasMore = found.omitted > 0;
    const count = `${counted(found.items.length, "change")}${hasMore ? "; there are more" : ""}`;
    const text = header.isFirst ? "read for the first time; changes are listed from now on" : count;
    const facts = { ...header, changes: found.items, ...(hasMore && { nextCursor: cursorOf(id, at - 1) }) };
    // If the answer cannot be sent, the file stays, so that the next call repeats the list.
    const finish = () => {
      const now = statSync(kept.list, { throwIfNoEntry: false });
      if (now !== undefined && idOf(now) === id) renameSync(kept.list, kept.delivered);
    };
    return [text + unlessComplete(header.complete), facts, hasMore ? undefined : finish];
  } finally {
    await file.close();
  }
}

// Identifies a list in cursors, also after it was renamed.
function idOf({ mtimeMs }: Stats): number {
  return Math.trunc(mtimeMs);
}

// Unless a list is waiting, crawls the website, and writes the changes before it replaces the state: after a crash, they are listed again.
async function compare({ homepage, target, file, state, list, crawl }: KeptSite): Promise<void> {
  if (existsSync(list)) return;
  const isFirst = !existsSync(state);
  let complete = true;
  const onEvent = (event: CrawlEvent) => {
    if (event.type === "finished") ({ complete } = event);
  };
  const run = new ChangesRun(target, { ...crawl, state, first: "none", onEvent });
  const writer: ChangeWriter = {
    footer: "",
    header: () => `${jsonOf({ isFirst, complete, crawledAt: new Date().toISOString() } satisfies ListHeader)}\n`,
    write: (changes) =>
      (changes as readonly WebsiteChange[]).map((change) => `${jsonOf(listedChange(change))}\n`).join(""),
  };
  const lines = writeChanges(run.batches(), writer, () => {});
  const output = new AtomicFile(list);
  try {
    let step = await lines.next();
    for (; !step.done; step = await lines.next()) output.write(step.value);
    const { unreachable, kept } = step.value;
    if (unreachable !== undefined) throw notRead(homepage, unreachable.reason);
    // Another server held the lock first, and has written a list that was not delivered yet.
    if (existsSync(list)) return;
    output.commit();
    const before = statSync(state, { throwIfNoEntry: false })?.ino;
    run.commit();
    // The new state answers other questions, too, unless no sitemap was found, or documents of the last state stand in for today's.
    const isNew = statSync(state, { throwIfNoEntry: false })?.ino !== before;
    if (!isNew || !complete || kept.length > 0) return;
    const link = `${file}.${process.pid}`;
    rmSync(link, { force: true });
    linkSync(state, link);
    renameSync(link, file);
  } catch (error) {
    if (!(error instanceof SitemapError) || error.code !== "invalid-archive") throw error;
    rmSync(state, { force: true });
    throw new NoAnswer(`The saved state is damaged: ${error.message}. It was removed; changes are listed from now on`);
  } finally {
    await lines.return(undefined as never);
    output.discard();
    run.close();
  }
}

function listedChange(change: WebsiteChange): object {
  const { kind, page } = change;
  return { kind, page: listed(page), ...(change.kind === "changed" && { fields: change.fields }) };
}
