// The tree of a website's sitemaps, and its documents until it is closed. Pages are not kept: they are read from the documents on demand.
import type { Store } from "../archive/store.ts";
import { listedBy } from "../crawl/content.ts";
import { flatten } from "../crawl/crawl.ts";
import { type RobotsOf, robotsIn } from "../crawl/host-robots.ts";
import { PageFilter } from "../crawl/page-filter.ts";
import { read, textOf } from "../crawl/read.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type {
  DiscoveryRecord,
  SitemapProblem,
  TreeData,
  TreeDataWithPages,
  TreeStep,
  UnreachableWebsite,
} from "../model/event.ts";
import type { DocumentResponse, DocumentRole, DocumentSource, Fetched } from "../model/exchange.ts";
import { boolean, path as checkPath, optionsIn } from "../model/option-checks.ts";
import { type PageFilterSettings, pageFilterNames, type Settings } from "../model/options.ts";
import type { ListedPage } from "../model/page.ts";
import { isComplete, type Problem } from "../model/problem.ts";
import { type IndexSitemap, type PagesSitemap, problemsOf, type Sitemap } from "../model/sitemap.ts";
import { checkPart, checkSitemap, type PagesPart, type TreePart, walkNodes, walkSitemaps, withPages } from "./parts.ts";

export interface TreeParts extends Pick<SitemapTree, "homepage" | "root" | "discovery" | "unreachable"> {
  /** Whether the caller gave the website. Otherwise it comes from an archive, which is not trusted. */
  readonly isNamed: boolean;
  /** A store or an archive. */
  readonly documents: DocumentSource & Pick<Store, "save">;
  readonly settings: Pick<Settings, "limits" | "strict" | "rewrite" | "onEvent">;
  /** How many pages a check requested; the archive has their responses. */
  readonly requestedPages?: number | "all" | undefined;
  /** Requests the robots.txt of a host; absent if nothing may be requested. */
  readonly fetchRobots?: RobotsOf | undefined;
  /** The responses, by the URL of the sitemap. */
  readonly responses: ReadonlyMap<string, KeptResponse>;
}

/** A response without its headers, which are stored with its document. */
export type KeptResponse = Omit<DocumentResponse, "headers">;

// The class assigns these functions, because only the class can create trees and access their private fields.
/** Creates a tree, for `build.ts`. */
export let createTree: (parts: TreeParts) => SitemapTree;
/** What a tree is made of: its documents, and how to read them. */
export let partsOf: (tree: SitemapTree) => TreeParts;
/** Whether a value is a tree. */
export let isTree: (value: unknown) => value is SitemapTree;

/** Yields the steps of a walk that pass the filter. When the limit is reached, leaves the sitemaps that are still open and ends. */
export async function* filteredWalk(
  tree: SitemapTree,
  filter: PageFilter,
  steps: AsyncIterable<TreeStep> = tree.walk(),
): AsyncGenerator<TreeStep, void> {
  const sample = filter.sample<TreeStep>();
  if (sample === undefined) return yield* passingSteps(tree, filter, steps);
  // Sampling needs to see all pages first, so they are held back.
  const others: TreeStep[] = [];
  for await (const step of passingSteps(tree, filter, steps)) {
    if (step.type !== "pages") others.push(step);
    else sample.add(step.sitemap.url, step.pages, others.at(-1) ?? step);
  }
  filter.listed = 0;
  const chosen = new Map([...sample.take()].map(({ origin, pages }) => [origin, pages]));
  for (const step of others) {
    yield step;
    const pages = chosen.get(step);
    if (pages === undefined) continue;
    filter.listed += pages.length;
    yield { type: "pages", sitemap: step.sitemap as PagesSitemap, pages };
  }
}

async function* passingSteps(
  tree: SitemapTree,
  filter: PageFilter,
  steps: AsyncIterable<TreeStep>,
): AsyncGenerator<TreeStep, void> {
  await filter.begin(tree.homepage, robotsOf(tree));
  const path: Extract<TreeStep, { type: "enter" }>[] = [];
  // The sitemap that is being skipped, with everything below it.
  let skipped: Sitemap | undefined;
  for await (const step of filter.isLimitReached ? [] : steps) {
    const { type, sitemap } = step;
    const parent = path.at(type === "pages" ? -2 : -1)?.sitemap as IndexSitemap | undefined;
    if (skipped !== undefined) {
      if (type === "leave" && sitemap === skipped) skipped = undefined;
    } else if (type === "pages") {
      const pages = filter.lists(sitemap.url, parent?.format) ? await filter.pages(step.pages) : [];
      if (pages.length > 0) yield { ...step, pages };
      if (filter.isLimitReached) break;
    } else if (type === "enter" && !follows(sitemap, parent, filter)) {
      skipped = sitemap;
    } else {
      if (type === "enter") path.push(step);
      else path.pop();
      yield step;
    }
  }
  // If the limit ended the walk, some sitemaps are still open.
  for (const { sitemap, depth } of path.reverse()) yield { type: "leave", sitemap, depth };
  for (const event of filter.newProblems()) partsOf(tree).settings.onEvent?.(event);
}

// The filters apply only to children of indexes. An index that also lists pages has a child with its own URL, which is always read.
function follows(sitemap: Sitemap, parent: IndexSitemap | undefined, filter: PageFilter): boolean {
  if (parent === undefined || parent.format === "website" || parent.url === sitemap.url) return true;
  const { url, declaredUrl = url, lastModified } = sitemap;
  return filter.follows({ url: declaredUrl, ...defined({ lastModified }) }, parent.format === "robots");
}

/** Reads robots.txt files from the documents of the tree. If one is missing there, requests it, unless the tree is offline. */
export function robotsOf(tree: SitemapTree): RobotsOf {
  const { settings, documents, fetchRobots } = partsOf(tree);
  return async (origin) => {
    const { follow, followRules, Hop } = await import("../crawl/redirects.ts");
    const rules = followRules(settings.limits, [], documents, settings.rewrite);
    const hop = Hop.first(`${origin}/robots.txt`, "robots", rules);
    const found = await follow(hop, ({ request }) => documents.fetch(request));
    const isMissing = "reason" in found && found.reason.code === "archive-missing";
    return isMissing && fetchRobots !== undefined ? fetchRobots(origin) : robotsIn(found, settings);
  };
}

/** The sitemaps of a website, with their documents until it is closed. `sitemapTreeForHomepage` and `openTree` create it. */
export class SitemapTree {
  static {
    createTree = (parts) => new SitemapTree(parts);
    partsOf = (tree) => tree.#parts;
    isTree = (value): value is SitemapTree => typeof value === "object" && value !== null && #parts in value;
  }

  /** The homepage, normalized. */
  readonly homepage: string;
  /** The root, with the format `website`. Its children are robots.txt and sitemaps found elsewhere, or the given sitemaps. */
  readonly root: IndexSitemap;
  /** The URLs that discovery tried or skipped: why, and with which outcome. */
  readonly discovery: readonly DiscoveryRecord[];
  /** Whether the website sent anything but errors and refusals; "not found" counts as a response. */
  readonly reachable: boolean;
  /** Why the website was unreachable, if it was. */
  readonly unreachable: UnreachableWebsite | undefined;
  /** Whether everything declared was fully read. */
  readonly complete: boolean;
  /** The number of pages; one that is declared twice counts twice. */
  readonly pageCount: number;
  readonly #parts: TreeParts;
  #closed = false;

  private constructor(parts: TreeParts) {
    this.homepage = parts.homepage;
    this.#parts = parts;
    this.root = parts.root;
    this.discovery = parts.discovery;
    this.unreachable = parts.unreachable;
    this.reachable = parts.unreachable === undefined;
    const sitemaps = [...walkSitemaps(parts.root)];
    this.complete = sitemaps.every((sitemap) => isComplete(problemsOf(sitemap)));
    this.pageCount = sitemaps.reduce((sum, each) => sum + (each.kind === "pages" ? each.pageCount : 0), 0);
  }

  /**
   * The sitemaps, depth first and in declared order: all, or one and those below it. Also works on a closed tree.
   *
   * @example
   * for (const sitemap of tree.sitemaps()) console.log(sitemap.kind, sitemap.url);
   */
  sitemaps(part?: Sitemap | TreePart): Iterable<Sitemap> {
    const { from } = checkPart(this.root, part);
    return { [Symbol.iterator]: () => walkSitemaps(from) };
  }

  /**
   * The pages in declared order: all, those below one sitemap, or those that pass the filters.
   *
   * @example
   * for await (const page of tree.pages({ include: "blog", unique: true })) console.log(page.url);
   */
  pages(part?: Sitemap | PagesPart): AsyncIterable<ListedPage> {
    const { from, filters } = checkPart(this.root, part, pageFilterNames);
    this.#expectOpen();
    return { [Symbol.asyncIterator]: () => flatten(this.#batches(from, filters)) };
  }

  /** Walks through the tree, or a part of it: enters a sitemap, yields its pages in batches, leaves it. */
  walk(part?: Sitemap | TreePart): AsyncIterable<TreeStep> {
    const { from } = checkPart(this.root, part);
    this.#expectOpen();
    return { [Symbol.asyncIterator]: () => this.#steps(from) };
  }

  /** The problems of the tree, or of a part of it, in its order. Also works on a closed tree. */
  problems(part?: Sitemap | TreePart): Iterable<SitemapProblem> {
    const { from } = checkPart(this.root, part);
    return { [Symbol.iterator]: () => problemsBelow(from) };
  }

  /**
   * The response behind a sitemap, or behind its failure: status, headers, redirects, attempts, character set, sizes and
   * times. Undefined for the root, and for sitemaps that were not requested.
   *
   * @example
   * const { firstByte, wireBytes } = (await tree.response(sitemap)) ?? {};
   */
  async response(sitemap: Sitemap): Promise<DocumentResponse | undefined> {
    const { url } = checkSitemap(this.root, sitemap, "sitemap");
    const kept = this.#parts.responses.get(url);
    if (kept === undefined) return undefined;
    const { headers = [] } = await this.#find(url, roleOf(sitemap));
    return { ...kept, headers };
  }

  /**
   * The text of a sitemap's document, decompressed and decoded, in chunks. Empty for the root, and for documents that could not be
   * fetched.
   *
   * @example
   * for await (const piece of tree.text(sitemap)) process.stdout.write(piece);
   */
  text(sitemap: Sitemap): AsyncIterable<string> {
    checkSitemap(this.root, sitemap, "sitemap");
    this.#expectOpen();
    return { [Symbol.asyncIterator]: () => this.#text(sitemap) };
  }

  /** The tree as data, without pages. `JSON.stringify(tree)` uses it. */
  toJSON(): TreeData {
    const { homepage, complete, pageCount, reachable, unreachable, discovery, root } = this;
    return { homepage, complete, pageCount, reachable, ...(unreachable && { unreachable }), discovery, root };
  }

  /**
   * The tree as data, with the pages of each sitemap in its field `pages`. Keeps all of them in memory.
   *
   * @example
   * const { root } = await tree.withPages();
   */
  async withPages(): Promise<TreeDataWithPages> {
    const root = (await withPages(this.#steps(this.root))) as TreeDataWithPages["root"];
    return { ...this.toJSON(), root };
  }

  /** Writes all documents to a WARC file, compressed if its name ends in `.gz`. `openTree` reads it. Replaces a file only with `overwrite`. */
  async save(path: string, options: { readonly overwrite?: boolean | undefined } = {}): Promise<void> {
    checkPath("path", path);
    const { overwrite = false } = Object.fromEntries(optionsIn("options", options, ["overwrite"]));
    const isReplacing = boolean("overwrite", overwrite);
    this.#expectOpen();
    await this.#parts.documents.save(path, isReplacing);
  }

  /** Removes the temporary files. The properties of the tree remain available. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#parts.documents.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#steps(from: Sitemap): AsyncGenerator<TreeStep, void> {
    this.#expectOpen();
    for (const step of walkNodes(from)) {
      const { sitemap } = step;
      yield step;
      if (step.type === "enter" && sitemap.kind === "pages") {
        for await (const pages of this.#pages(sitemap)) yield { type: "pages", sitemap, pages };
      }
    }
  }

  async *#batches(from: Sitemap, filters?: PageFilterSettings): AsyncGenerator<readonly ListedPage[], void> {
    const steps = this.#steps(from);
    const chosen = filters === undefined ? steps : filteredWalk(this, new PageFilter(filters), steps);
    for await (const step of chosen) if (step.type === "pages") yield step.pages as readonly ListedPage[];
  }

  // Yields at most `pageCount` pages of an incomplete sitemap, because a budget may have stopped the crawl before the document's end.
  async *#pages(sitemap: PagesSitemap): AsyncGenerator<readonly ListedPage[], void> {
    const document = await this.#find(sitemap.url);
    if (document.outcome !== "found") throw changed(sitemap);
    let left = sitemap.complete ? Number.POSITIVE_INFINITY : sitemap.pageCount;
    let count = 0;
    const reading = read(document, this.#parts.settings);
    let step = await reading.next();
    for (; !step.done && left > 0; step = await reading.next(left > 0)) {
      const { pages } = step.value;
      const taken = pages.length <= left ? pages : pages.slice(0, left);
      left -= taken.length;
      count += taken.length;
      if (taken.length > 0) yield listedBy(sitemap.url, taken);
    }
    if (count !== sitemap.pageCount || (step.done && isChanged(sitemap, step.value.problems))) throw changed(sitemap);
  }

  async *#text(sitemap: Sitemap): AsyncGenerator<string, void> {
    const document = await this.#find(sitemap.url, roleOf(sitemap));
    if (document.outcome !== "found" || sitemap === this.root) return;
    yield* textOf(document, this.#parts.settings);
    const { problem } = document.body.end;
    if (problem !== undefined && isChanged(sitemap, [problem])) throw changed(sitemap);
  }

  #find(url: string, role: DocumentRole = "sitemap"): Promise<Fetched> {
    return this.#parts.documents.fetch({ url, role });
  }

  #expectOpen(): void {
    if (this.#closed) throw new SitemapError("tree-closed", "The tree is closed");
  }
}

// Whether a digest shows that the bytes differ from those that the tree was built from.
function isChanged(sitemap: Sitemap, problems: readonly Problem[]): boolean {
  const isDamaged = ({ code }: Problem) => code === "archive-digest";
  return problems.some(isDamaged) && !problemsOf(sitemap).some(isDamaged);
}

function changed({ url }: Sitemap): SitemapError {
  return new SitemapError("invalid-archive", `The archive was changed while its tree was open: ${url}`);
}

// Returns the role to look up a sitemap's document with.
function roleOf(sitemap: Sitemap): DocumentRole {
  return sitemap.kind === "index" && sitemap.format === "robots" ? "robots" : "sitemap";
}

function* problemsBelow(from: Sitemap): Generator<SitemapProblem, void> {
  for (const sitemap of walkSitemaps(from)) {
    for (const problem of problemsOf(sitemap)) yield { url: sitemap.url, problem };
  }
}
