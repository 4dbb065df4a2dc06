// What changed on a website since an agent last asked. The list is read from the running comparison, answer by answer. The state is replaced
// after the last answer was delivered, so that changes that the agent did not receive are listed again.
import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { type Changes, changes, type WebsiteChange } from "../../diff/changes.ts";
import { SitemapError } from "../../model/errors.ts";
import type { CrawlEvent } from "../../model/event.ts";
import { Bounded, cursorOf, type Delivered, type ListedPage, listed, placeIn } from "./answers.ts";
import { type KeptSite, NoAnswer, notRead, type Sites, whenFree } from "./sites.ts";

export interface ListedChanges {
  readonly isFirst: boolean;
  /** Whether all sitemaps could be read this time. The others keep their last known state. */
  readonly complete: boolean;
  readonly changes: readonly {
    readonly kind: string;
    readonly page: ListedPage;
    readonly fields?: readonly string[];
  }[];
  readonly nextCursor?: string;
}

interface OpenList {
  readonly id: number;
  readonly found: Changes;
  readonly items: AsyncIterator<WebsiteChange>;
  readonly isFirst: boolean;
  complete: boolean;
  /** A change that was read, but not listed yet. */
  next: WebsiteChange | undefined;
  sent: number;
  /** The last answer, in case the agent asks for it again. */
  last: { readonly from: number; readonly answer: ListedChanges } | undefined;
  /** Set once the last answer is on its way. Settles when it was delivered, or could not be. */
  ending?: Promise<void>;
  readonly timer: NodeJS.Timeout;
}

// A list that nobody continues is closed after this long, in milliseconds, because it holds the lock of its website.
const longestPause = 10 * 60_000;

export type DeliveredChanges = readonly [facts: ListedChanges, delivered?: Delivered];

/** Lists the changes since the last time; with a cursor, the next ones of the same list. `delivered` is to be called once the answer was sent. */
export class ChangeLists {
  readonly #sites: Sites;
  readonly #open = new Map<string, OpenList>();

  constructor(sites: Sites) {
    this.#sites = sites;
  }

  async list(site: string, cursor: string | undefined): Promise<DeliveredChanges> {
    const kept = this.#sites.site(site);
    let list = this.#open.get(kept.file);
    if (cursor === undefined) {
      await this.close(site);
      await this.#sites.once(kept, "changes", async () => void this.#open.set(kept.file, await this.#begin(kept)));
      list = this.#open.get(kept.file);
    }
    if (list === undefined) throw new NoAnswer("There is no list of changes; call it without a cursor");
    const [from = 0] = cursor === undefined ? [] : placeIn(cursor, list.id, "list");
    if (list.last?.from === from) return [list.last.answer];
    if (from !== list.sent) throw new NoAnswer("The cursor belongs to an earlier answer; call it without a cursor");
    const answer = await this.#answer(list, from);
    if (answer.nextCursor !== undefined) return [answer];
    let settle = () => {};
    list.ending = new Promise((resolve) => (settle = resolve));
    return [answer, async (wasSent) => (wasSent ? this.#commit(kept, list) : undefined)?.finally(settle) ?? settle()];
  }

  /** Ends a list early, so that the website can be read again. */
  async close(site: string): Promise<void> {
    const { file } = this.#sites.site(site);
    const list = this.#open.get(file);
    await list?.ending;
    if (list !== undefined && this.#open.get(file) === list) await this.#discard(file, list);
  }

  /** Ends all lists when the server ends. */
  closeAll(): void {
    for (const [file, list] of this.#open) if (list.ending === undefined) void this.#discard(file, list);
  }

  async #discard(file: string, list: OpenList): Promise<void> {
    this.#open.delete(file);
    clearTimeout(list.timer);
    await list.items.return?.();
    await list.found.close();
  }

  async #begin({ homepage, target, file, state, crawl }: KeptSite): Promise<OpenList> {
    const isFirst = !existsSync(state) && !existsSync(file);
    return whenFree(async () => {
      if (!existsSync(state) && existsSync(file)) linkSync(file, state);
      let complete = true;
      const onEvent = (event: CrawlEvent) => {
        if (event.type === "finished") ({ complete } = event);
      };
      const found = changes(target, { ...crawl, state, first: "none", onEvent });
      const items = found[Symbol.asyncIterator]();
      try {
        const { value } = await items.next();
        const timer = setTimeout(() => void this.close(homepage), longestPause).unref();
        return { id: Date.now(), found, items, isFirst, complete, next: value, sent: 0, last: undefined, timer };
      } catch (error) {
        await found.close();
        throw error instanceof SitemapError && error.problem ? notRead(homepage, error.problem) : error;
      }
    });
  }

  async #answer(list: OpenList, from: number): Promise<ListedChanges> {
    const chosen = new Bounded<ListedChanges["changes"][number]>();
    while (list.next !== undefined) {
      const { kind, page } = list.next;
      const fields = list.next.kind === "changed" ? { fields: list.next.fields } : {};
      if (!chosen.add({ kind, page: listed(page), ...fields })) break;
      list.sent += 1;
      list.next = (await list.items.next()).value;
    }
    const more = list.next !== undefined && { nextCursor: cursorOf(list.id, list.sent) };
    const answer = { isFirst: list.isFirst, complete: list.complete, changes: chosen.items, ...more };
    list.last = { from, answer };
    return answer;
  }

  // Replaces the state. From now on, these changes are known, and other questions are answered from the new archive.
  async #commit({ file, state }: KeptSite, list: OpenList): Promise<void> {
    if (this.#open.get(file) !== list) return;
    this.#open.delete(file);
    clearTimeout(list.timer);
    const before = statSync(state, { throwIfNoEntry: false })?.ino;
    await list.found.commit();
    // If no sitemap was found, the state has not changed.
    if (statSync(state, { throwIfNoEntry: false })?.ino === before) return;
    const link = `${file}.${process.pid}`;
    rmSync(link, { force: true });
    linkSync(state, link);
    renameSync(link, file);
  }
}
