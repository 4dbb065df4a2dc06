// What changed on a website since an agent last asked. A comparison is written to a file, line by line, and answers are read from it. The
// file is removed once its last answer was sent; until then, a call without a cursor repeats the list, so no change is lost.
import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
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
  const file = await open(kept.list).catch(() => undefined);
  // Another server that shares the folder has just delivered the list.
  if (file === undefined && cursor === undefined) return changesSince(sites, site);
  if (file === undefined) throw new NoAnswer("The list of changes is finished; call the tool without a cursor");
  try {
    const id = Math.trunc((await file.stat()).mtimeMs);
    const from = placeIn(cursor, id, "list");
    const found = new Bounded<object>();
    let header: ListHeader | undefined;
    let at = 0;
    for await (const line of file.readLines()) {
      if (header === undefined) header = JSON.parse(line) as ListHeader;
      else if (at++ >= from && !found.add(JSON.parse(line))) break;
    }
    if (header === undefined) throw new Error(`${kept.list} is empty`);
    const hasMore = found.omitted > 0;
    const count = `${counted(found.items.length, "change")}${hasMore ? "; there are more" : ""}`;
    const text = header.isFirst ? "read for the first time; changes are listed from now on" : count;
    const facts = { ...header, changes: found.items, ...(hasMore && { nextCursor: cursorOf(id, at - 1) }) };
    // If the answer cannot be sent, the file stays, so that the next call repeats the list.
    const remove = () => rmSync(kept.list, { force: true });
    return [text + unlessComplete(header.complete), facts, hasMore ? undefined : remove];
  } finally {
    await file.close();
  }
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
