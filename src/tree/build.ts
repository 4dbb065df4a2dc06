// Builds trees with a crawl: of a website, of given sitemaps or of an archive.
import type { Archive } from "../archive/reader.ts";
import type { Store } from "../archive/store.ts";
import { type CrawlTarget, events, run } from "../crawl/crawl.ts";
import type { RobotsOf } from "../crawl/host-robots.ts";
import type { PageFilter } from "../crawl/page-filter.ts";
import { type Prepared, prepare, replayOptions } from "../crawl/prepare.ts";
import { type ReadDocument, read, readUrls } from "../crawl/read.ts";
import type { Emit, RunOptions } from "../crawl/run.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { CrawlEvent, FinishedEvent, OrderedEvent } from "../model/event.ts";
import { path as checkPath } from "../model/option-checks.ts";
import { type ArchiveOptions, type ArchiveSettings, type Options, resolveArchiveOptions } from "../model/options.ts";
import { problem } from "../model/problem.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import { homepageOf } from "../model/url.ts";
import { createTree, type KeptResponse, type SitemapTree, type TreeParts } from "./tree.ts";

/**
 * Finds, fetches and reads the sitemaps of a website. Their documents can be read until the tree is closed.
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

/** Lets a caller use the pages while a tree is built, so that documents are read only once. Documents missing from `source` are skipped. */
export interface WhileBuilding extends Pick<RunOptions, "filter" | "shared" | "source"> {
  /** Called with the events in declared order; its result is awaited. */
  readonly onOrdered?: ((event: OrderedEvent) => Promise<void> | undefined) | undefined;
  /** Whether `onEvent` needs only the URLs of pages. */
  readonly urlsOnly?: boolean | undefined;
  /** For an archive: called for each child of an index, like the option of a crawl. */
  readonly recurse?: Options["recurse"];
}

export async function openTreeWhile(
  path: string,
  options?: ArchiveOptions,
  building: WhileBuilding = {},
): Promise<SitemapTree> {
  const reader = resolveArchiveOptions(options);
  const { archive, replay } = await openReplay(path, reader);
  try {
    const parts = { documents: archive, isNamed: false, requestedPages: archive.info?.pages };
    const { recurse } = building;
    const prepared = { ...replay.prepared, settings: { ...replay.prepared.settings, ...defined({ recurse }) } };
    const options = { ...replay, prepared, read: readerFor(building, reader) };
    return await collect(prepared, (emit) => run(options, emit), parts, building);
  } catch (error) {
    await archive.close();
    throw error;
  }
}

/** Yields the events of an archived crawl in declared order, reading each document once. With `save`, first copies the archive. */
export async function* crawlArchive(
  path: string,
  { limits, rewrite, signal, save }: ArchiveOptions & Pick<Options, "save">,
  { filter, urlsOnly }: { readonly filter: PageFilter; readonly urlsOnly: boolean },
): AsyncGenerator<CrawlEvent, void> {
  const { archive, replay } = await openReplay(path, resolveArchiveOptions({ limits, rewrite, signal }));
  try {
    if (save !== undefined) await archive.save(save);
    yield* events({ ...replay, filter, read: urlsOnly && filter.settings.since === undefined ? readUrls : undefined });
  } finally {
    await archive.close();
  }
}

// Opens an archive as the source of a crawl.
async function openReplay(path: string, reader: ArchiveSettings): Promise<{ archive: Archive; replay: RunOptions }> {
  checkPath("path", path);
  const { openArchive } = await import("../archive/reader.ts");
  const { signal, limits } = reader;
  const until = performance.now() + limits.time;
  const archive = await openArchive(path, { signal, documents: limits.sitemaps, until });
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
    return { archive, replay: { prepared, source: archive, omitMissing: archive.finished, problems } };
  } catch (error) {
    await archive.close();
    throw error;
  }
}

/** Builds the tree of a website or of given sitemaps. */
export async function buildTreeWhile(
  target: CrawlTarget,
  options: Options | undefined,
  building: WhileBuilding = {},
): Promise<SitemapTree> {
  const given = prepare(target, options);
  const { openCrawl } = await import("../crawl/open.ts");
  const { crawlWebsite } = await import("../crawl/engine.ts");
  const { shared, source, filter } = building;
  const read = readerFor(building, given.settings);
  const open = await openCrawl(
    { prepared: given, read, filter, shared, source, omitMissing: source !== undefined },
    true,
  );
  const { prepared, sources } = open;
  const documents = sources.store as Store;
  const askRobots: RobotsOf = async (origin) => (await import("../crawl/fetch-one.ts")).fetchRobots(origin, prepared);
  const fetchRobots = source === undefined ? askRobots : undefined;
  const parts = { documents, isNamed: true, fetchRobots };
  try {
    return await collect(prepared, (emit) => crawlWebsite(open, emit), parts, building);
  } catch (error) {
    await documents.close();
    throw error;
  } finally {
    await open.close();
  }
}

// Reads all fields of pages only if a caller receives the pages.
function readerFor({ onOrdered, urlsOnly }: WhileBuilding, { onEvent }: Pick<Options, "onEvent">): ReadDocument {
  return onOrdered === undefined && (onEvent === undefined || urlsOnly) ? readForTree : read;
}

// Merging the entries of a repeated URL may lose data. Reading only URLs does not notice that, so such a document is read again in full.
async function* readForTree(...[document, settings]: Parameters<ReadDocument>): ReturnType<ReadDocument> {
  const urls = readUrls(document, settings);
  let step = await urls.next();
  let isEnough = false;
  while (!step.done) {
    isEnough = (yield step.value) === false;
    step = await urls.next(!isEnough);
  }
  const reading = step.value;
  if (isEnough || !reading.problems.some(({ code }) => code === "url-repeated")) return reading;
  const whole = read(document, settings);
  let again = await whole.next();
  while (!again.done) again = await whole.next();
  return { ...reading, problems: again.value.problems, complete: again.value.complete };
}

async function collect(
  { start, settings }: Prepared,
  crawl: (emit: Emit) => Promise<FinishedEvent>,
  parts: Pick<TreeParts, "documents" | "isNamed" | "fetchRobots" | "requestedPages">,
  { onOrdered }: WhileBuilding,
): Promise<SitemapTree> {
  const responses = new Map<string, KeptResponse>();
  let root: Sitemap | undefined;
  const { discovery, unreachable } = await crawl(async (event) => {
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

// Our own archives record their settings. For others, the first URL determines the website.
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
