// Crawls a website for `changes`, and returns the tree of everything that is known now: documents that cannot be read today are taken from
// the last state. The tree's documents are in an archive, which becomes the next state.
import { rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { type Archive, openArchive } from "../archive/reader.ts";
import type { CrawlTarget } from "../crawl/crawl.ts";
import { prepare } from "../crawl/prepare.ts";
import { defined } from "../model/defined.ts";
import type { DocumentRequest, DocumentSource } from "../model/exchange.ts";
import { withFixedLimits } from "../model/fixed-limits.ts";
import { type Options, resolveOptions } from "../model/options.ts";
import { defaultLimits } from "../model/parse-options.ts";
import { isReadSitemap } from "../model/sitemap.ts";
import { urlKey } from "../model/url.ts";
import { buildTreeWhile } from "../tree/build.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { Evidence } from "./evidence.ts";
import { type DocumentNotes, type HeldPages, noNotes } from "./held-pages.ts";

/** The last known state. */
export interface State {
  readonly archive: Archive;
  readonly tree: SitemapTree;
  readonly held: HeldPages;
  readonly notes: DocumentNotes;
}

/** The paths of the state, and of archives to write: today's documents, and those merged with the state. */
export interface StateFiles {
  readonly state: string;
  readonly received: string;
  readonly merged: string;
}

/** What is known now. */
export interface Known {
  readonly tree: SitemapTree;
  /** The archive with the tree's documents; absent if no sitemap could be read. */
  readonly file?: string;
  /** Whether all documents that could list a page were read today. */
  readonly seesAll: boolean;
  readonly notes: DocumentNotes;
  /** The URLs of documents whose last known state is kept. */
  readonly kept: readonly string[];
}

/** Calls `onTree` with each tree, which the caller must close. */
export async function readKnown(
  target: CrawlTarget,
  crawl: Options,
  files: StateFiles,
  state: State | undefined,
  onTree: (tree: SitemapTree) => void,
): Promise<Known> {
  const { homepage } = prepare(target, crawl).start;
  // Returns the paths of sitemaps below the homepage; skips all others.
  const pathsOf = (sitemaps: readonly { readonly url: string }[]) =>
    sitemaps.flatMap(({ url }) => (url.startsWith(homepage) ? [url.slice(homepage.length - 1)] : []));
  const crawlNow = async (paths: readonly string[]) => {
    const extraKnownPaths = [...(crawl.extraKnownPaths ?? []), ...paths];
    const own = { ...(state && { previous: files.state }), extraKnownPaths, save: files.received };
    const tree = await buildTreeWhile(target, { ...crawl, ...own });
    onTree(tree);
    return tree;
  };
  const last = state?.notes ?? noNotes;
  const coversLastRun = looksAsBefore(crawl, settingsOf(state));

  let tree = await crawlNow([]);
  // If discovery did not try sitemaps that it found before, crawls again and requests them by path.
  const isReachable = tree.unreachable === undefined;
  const again = isReachable && coversLastRun ? new Evidence(tree, state?.tree, last).unasked() : [];
  const paths = pathsOf(again);
  if (paths.length > 0) {
    await tree.close();
    rmSync(files.received, { force: true });
    tree = await crawlNow(paths);
  }
  if (![...tree.sitemaps()].some(isReadSitemap)) return { tree, seesAll: false, notes: noNotes, kept: [] };

  const evidence = new Evidence(tree, state?.tree, last);
  const unasked = evidence.unasked();
  // What today's options leave out is not expected.
  const conclusion = evidence.conclude([...again, ...unasked], coversLastRun);
  const kept = [...evidence.kept(), ...unasked.map(({ url }) => url)];
  const stale = await evidence.stale(kept);
  for (const url of kept) stale.add(urlKey(url));
  const isWhole = tree.complete && tree.root.problems.length === 0 && stale.size === 0;
  // Sitemaps that the caller does not follow today may have been read before.
  const followsAll = crawl.recurse === undefined && crawl.recurseList === undefined;
  if (isWhole && coversLastRun && followsAll) return { tree, file: files.received, kept, ...conclusion };

  const unread = evidence.unread();
  // A sitemap that is not below the homepage cannot be requested by path, so the last version of the document that listed it is used.
  for (const each of unasked) if (pathsOf([each]).length === 0) unread.add(each.list);
  const isStale = ({ url, role }: DocumentRequest) => stale.has(urlKey(url)) || unread.has(role);
  await tree.close();
  const source = knownDocuments(await openArchive(files.received), state?.archive, isStale);
  try {
    const { sitemaps } = { ...defaultLimits, ...defined(crawl.limits ?? {}) };
    // The limit leaves room for documents from the state.
    const most = sitemaps + [...(state?.tree.sitemaps() ?? [])].length;
    // Whether sitemaps that robots.txt listed are still known is decided in each run.
    const dropped = pathsOf(last.fromRobots.map((url) => ({ url })));
    const places = allPlaces(crawl, settingsOf(state, dropped), [...paths, ...pathsOf(unasked)]);
    const limits = { ...withoutBudgets(crawl.limits), sitemaps: most };
    const own = { limits, save: files.merged, onEvent: undefined, recurse: undefined, recurseList: undefined };
    const merged = await buildTreeWhile(target, { ...crawl, ...places, ...own }, { source });
    onTree(merged);
    return { tree: merged, file: files.merged, kept, ...conclusion };
  } finally {
    await source.close();
  }
}

/** Options that decide where discovery looks. */
type Places = Required<Pick<Options, (typeof placeOptions)[number] | "knownPaths" | "extraKnownPaths">>;
const placeOptions = ["useRobots", "useHomepage", "useFeeds", "useLlms"] as const;

// Returns the settings of the last run, without these extra paths.
function settingsOf(state: State | undefined, without: readonly string[] = []): Readonly<Record<string, unknown>> {
  const { extraKnownPaths = [], ...settings } = state?.archive.info?.settings ?? {};
  return { ...settings, extraKnownPaths: (extraKnownPaths as string[]).filter((each) => !without.includes(each)) };
}

// Returns options that look everywhere that either run looks, so that pages found only with the last run's options are kept.
function allPlaces(own: Options, was: Readonly<Record<string, unknown>>, paths: readonly string[] = []): Places {
  const settings: Readonly<Record<string, unknown>> = { ...resolveOptions(own) };
  const isOn = (name: string) => [name, settings[name] === true || was[name] === true] as const;
  const known = [settings["knownPaths"], was["knownPaths"]];
  const knownPaths = (["always", "if-needed"] as const).find((when) => known.includes(when)) ?? "never";
  const extra = [settings["extraKnownPaths"], was["extraKnownPaths"]].flat() as string[];
  const flags = Object.fromEntries(placeOptions.map(isOn)) as Record<(typeof placeOptions)[number], boolean>;
  return { ...flags, knownPaths, extraKnownPaths: [...new Set([...extra, ...paths])] };
}

// Whether this run looks everywhere that the last run looked. Ignores extra paths, because runs add some themselves.
function looksAsBefore(own: Options, was: Readonly<Record<string, unknown>>): boolean {
  const [today, both] = [{}, was].map((each) => ({ ...allPlaces(own, each), extraKnownPaths: undefined }));
  return isDeepStrictEqual(today, both);
}

/** Removes the budgets, and the limits on the size and entries of a document, because all documents come from the user's own archives. */
export function withoutBudgets(limits: Options["limits"]): Options["limits"] {
  const none = Number.POSITIVE_INFINITY;
  const budgets = { sitemaps: none, bytes: none, pages: none, time: none };
  return { ...limits, ...budgets, documentBytes: none, ...withFixedLimits({ documentEntries: none }) };
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
