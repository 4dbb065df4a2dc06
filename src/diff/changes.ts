// Lists what changed on a website since the last run: compares a crawl with the state that the last run saved, and saves the next state,
// which is an archive. Documents that cannot be read today are taken from the last state, so their pages are not reported as removed.
import { existsSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { openArchive } from "../archive/reader.ts";
import { type CrawlTarget, flatten } from "../crawl/crawl.ts";
import { PageFilter } from "../crawl/page-filter.ts";
import { checkTarget, prepare } from "../crawl/prepare.ts";
import type { AddedPage, ChangedPage, ExpiredPage, PageChange, RemovedPage, TreeChange } from "../model/change.ts";
import { SitemapError, systemReason } from "../model/errors.ts";
import type { UnreachableWebsite } from "../model/event.ts";
import { path as checkPath, expectKnown, invalid, oneOf, strings } from "../model/option-checks.ts";
import { crawlOptionsIn, type Options, resolveOptions, resolvePageFilters } from "../model/options.ts";
import { replaceFile } from "../storage/atomic-file.ts";
import { invalidArchive, storageFailed } from "../storage/file.ts";
import { FileLock } from "../storage/lock.ts";
import { openTreeWhile } from "../tree/build.ts";
import { robotsOf } from "../tree/tree.ts";
import { compareSides } from "./compare-sides.ts";
import { emptySide } from "./diff-side.ts";
import { certainty } from "./evidence.ts";
import { HeldPages } from "./held-pages.ts";
import { type Judge, KnownSide, StateSide } from "./known-side.ts";
import { type Known, readKnown, type State, withoutBudgets } from "./known-tree.ts";
import { type DiffOptions, type DiffSettings, resolveDiffOptions } from "./settings.ts";

/** A change that `changes` lists. */
export type WebsiteChange = AddedPage | ChangedPage | RemovedPage | ExpiredPage;

/** Options of `changes`, including those of its crawl, except what `state` replaces. */
export interface ChangesOptions extends Omit<DiffOptions, "only" | "column" | "onFinished" | "previous"> {
  /**
   * The kinds of changes to list.
   * @default added, changed, removed
   */
  only?: readonly WebsiteChange["kind"][] | undefined;
  /** The archive saved by the last run, which `commit()` replaces. The first run creates it. */
  state: string;
  /**
   * What the first run lists: every page (as added) or nothing.
   * @default "all"
   */
  first?: "all" | "none" | undefined;
  /** Lists added and changed pages only if the robots.txt of their host allows this crawler, such as `GPTBot`. */
  allowedFor?: string | undefined;
}

/** The changes since the last run, to be read in one loop. */
export interface Changes extends AsyncIterable<WebsiteChange>, AsyncDisposable {
  /**
   * After the loop: how many pages seem to be removed, but were not listed, because a document that could list them was not fully read. The
   * first run that reads everything lists them, unless it finds them.
   */
  readonly uncertain: number;
  /** Saves the new state. Call it after the loop, or the next run lists the same changes again. Throws if the loop was left early. */
  commit(): Promise<void>;
  /** Releases the state without changing it. Needed only if the loop finished and you do not commit. */
  close(): Promise<void>;
}

/**
 * Lists the pages that were added, changed or removed since the last run. If a sitemap cannot be read, its last known state is kept, and
 * until everything can be read, no page is listed as removed. If no sitemap is found, nothing is listed, and the state is kept.
 *
 * @example
 * await using found = changes("https://example.org/", { state: "site.warc.gz" });
 * for await (const change of found) console.log(change.kind, change.page.url);
 * await found.commit();
 */
export function changes(target: CrawlTarget, options: ChangesOptions): Changes {
  const run = new ChangesRun(target, options);
  let uncertain = 0;
  const reported = async function* () {
    const end = yield* run.batches();
    const { unreachable } = end;
    ({ uncertain } = end);
    if (unreachable === undefined) return;
    const { outcome, reason: problem } = unreachable;
    const { message, cause } = problem;
    throw new SitemapError("unreachable", `Nothing could be read: ${message}`, { cause, problem, outcome });
  };
  let first: ReturnType<typeof flatten> | undefined;
  async function close(): Promise<void> {
    run.close();
    // The caller may have called `next()` without a loop, which would have ended the iterator.
    await first?.return();
  }
  return {
    get uncertain() {
      return uncertain;
    },
    [Symbol.asyncIterator]() {
      const iterator = flatten(reported());
      first ??= iterator;
      return iterator as AsyncIterator<WebsiteChange>;
    },
    commit: async () => run.commit(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What is known at the end of a run. */
export interface ChangesEnd {
  /** Why nothing could be read from the website; undefined if something was read. */
  readonly unreachable?: UnreachableWebsite | undefined;
  readonly uncertain: number;
  /** How many of the uncertain pages will not be listed later, because there are too many to remember. */
  readonly forgotten: number;
  /** The URLs of documents whose last known state is kept, because they could not be read, were not found, or lost entries. */
  readonly kept: readonly string[];
  /** The filter of `allowedFor`, which counts the pages that it skips. */
  readonly filter: PageFilter;
  /** How many pages of the website were compared. */
  readonly pages: number;
}

const websiteKinds: readonly WebsiteChange["kind"][] = ["added", "changed", "removed", "expired"];
// The crawl options that `state` replaces.
const replacedOptions = ["save", "resume", "previous"] as const;

export class ChangesRun {
  readonly #target: CrawlTarget;
  readonly #crawl: Options;
  readonly #settings: DiffSettings;
  readonly #listsFirst: boolean;
  readonly #filter: PageFilter;
  /** The path of the state as given, for messages. */
  readonly #name: string;
  readonly #state: string;
  // Temporary archives next to the state: today's documents, and those merged with the last state. A run deletes leftovers of a killed
  // one.
  readonly #received: string;
  readonly #merged: string;
  #lock: FileLock | undefined;
  /** What to close at the end of `batches`. */
  readonly #opened: { close(): Promise<void> }[] = [];
  /** The archive that `commit()` makes the next state. */
  #next: string | undefined;
  // A run is `done` once it is committed, or if it has nothing to commit.
  #phase: "new" | "running" | "listed" | "done" | "closed" = "new";

  constructor(target: CrawlTarget, options: ChangesOptions) {
    const { state, first = "all", only = websiteKinds.slice(0, 3), allowedFor, ...diff } = options;
    checkTarget(target);
    const own = ["state", "first", "only", "ignore", "include", "exclude", "signal", "allowedFor"];
    const crawl = crawlOptionsIn(options, own);
    const taken = replacedOptions.find((name) => crawl[name] !== undefined);
    if (taken !== undefined) throw invalid(`\`${taken}\` cannot be combined with \`state\``);
    this.#listsFirst = oneOf(["all", "none"])("first", first) === "all";
    for (const kind of strings("only", only)) expectKnown("kind of change", kind, websiteKinds);
    this.#filter = new PageFilter(resolvePageFilters({ allowedFor }));
    this.#settings = resolveDiffOptions({ ...diff, only });
    this.#target = target;
    resolveOptions(crawl);
    this.#crawl = { ...crawl, signal: diff.signal };
    this.#name = checkPath("state", state);
    this.#state = existsSync(state) ? realpathSync(state) : path.resolve(state);
    const beside = (prefix: string) => path.join(path.dirname(this.#state), prefix + path.basename(this.#state));
    this.#received = beside("unfinished.");
    this.#merged = beside("unfinished.known.");
  }

  /** Yields the changes in batches. If the caller leaves the loop early, the state is kept. */
  async *batches(): AsyncGenerator<readonly TreeChange[], ChangesEnd> {
    if (this.#phase !== "new") throw invalid("Changes can be iterated only once");
    this.#phase = "running";
    const held = new HeldPages(resolveOptions(this.#crawl).limits.documentEntries);
    this.#opened.push(held);
    try {
      this.#takeLock();
      const state = await this.#openState();
      const files = { received: this.#received, merged: this.#merged, state: this.#state };
      const known = await readKnown(this.#target, this.#crawl, files, state, (tree) => this.#opened.push(tree));
      const { tree, file, kept, notes } = known;
      // If no sitemap could be read, the state is kept.
      if (file === undefined) {
        this.#phase = "done";
        return { unreachable: tree.unreachable, uncertain: 0, forgotten: 0, kept: [], pages: 0, filter: this.#filter };
      }
      const isListed = state !== undefined || this.#listsFirst;
      const pages = isListed ? tree.pageCount : 0;
      const uncertain = isListed ? yield* this.#compare(state, known, held) : 0;
      await tree.close();
      await held.save(file, notes);
      this.#next = file;
      this.#phase = "listed";
      return { uncertain, forgotten: held.omitted, kept, pages, filter: this.#filter };
    } catch (error) {
      this.#settings.signal?.throwIfAborted();
      throw error;
    } finally {
      for (const each of this.#opened.splice(0)) await each.close();
      if (this.#phase !== "listed") this.close();
    }
  }

  // Compares what was known with what is known now. Holds pages back if it is not certain that they are gone, and returns their number.
  async *#compare(
    state: State | undefined,
    { tree, seesAll }: Known,
    held: HeldPages,
  ): AsyncGenerator<readonly PageChange[], number> {
    const { kinds, include } = this.#settings;
    const lacks = certainty(tree);
    let uncertain = 0;
    const judge: Judge = {
      isGone: (list, skipped) => seesAll && lacks(list, skipped),
      async hold(batch) {
        await held.add(batch);
        if (kinds.has(batch.kind)) uncertain += batch.pages.length;
      },
    };
    await this.#filter.begin(tree.homepage, robotsOf(tree));
    // Pages are also held back if their removal would not be listed today.
    const settings = { ...this.#settings, kinds: new Set([...kinds, "removed", "expired"] as const) };
    const before = state === undefined ? emptySide : new StateSide(state.tree, state.held, judge);
    for await (const found of compareSides(before, new KnownSide(tree), settings)) {
      const listed = (found as readonly PageChange[]).filter(({ kind }) => kinds.has(kind));
      if (listed.length > 0) yield this.#filter.passesAll ? listed : await this.#allowed(listed);
    }
    if (include === undefined) return uncertain;
    // Held pages that today's filter leaves out were not compared.
    for await (const [, batch] of state?.held ?? []) {
      const pages = batch.pages.filter(({ url }) => !include(url));
      if (!judge.isGone(batch, batch.skipped)) await held.add({ ...batch, pages });
    }
    return uncertain;
  }

  async #allowed(changes: readonly PageChange[]): Promise<readonly PageChange[]> {
    const present = changes.filter((change) => !isRemoval(change));
    const allowed = new Set(await this.#filter.pages(present.map(({ page }) => page)));
    return changes.filter((change) => isRemoval(change) || allowed.has(change.page));
  }

  /** Replaces the state on disk with the next one, in a single rename. */
  commit(): void {
    if (this.#phase === "done") return;
    if (this.#phase !== "listed" || this.#next === undefined)
      throw invalid("Call `commit()` after the loop has finished");
    if (this.#lock?.isOurs() !== true) throw inUse(this.#name, "Another process");
    try {
      replaceFile(this.#next, this.#state);
      this.#phase = "done";
    } catch (error) {
      throw storageFailed(`${this.#name} could not be replaced`, error);
    } finally {
      this.close();
    }
  }

  /** Deletes the temporary archives and releases the lock. Does not change the state. */
  close(): void {
    if (this.#phase !== "done") this.#phase = "closed";
    if (this.#lock === undefined) return;
    for (const file of [this.#received, this.#merged]) rmSync(file, { force: true });
    this.#lock.release();
    this.#lock = undefined;
  }

  #takeLock(): void {
    try {
      this.#lock = FileLock.acquire(`${this.#state}.lock`, (owner) => inUse(this.#name, owner));
    } catch (cause) {
      if (cause instanceof SitemapError) throw cause;
      const sentence = `${this.#name} cannot be written: ${systemReason(cause)}`;
      throw new SitemapError("archive-unwritable", sentence, { cause });
    }
    for (const file of [this.#received, this.#merged]) rmSync(file, { force: true });
  }

  // Opens the state, if there is one. Throws a `SitemapError` (`invalid-archive`) unless one of our runs wrote it, for this website, and it
  // is undamaged.
  async #openState(): Promise<State | undefined> {
    if (!existsSync(this.#state)) return undefined;
    const { limits, signal } = this.#crawl;
    const archive = await openArchive(this.#state, { signal });
    this.#opened.push(archive);
    const { info, finished, truncated, altered } = archive;
    if (info === undefined) throw invalidArchive(this.#name, "it was written by another tool, so it is not a state");
    if (!finished || truncated || altered) throw invalidArchive(this.#name, "it is cut off or damaged");
    const { start } = prepare(this.#target, this.#crawl);
    if (String(info.sitemaps) !== String(start.sitemaps)) {
      const [about, asked] = [info, start].map((each) => each.sitemaps?.join(" ") ?? each.homepage);
      throw new SitemapError("invalid-archive", `${this.#name} is the state of ${about}, not of ${asked}`);
    }
    const tree = await openTreeWhile(this.#state, { limits: withoutBudgets(limits), signal });
    this.#opened.push(tree);
    for (const { url, problem } of tree.problems()) {
      if (problem.code === "archive-digest")
        throw invalidArchive(this.#name, `it is damaged: ${problem.value ?? url} was altered`);
    }
    const held = new HeldPages();
    this.#opened.push(held);
    return { archive, tree, held, notes: await held.read(archive) };
  }
}

function inUse(name: string, owner: string): SitemapError {
  return new SitemapError("state-in-use", `${owner} is using ${name}; wait for it, or stop it`);
}

function isRemoval({ kind }: PageChange): boolean {
  return kind === "removed" || kind === "expired";
}
