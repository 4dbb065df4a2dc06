// Builds trees from a homepage, given sitemaps or an archive: a crawl that keeps its documents.
import type { Archive } from "../archive/open.ts";
import type { Store } from "../archive/store.ts";
import { type CrawlTarget, type RunOptions, run } from "../crawl/crawl.ts";
import type { RobotsOf } from "../crawl/host-robots.ts";
import { type Prepared, prepare, replayOptions } from "../crawl/prepare.ts";
import { readUrls } from "../crawl/read.ts";
import { SitemapError } from "../model/errors.ts";
import type { OrderedEvent } from "../model/event.ts";
import { path as checkPath } from "../model/option-checks.ts";
import { type ArchiveOptions, type ArchiveSettings, type Options, resolveArchiveOptions } from "../model/options.ts";
import { problem } from "../model/problem.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import { homepageOf } from "../model/url.ts";
import { createTree, type KeptResponse, type SitemapTree, type TreeParts } from "./tree.ts";

/**
 * Finds, fetches and reads all sitemaps of a website. The documents are kept in a temporary archive until the tree is closed.
 *
 * @example
 * await using tree = await sitemapTreeForHomepage("https://example.org/");
 * for await (const page of tree.pages()) console.log(page.url, page.lastModified);
 */
export async function sitemapTreeForHomepage(website: CrawlTarget, options?: Options): Promise<SitemapTree> {
  return buildTreeWhile(website, options);
}

/**
 * Opens the tree of a saved archive, or of a WARC file from another tool, offline. The tree is the same as that of the crawl, within
 * your limits: an archive cannot raise them.
 *
 * @example
 * await using tree = await openTree("site.warc.gz");
 * console.log(tree.homepage, tree.pageCount);
 */
export async function openTree(path: string, options?: ArchiveOptions): Promise<SitemapTree> {
  return openTreeWhile(path, options);
}

/** Uses the pages while a tree is built, so that documents are read once for both. Documents missing in a `source` are skipped. */
export interface WhileBuilding extends Pick<RunOptions, "filter" | "shared" | "source"> {
  /** Called with the events in declared order; its result is awaited. */
  readonly onOrdered?: ((event: OrderedEvent) => Promise<void> | undefined) | undefined;
  /** Compares all documents of an archive with their checksums now, because the tree is shown before, or without, reading its pages. */
  readonly verify?: boolean | undefined;
  /** `onEvent` does not need the pages, so counts from an archive can replace parsing. */
  readonly pagesLater?: boolean | undefined;
}

export async function openTreeWhile(
  path: string,
  options?: ArchiveOptions,
  building: WhileBuilding = {},
): Promise<SitemapTree> {
  checkPath("path", path);
  const reader = resolveArchiveOptions(options);
  const { openArchive } = await import("../archive/open.ts");
  const { signal, limits } = reader;
  const until = performance.now() + limits.time;
  const archive = await openArchive(path, { signal, documents: limits.documents, until });
  try {
    // Opening an archive counts toward the time limit of a website.
    const time = Math.max(0, until - performance.now());
    const prepared = await preparedFrom(path, archive, { ...reader, limits: { ...limits, time } });
    // If our own archive has no last record, the crawl was interrupted.
    const isCut = archive.truncated || (archive.info !== undefined && !archive.finished);
    const isLate = performance.now() > until;
    const problems = [
      ...(isLate ? [problem("limit-time", { limit: limits.time })] : isCut ? [problem("archive-truncated")] : []),
      ...(archive.altered ? [problem("archive-digest")] : []),
      ...(archive.otherWebsite ? [problem("archive-website", { value: archive.otherWebsite })] : []),
    ];
    const isLater = isForLater(building, reader);
    const read = isLater ? readUrls : undefined;
    const options = { prepared, source: archive, omitMissing: archive.finished, problems, read };
    return await collect(options, { documents: archive, isNamed: false }, building);
  } catch (error) {
    await archive.close();
    throw error;
  }
}

/** The tree of a website or of given sitemaps. */
export async function buildTreeWhile(
  target: CrawlTarget,
  options: Options | undefined,
  building: WhileBuilding = {},
): Promise<SitemapTree> {
  const given = prepare(target, options);
  const { prepared: asked, problems } =
    building.source !== undefined || given.assumed.length === 0
      ? { prepared: given, problems: [] }
      : await (await import("../crawl/scheme.ts")).withWorkingScheme(given);
  const { openStorage } = await import("../crawl/storage.ts");
  const storage = await openStorage(asked, true);
  const { prepared } = storage;
  const store = storage.store as Store;
  try {
    const { shared, source, filter } = building;
    const read = isForLater(building, prepared.settings) ? readUrls : undefined;
    const ask: RobotsOf = async (origin) => (await import("../crawl/fetch-one.ts")).fetchRobots(origin, prepared);
    const options = { prepared, storage, read, filter, shared, source, omitMissing: source !== undefined, problems };
    const fetchRobots = source === undefined ? ask : undefined;
    return await collect(options, { documents: store, isNamed: true, fetchRobots }, building);
  } catch (error) {
    await store.close();
    throw error;
  }
}

// To pass on the pages now, the documents must be parsed.
function isForLater({ onOrdered, pagesLater }: WhileBuilding, { onEvent }: Pick<Options, "onEvent">): boolean {
  return onOrdered === undefined && (onEvent === undefined || pagesLater === true);
}

async function collect(
  options: RunOptions,
  parts: Pick<TreeParts, "documents" | "isNamed" | "fetchRobots">,
  { onOrdered }: WhileBuilding,
): Promise<SitemapTree> {
  const { start, settings } = options.prepared;
  const responses = new Map<string, KeptResponse>();
  let root: Sitemap | undefined;
  const { discovery, unreachable } = await run(options, async (event) => {
    await onOrdered?.(event);
    if (event.type !== "sitemap") return;
    const { sitemap, depth, wireBytes, decodedBytes, response } = event;
    if (depth === 0) root = sitemap;
    if (response === undefined || responses.has(sitemap.url)) return;
    // The headers are stored with the documents.
    const { headers: _, ...rest } = response;
    responses.set(sitemap.url, { ...rest, wireBytes, decodedBytes });
  });
  const outcome = { homepage: start.homepage, root: root as IndexSitemap, discovery, unreachable };
  return createTree({ ...parts, ...outcome, settings, responses });
}

// Our own archives say how they were made. For others, the first URL gives the website.
async function preparedFrom(path: string, { info, urls }: Archive, reader: ArchiveSettings): Promise<Prepared> {
  try {
    const options = replayOptions(info?.settings ?? {}, reader);
    if (info?.sitemaps !== undefined) return prepare({ sitemaps: info.sitemaps }, options);
    const first = urls[0];
    const homepage = info?.homepage ?? (first === undefined ? "http://archive.invalid/" : homepageOf(first));
    return prepare(homepage, options);
  } catch (error) {
    if (!(error instanceof SitemapError)) throw error;
    const { invalidArchive } = await import("../storage/file.ts");
    throw invalidArchive(path, error.message, error);
  }
}
