// What changed on a website since an agent last asked: its archive is the state of `changes`. A run saves the list next to it, so that an
// agent can page through all of it, and nothing is lost if a run takes longer than a call may wait.
import { createReadStream, createWriteStream, existsSync, renameSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { changes } from "../../diff/changes.ts";
import { SitemapError } from "../../model/errors.ts";
import type { CrawlEvent } from "../../model/event.ts";
import { jsonOf } from "../../write/printable.ts";
import { Bounded, cursorOf, type ListedPage, listed, placeIn } from "./answers.ts";
import { type KeptSite, NoAnswer, notRead, type Sites } from "./sites.ts";

interface Change {
  readonly kind: "added" | "changed" | "removed";
  readonly page: ListedPage;
  /** What differs. */
  readonly fields?: readonly string[];
}

interface Head {
  readonly isFirst: boolean;
  /** Whether all sitemaps could be read this time. Of the others, the last known state is kept. */
  readonly complete: boolean;
}

export interface ListedChanges extends Head {
  readonly changes: readonly Change[];
  readonly nextCursor?: string;
}

/** The changes since the last time; with a cursor, the next ones of the same list. */
export function changeLists(sites: Sites): (site: string, cursor: string | undefined) => Promise<ListedChanges> {
  return async (site, cursor) => {
    const kept = sites.site(site);
    // A list that was not delivered yet, even by a server before this one; and the one that was.
    const [waiting, told] = ["waiting", "changes"].map((name) => `${kept.file}.${name}.ndjson`) as [string, string];
    if (cursor === undefined) {
      await sites.once(kept, "changes", async () => (existsSync(waiting) ? undefined : write(kept, waiting)));
      if (existsSync(waiting)) renameSync(waiting, told);
    }
    return read(told, cursor);
  };
}

// The first line says which list it is. It is complete before the state is replaced.
async function write({ homepage, file, before, crawl }: KeptSite, list: string): Promise<void> {
  const state = existsSync(before) ? before : file;
  const known = statSync(state, { throwIfNoEntry: false });
  const isFirst = known === undefined;
  let complete = true;
  const onEvent = (event: CrawlEvent) => {
    if (event.type === "finished") ({ complete } = event);
  };
  const found = changes(homepage, { state, first: "none", crawl: { ...crawl, onEvent } });
  const partial = `${list}.partial`;
  try {
    await pipeline(async function* () {
      // Known once the website was read, which is before its first change.
      let head = () => `${jsonOf({ isFirst, complete, id: Date.now() })}\n`;
      for await (const change of found) {
        const { kind, page } = change;
        const fields = change.kind === "changed" ? { fields: change.fields } : {};
        yield `${head()}${jsonOf({ kind, page: listed(page), ...fields })}\n`;
        head = () => "";
      }
      yield head();
    }, createWriteStream(partial));
    renameSync(partial, list);
    await found.commit();
    // If no sitemap was found, the state is as it was.
    if (state !== file && statSync(state).ino !== known?.ino) renameSync(state, file);
  } catch (error) {
    if (error instanceof SitemapError && error.problem !== undefined) throw notRead(homepage, error.problem);
    throw error;
  } finally {
    await found.close();
  }
}

async function read(file: string, cursor: string | undefined): Promise<ListedChanges> {
  if (!existsSync(file)) throw new NoAnswer("There is no list of changes; call it without a cursor");
  const found = new Bounded<Change>();
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let [id, head]: [number, Head] = [-1, { isFirst: false, complete: true }];
  let [number, skipped] = [0, 0];
  for await (const line of lines) {
    if (id < 0) {
      ({ id, ...head } = JSON.parse(line) as Head & { id: number });
      if (cursor !== undefined) [skipped = 0] = placeIn(cursor, id, "list");
    } else if (++number > skipped && !found.add(JSON.parse(line) as Change)) {
      return { ...head, changes: found.items, nextCursor: cursorOf(id, number - 1) };
    }
  }
  return { ...head, changes: found.items };
}
