// Lists what changed on a website since the last run: compares a crawl with the state that the last run saved, and saves the next state,
// which is an archive. Documents that cannot be read today are taken from the last state, so their pages are not reported as removed.
import { existsSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Archive, openArchive } from "../archive/reader.ts";
import { type CrawlTarget, flatten } from "../crawl/crawl.ts";
import { PageFilter } from "../crawl/page-filter.ts";
import { checkTarget, prepare } from "../crawl/prepare.ts";
import type { AddedPage, ChangedPage, ExpiredPage, PageChange, RemovedPage, TreeChange } from "../model/change.ts";
import { defined } from "../model/defined.ts";
import { SitemapError, systemReason } from "../model/errors.ts";
import type { UnreachableWebsite } from "../model/event.ts";
import type { DocumentRequest, DocumentSource } from "../model/exchange.ts";
import { withFixedLimits } from "../model/fixed-limits.ts";
import { path as checkPath, expectKnown, invalid, oneOf, strings } from "../model/option-checks.ts";
import { crawlOptionsIn, type Options, resolveOptions, resolvePageFilters } from "../model/options.ts";
import { defaultLimits } from "../model/parse-options.ts";
import { isComplete } from "../model/problem.ts";
import { isReadSitemap, problemsOf } from "../model/sitemap.ts";
import { urlKey } from "../model/url.ts";
import { replaceFile } from "../storage/atomic-file.ts";
import { invalidArchive, storageFailed } from "../storage/file.ts";
import { FileLock } from "../storage/lock.ts";
import { buildTreeWhile, openTreeWhile } from "../tree/build.ts";
import { robotsOf, type SitemapTree } from "../tree/tree.ts";
import { compareSides } from "./compare-sides.ts";
import { emptySide, isOpenEnded, type SideFacts } from "./diff-side.ts";
import { Evidence, isUnread } from "./evidence.ts";
import type { PageLists } from "./page-lists.ts";
import { type DiffOptions, type DiffSettings, resolveDiffOptions } from "./settings.ts";
import { declaredKey, TreeSide } from "./tree-side.ts";

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
  /** Saves the new state. Call it after the loop, or the next run lists the same changes again. Throws if the loop was left early. */
  commit(): Promise<void>;
  /** Releases the state without changing it. Needed only if the loop finished and you do not commit. */
  close(): Promise<void>;
}

/**
 * Lists the pages that were added, changed or removed since the last run. If a sitemap cannot be read, its last known state is kept: its
 * pages are not reported as removed. If no sitemap is found, nothing is listed, and the state is kept.
 *
 * @example
 * await using found = changes("https://example.org/", { state: "site.warc.gz" });
 * for await (const change of found) console.log(change.kind, change.page.url);
 * await found.commit();
 */
export function changes(target: CrawlTarget, options: ChangesOptions): Changes {
  const run = new ChangesRun(target, options);
  const reported = async function* () {
    const { unreachable } = yield* run.batches();
    if (unreachable === undefined) return;
    const { outcome, reason: problem } = unreachable;
    const { message, cause } = problem;
    throw new SitemapError("unreachable", `Nothing could be read: ${message}`, { cause, problem, outcome });
  };
  return {
    [Symbol.asyncIterator]: () => flatten(reported()) as AsyncIterator<WebsiteChange>,
    commit: async () => run.commit(),
    close: async () => run.close(),
    [Symbol.asyncDispose]: async () => run.close(),
  };
}

/** What is known at the end of a run. */
export interface ChangesEnd {
  /** Why nothing could be read from the website; undefined if something was read. */
  readonly unreachable?: UnreachableWebsite | undefined;
  /** How many pages seem to be removed, but were not listed, because a document that may still list them was not fully read. */
  readonly uncertain: number;
  /** The URLs of documents whose last known state is kept, because they could not be read, were not found, or lost entries. */
  readonly kept: readonly string[];
  /** The filter of `allowedFor`, which counts the pages that it skips. */
  readonly filter: PageFilter;
  /** How many pages of the website were compared. */
  readonly pages: number;
}

interface State {
  readonly archive: Archive;
  readonly tree: SitemapTree;
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
  #kept: readonly string[] = [];
  #lock: FileLock | undefined;
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
    // Removes leading `/` and `./`, because `replacedMark` and `robotsMark` use them.
    const extraKnownPaths = resolveOptions(crawl).extraKnownPaths.map((path) => path.replace(/^(?:\.?\/)+/, ""));
    this.#crawl = { ...crawl, extraKnownPaths, signal: diff.signal };
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
    let state: State | undefined;
    let tree: SitemapTree | undefined;
    try {
      this.#takeLock();
      state = await this.#openState();
      tree = await this.#visit(state);
      // If no sitemap could be read, the state is kept.
      if (![...tree.sitemaps()].some(isReadSitemap)) {
        this.#phase = "done";
        return { unreachable: tree.unreachable, uncertain: 0, kept: [], pages: 0, filter: this.#filter };
      }
      let [uncertain, pages] = [0, 0];
      if (state !== undefined || this.#listsFirst) {
        pages = tree.pageCount;
        const isCertain = certainty(tree);
        await this.#filter.begin(tree.homepage, robotsOf(tree));
        const before = state === undefined ? emptySide : new KnownSide(state.tree);
        for await (const found of compareSides(before, new KnownSide(tree), this.#settings)) {
          const certain = (found as readonly PageChange[]).filter((change) => isCertain(change));
          uncertain += found.length - certain.length;
          yield this.#filter.passesAll ? certain : await this.#allowed(certain);
        }
      }
      this.#phase = "listed";
      return { uncertain, kept: this.#kept, pages, filter: this.#filter };
    } catch (error) {
      this.#settings.signal?.throwIfAborted();
      throw error;
    } finally {
      await tree?.close();
      await state?.tree.close();
      await state?.archive.close();
      if (this.#phase !== "listed") this.close();
    }
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
    let tree: SitemapTree | undefined;
    try {
      const { info, finished, truncated, altered } = archive;
      if (info === undefined) throw invalidArchive(this.#name, "it was written by another tool, so it is not a state");
      if (!finished || truncated || altered) throw invalidArchive(this.#name, "it is cut off or damaged");
      const { start } = prepare(this.#target, this.#crawl);
      if (String(info.sitemaps) !== String(start.sitemaps)) {
        const [about, asked] = [info, start].map((each) => each.sitemaps?.join(" ") ?? each.homepage);
        throw new SitemapError("invalid-archive", `${this.#name} is the state of ${about}, not of ${asked}`);
      }
      tree = await openTreeWhile(this.#state, { limits: withoutBudgets(limits), signal });
      for (const { url, problem } of tree.problems()) {
        if (problem.code === "archive-digest")
          throw invalidArchive(this.#name, `it is damaged: ${problem.value ?? url} was altered`);
      }
      return { archive, tree };
    } catch (error) {
      await tree?.close();
      await archive.close();
      throw error;
    }
  }

  // Crawls the website, and returns a tree of everything that is known now. Documents that could not be read come from the last state.
  async #visit(state: State | undefined): Promise<SitemapTree> {
    let tree = await this.#crawlNow(state, []);
    if (tree.unreachable !== undefined) return tree;
    const coversLastRun = this.#coversLastRun(state);
    // If discovery did not try sitemaps that it found before, crawls again and requests them by path.
    const missing = coversLastRun ? this.#markedPathsOf(this.#evidence(tree, state).unasked()) : [];
    if (missing.length > 0) {
      await tree.close();
      rmSync(this.#received, { force: true });
      tree = await this.#crawlNow(state, missing);
    }
    if (![...tree.sitemaps()].some(isReadSitemap)) return tree;
    const evidence = this.#evidence(tree, state);
    const unasked = evidence.unasked();
    const kept = [...evidence.kept(), ...unasked.map(({ url }) => url)];
    const stale = await evidence.stale(kept);
    this.#kept = kept;
    for (const url of this.#kept) stale.add(urlKey(url));
    const isWhole = tree.complete && tree.root.problems.length === 0 && stale.size === 0;
    if (isWhole && coversLastRun) return tree;
    const unread = evidence.unread();
    const replaced = this.#pathsOf(evidence.replaced()).map((path) => replacedMark + path.slice(1));
    const held = [...this.#markedPathsOf(unasked), ...replaced];
    // A sitemap that is not below the homepage cannot be requested by path, so the last version of the document that listed it is used.
    for (const { url, list } of unasked) if (this.#pathsOf([{ url }]).length === 0) unread.add(list);
    const isStale = ({ url, role }: DocumentRequest) => stale.has(urlKey(url)) || unread.has(role);
    await tree.close();
    this.#next = this.#merged;
    const source = knownDocuments(await openArchive(this.#received), state?.archive, isStale);
    try {
      const { sitemaps } = { ...defaultLimits, ...defined(this.#crawl.limits ?? {}) };
      // The limit leaves room for documents from the state.
      const known = [...(state?.tree.sitemaps() ?? [])].length;
      const limits = { ...withoutBudgets(this.#crawl.limits), sitemaps: sitemaps + known };
      const options = withPlaces(this.#crawl, state?.archive.info?.settings ?? {}, [...missing, ...held]);
      const own = { limits, save: this.#merged, onEvent: undefined };
      return await buildTreeWhile(this.#target, { ...this.#crawl, ...options, ...own }, { source });
    } finally {
      await source.close();
    }
  }

  #evidence(tree: SitemapTree, state: State | undefined): Evidence {
    const paths = (state?.archive.info?.settings["extraKnownPaths"] ?? []) as readonly string[];
    const marked = (mark: string) =>
      new Set(
        paths.flatMap((each) =>
          each.startsWith(mark) ? new URL(`./${each.slice(mark.length)}`, tree.homepage).href : [],
        ),
      );
    return new Evidence(tree, state?.tree, { replaced: marked(replacedMark), fromRobots: marked(robotsMark) });
  }

  #crawlNow(state: State | undefined, paths: readonly string[]): Promise<SitemapTree> {
    const previous = state && { previous: this.#state };
    const extraKnownPaths = [...(this.#crawl.extraKnownPaths ?? []), ...paths];
    this.#next = this.#received;
    return buildTreeWhile(this.#target, { ...this.#crawl, ...previous, extraKnownPaths, save: this.#received }, {});
  }

  // Whether this run looks everywhere that the last run looked. Ignores extra paths, because runs add some themselves.
  #coversLastRun(state: State | undefined): boolean {
    const [own, both] = [{}, state?.archive.info?.settings ?? {}].map((was) => ({
      ...withPlaces(this.#crawl, was, []),
      extraKnownPaths: undefined,
    }));
    return isDeepStrictEqual(own, both);
  }

  #markedPathsOf(unasked: ReturnType<Evidence["unasked"]>): string[] {
    return unasked.flatMap((each) =>
      this.#pathsOf([each]).map((path) => (each.list === "robots" ? robotsMark + path.slice(1) : path)),
    );
  }

  // Returns the paths of sitemaps below the homepage; skips all others.
  #pathsOf(sitemaps: readonly { readonly url: string }[]): string[] {
    const { homepage } = prepare(this.#target, this.#crawl).start;
    return sitemaps.flatMap(({ url }) => (url.startsWith(homepage) ? [url.slice(homepage.length - 1)] : []));
  }
}

// Marks the path of a sitemap that is kept only while its replacement cannot be read.
const replacedMark = "./";
// Marks the path of a sitemap that robots.txt listed, and that is kept only while robots.txt lists none.
const robotsMark = "/./";

/** Options that decide where discovery looks. */
type Places = Required<Pick<Options, (typeof placeOptions)[number] | "knownPaths" | "extraKnownPaths">>;
const placeOptions = ["useRobots", "useHomepage", "useFeeds", "useLlms"] as const;

// Returns options that look everywhere that either run looks, so that pages found only with the last run's options are kept.
function withPlaces(own: Options, was: Readonly<Record<string, unknown>>, paths: readonly string[]): Places {
  const settings: Readonly<Record<string, unknown>> = { ...resolveOptions(own) };
  const isOn = (name: string) => [name, settings[name] === true || was[name] === true] as const;
  const known = [settings["knownPaths"], was["knownPaths"]];
  const knownPaths = (["always", "if-needed"] as const).find((when) => known.includes(when)) ?? "never";
  const extra = [settings["extraKnownPaths"], was["extraKnownPaths"] ?? []].flat() as string[];
  const flags = Object.fromEntries(placeOptions.map(isOn)) as Record<(typeof placeOptions)[number], boolean>;
  const isMarked = (each: string) => each.startsWith(replacedMark) || each.startsWith(robotsMark);
  return {
    ...flags,
    knownPaths,
    extraKnownPaths: [...new Set([...extra.filter((each) => !isMarked(each)), ...paths])],
  };
}

// Removes the budgets, and the limits on the size and entries of a document, because all documents come from the user's own archives.
function withoutBudgets(limits: Options["limits"]): Options["limits"] {
  const none = Number.POSITIVE_INFINITY;
  const budgets = { sitemaps: none, bytes: none, pages: none, time: none };
  return { ...limits, ...budgets, documentBytes: none, ...withFixedLimits({ documentEntries: none }) };
}

function inUse(name: string, owner: string): SitemapError {
  return new SitemapError("state-in-use", `${owner} is using ${name}; wait for it, or stop it`);
}

// Answers requests with today's documents. If one could not be read or is stale, answers with its last readable version, if there is one.
function knownDocuments(
  now: Archive,
  known: Archive | undefined,
  isStale: (request: DocumentRequest) => boolean,
): DocumentSource {
  return {
    async fetch(request) {
      const found = await now.fetch(request);
      const isRead = ["found", "redirect", "absent"].includes(found.outcome);
      if (isRead && !isStale(request)) return found;
      const last = await known?.fetch(request);
      return last?.outcome === "found" || last?.outcome === "redirect" ? last : found;
    },
    variesByCredentials: (url) => now.variesByCredentials(url) || known?.variesByCredentials(url) === true,
    close: () => now.close(),
  };
}

function isRemoval({ kind }: PageChange): boolean {
  return kind === "removed" || kind === "expired";
}

// Returns a function that says whether a change is certain. A page is gone if its sitemap was fully read and lacks it, or if all indexes
// were fully read and none lists the sitemap any more.
function certainty(tree: SitemapTree): (change: PageChange) => boolean {
  const readable = new Map<string, boolean>();
  let namesAll = isComplete(tree.root.problems);
  for (const sitemap of tree.sitemaps()) {
    const isWhole = !isUnread(sitemap) && !isOpenEnded(problemsOf(sitemap));
    for (const url of [sitemap.url, declaredKey(sitemap)]) readable.set(url, (readable.get(url) ?? true) && isWhole);
    const isLimit = sitemap.kind === "invalid" && sitemap.reason.code.startsWith("limit-");
    if (sitemap.kind === "index" || isLimit) namesAll &&= isWhole;
  }
  return (change) => !isRemoval(change) || (readable.get(change.sitemap) ?? namesAll);
}

// Compares a tree as if it were complete. `certainty` then drops the changes that are not certain.
class KnownSide extends TreeSide {
  override async scan(lists: PageLists): Promise<SideFacts> {
    return {
      ...(await super.scan(lists)),
      complete: true,
      unsure: new Set(),
      openEnded: new Set(),
      isTried: () => true,
    };
  }
}
