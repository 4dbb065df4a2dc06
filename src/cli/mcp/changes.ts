// What changed on a website since an agent last asked: its archive is the state of `changes`. A run saves the list next to it, so that an
// agent can page through all of it, and nothing is lost if a run takes longer than a call may wait.
import { createReadStream, createWriteStream, existsSync, renameSync } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { changes } from "../../diff/changes.ts";
import { jsonOf } from "../../write/printable.ts";
import { Bounded, cursorOf, type ListedPage, listed, placeIn } from "./answers.ts";
import { type KeptSite, NoAnswer, type Sites } from "./sites.ts";

interface Change {
  readonly kind: "added" | "changed" | "removed";
  readonly page: ListedPage;
  /** What differs. */
  readonly fields?: readonly string[];
}

export interface ListedChanges {
  readonly isFirst: boolean;
  readonly changes: readonly Change[];
  readonly nextCursor?: string;
}

/** The changes since the last time; with a cursor, the next ones of the same list. */
export function changeLists(sites: Sites): (site: string, cursor: string | undefined) => Promise<ListedChanges> {
  // Lists that were not delivered.
  const waiting = new Set<string>();
  return async (site, cursor) => {
    const kept = sites.site(site);
    const file = `${kept.file}.changes.ndjson`;
    if (cursor === undefined && (sites.isBusy(kept) || !waiting.has(file))) {
      waiting.add(file);
      try {
        await sites.once(kept, "changes", () => write(kept, file));
      } catch (error) {
        if (!sites.isBusy(kept)) waiting.delete(file);
        throw error;
      }
    }
    const answer = await read(file, cursor);
    waiting.delete(file);
    return answer;
  };
}

// The first line says which list it is. It is complete before the state is replaced.
async function write({ homepage, file, before, crawl }: KeptSite, list: string): Promise<void> {
  if (existsSync(before)) renameSync(before, file);
  const isFirst = !existsSync(file);
  const found = changes(homepage, { state: file, first: "none", crawl });
  const partial = `${list}.partial`;
  try {
    await pipeline(async function* () {
      yield `${jsonOf({ isFirst, id: Date.now() })}\n`;
      for await (const change of found) {
        const { kind, page } = change;
        const fields = change.kind === "changed" ? { fields: change.fields } : {};
        yield `${jsonOf({ kind, page: listed(page), ...fields })}\n`;
      }
    }, createWriteStream(partial));
    renameSync(partial, list);
    await found.commit();
  } finally {
    await found.close();
  }
}

async function read(file: string, cursor: string | undefined): Promise<ListedChanges> {
  if (!existsSync(file)) throw new NoAnswer("There is no list of changes; call it without a cursor");
  const found = new Bounded<Change>();
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let head: { readonly isFirst: boolean; readonly id: number } | undefined;
  let [number, skipped] = [0, 0];
  for await (const line of lines) {
    if (head === undefined) {
      head = JSON.parse(line) as { isFirst: boolean; id: number };
      if (cursor !== undefined) [skipped = 0] = placeIn(cursor, head.id, "list");
    } else if (++number > skipped && !found.add(JSON.parse(line) as Change)) {
      return { isFirst: head.isFirst, changes: found.items, nextCursor: cursorOf(head.id, number - 1) };
    }
  }
  return { isFirst: head?.isFirst ?? false, changes: found.items };
}
