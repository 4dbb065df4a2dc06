// The tree of a website's sitemaps. Pages are not kept: they are read again from the documents on demand
// (document-reader.ts), which is faster than any cache.

import { flatten } from "../crawl/crawl.ts";
import type { DiscoveryRecord, TreeStep, UnreachableWebsite } from "../model/event.ts";
import type { Fetched } from "../model/exchange.ts";
import { boolean, path as checkPath, optionsIn } from "../model/option-checks.ts";
import type { Settings } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Problem } from "../model/problem.ts";
import type { DocumentResponse } from "../model/response.ts";
import { type IndexSitemap, isComplete, problemsOf, type Sitemap } from "../model/sitemap.ts";
import { DocumentReader, roleOf, type StoredDocuments } from "./document-reader.ts";
import { type IndexWithPages, type TreeData, type TreeDataWithPages, withPages } from "./tree-data.ts";
import { checkPart, checkSitemap, type PagesPart, type TreePart } from "./tree-part.ts";
import { UniqueUrls } from "./unique-urls.ts";
import { walkNodes, walkPages, walkSitemaps } from "./walk.ts";

export interface TreeParts {
  readonly homepage: string;
  /** Whether the caller named the website. Otherwise an archive did, which may come from anybody. */
  readonly isNamed: boolean;
  readonly root: IndexSitemap;
  readonly discovery: readonly DiscoveryRecord[];
  readonly unreachable: UnreachableWebsite | undefined;
  readonly documents: StoredDocuments;
  readonly settings: Pick<Settings, "limits" | "strict" | "onEvent">;
  /** By the URL of the sitemap. */
  readonly responses: ReadonlyMap<string, KeptResponse>;
}

/** A response without its headers, which are with its document. */
export type KeptResponse = Omit<DocumentResponse, "headers">;

/** A problem and the sitemap that has it. */
export interface SitemapProblem {
  readonly url: string;
  readonly problem: Problem;
}

// Only this file makes trees.
const key: unique symbol = Symbol("tree");
let construct: (parts: TreeParts) => SitemapTree;
let lookInto: (tree: SitemapTree) => TreeDocuments;
let hasDocuments: (value: object) => boolean;

/** Creates a tree, for `build.ts`. */
export function createTree(parts: TreeParts): SitemapTree {
  return construct(parts);
}

/** The documents of a tree, and how to read them. */
export interface TreeDocuments {
  /** Whether the caller named the website, not an archive. */
  readonly isNamed: boolean;
  readonly settings: Pick<Settings, "limits" | "strict">;
  /** The document that was found at this URL. */
  find(url: string): Promise<Fetched>;
  /** The response of a sitemap, without its headers. */
  response(url: string): KeptResponse | undefined;
}

/** Whether a value is a tree. */
export function isTree(value: unknown): value is SitemapTree {
  return typeof value === "object" && value !== null && hasDocuments(value);
}

/** For comparing trees. */
export function documentsOf(tree: SitemapTree): TreeDocuments {
  return lookInto(tree);
}

/**
 * The sitemaps of a website, and the documents they were read from, until the tree is closed. Made by
 * `sitemapTreeForHomepage`, `sitemapTreeFrom` and `openTree`.
 */
export class SitemapTree {
  static {
    construct = (parts) => new SitemapTree(key, parts);
    hasDocuments = (value) => #documents in value;
    lookInto = (tree) => ({
      isNamed: tree.#isNamed,
      settings: tree.#documents.settings,
      find: (url) => tree.#documents.find(url),
      response: (url) => tree.#responses.get(url),
    });
  }

  /** The homepage that the tree was made for, normalized. */
  readonly homepage: string;
  /** The root, of format `website`: its children are robots.txt, and the sitemaps at well-known paths and in links of the homepage. */
  readonly root: IndexSitemap;
  /** Every candidate that was tried, how it was found, and its result. */
  readonly discovery: readonly DiscoveryRecord[];
  /** Whether the website sent anything but failures and refusals; "not found" is an answer. */
  readonly reachable: boolean;
  /** Why not, if it was not reachable. */
  readonly unreachable: UnreachableWebsite | undefined;
  readonly #isNamed: boolean;
  #complete = true;
  #pageCount = 0;
  readonly #documents: DocumentReader;
  readonly #responses: TreeParts["responses"];

  private constructor(caller: typeof key, parts: TreeParts) {
    if (caller !== key) throw new TypeError("Illegal constructor: use sitemapTreeForHomepage() or openTree()");
    this.homepage = parts.homepage;
    this.#isNamed = parts.isNamed;
    this.root = parts.root;
    this.discovery = parts.discovery;
    this.unreachable = parts.unreachable;
    this.reachable = parts.unreachable === undefined;
    this.#documents = new DocumentReader(parts, (pagesMore) => {
      this.#complete = false;
      this.#pageCount += pagesMore;
    });
    this.#responses = parts.responses;
    for (const sitemap of walkSitemaps(parts.root)) {
      this.#complete &&= isComplete(problemsOf(sitemap));
      if (sitemap.kind === "pages") this.#pageCount += sitemap.pageCount;
    }
  }

  /** Whether everything declared was read to its end. Reading the pages of an archive may show that it was not. */
  get complete(): boolean {
    return this.#complete;
  }

  /** The number of pages; one that is declared twice counts twice. Corrected where an archive miscounted them. */
  get pageCount(): number {
    return this.#pageCount;
  }

  /**
   * The sitemaps, depth first and in declared order: all, or one and those below it. Works on a closed tree.
   *
   * @example
   * for (const sitemap of tree.sitemaps()) console.log(sitemap.kind, sitemap.url);
   */
  sitemaps(part?: Sitemap | TreePart): Iterable<Sitemap> {
    const { from } = checkPart(this.root, part, ["from"]);
    return { [Symbol.iterator]: () => walkSitemaps(from) };
  }

  /**
   * The pages in declared order: all, or those below one sitemap. With `unique`, each URL once across all of them.
   *
   * @example
   * for await (const page of tree.pages({ unique: true })) console.log(page.url);
   */
  pages(part?: Sitemap | PagesPart): AsyncIterable<SitemapPage> {
    const { from, unique } = checkPart(this.root, part, ["from", "unique"]);
    this.#expectOpen();
    return { [Symbol.asyncIterator]: () => flatten(this.#batches(from, unique)) };
  }

  /** Walks through the tree, or a part of it: enters a sitemap, yields its pages in batches, leaves it. */
  walk(part?: Sitemap | TreePart): AsyncIterable<TreeStep> {
    const { from } = checkPart(this.root, part, ["from"]);
    this.#expectOpen();
    return { [Symbol.asyncIterator]: () => this.#steps(from) };
  }

  /** All problems, in the order of the tree. Works on a closed tree. */
  problems(part?: Sitemap | TreePart): Iterable<SitemapProblem> {
    const { from } = checkPart(this.root, part, ["from"]);
    return { [Symbol.iterator]: () => problemsBelow(from) };
  }

  /**
   * How the document of a sitemap came, or why there is none: status, headers, redirects, attempts, character set, sizes and
   * times. Undefined for the root, and for what was not asked for.
   *
   * @example
   * const { firstByte, wireBytes } = (await tree.response(sitemap)) ?? {};
   */
  async response(sitemap: Sitemap): Promise<DocumentResponse | undefined> {
    const { url } = checkSitemap(this.root, sitemap, "sitemap");
    const kept = this.#responses.get(url);
    if (kept === undefined) return undefined;
    const { headers = [] } = await this.#documents.find(url, roleOf(sitemap));
    return { ...kept, headers };
  }

  /**
   * The text of a sitemap's document, decompressed and decoded, in pieces. Nothing for the root, and for what could not be
   * fetched.
   *
   * @example
   * for await (const piece of tree.text(sitemap)) process.stdout.write(piece);
   */
  text(sitemap: Sitemap): AsyncIterable<string> {
    checkSitemap(this.root, sitemap, "sitemap");
    this.#expectOpen();
    return { [Symbol.asyncIterator]: () => this.#documents.text(sitemap) };
  }

  /**
   * The tree as data: without its pages, or, with `pages`, with those of each sitemap in its field `pages`. Reading them takes
   * time, and keeping them takes memory.
   *
   * @example
   * const data = await tree.toJSON({ pages: true });
   */
  toJSON(): TreeData;
  toJSON(options: { readonly pages: true }): Promise<TreeDataWithPages>;
  // `JSON.stringify` passes the name of the field that holds the tree.
  toJSON(options?: unknown): TreeData | Promise<TreeDataWithPages> {
    const { homepage, complete, pageCount, reachable, unreachable, discovery, root } = this;
    const data = { homepage, complete, pageCount, reachable, ...(unreachable && { unreachable }), discovery };
    if (options === undefined || typeof options === "string") return { ...data, root };
    const { pages = false } = Object.fromEntries(optionsIn("options", options, ["pages"]));
    if (!boolean("pages", pages)) return { ...data, root };
    return withPages(this.#steps(root)).then((whole) => ({ ...data, root: whole as IndexWithPages }));
  }

  /** Writes all documents to a WARC file, compressed if its name ends in `.gz`. `openTree` reads it. */
  async save(path: string): Promise<void> {
    checkPath("path", path);
    await this.#documents.save(path);
  }

  /** Removes the temporary files. What is in memory (`root`, `discovery`) stays. */
  async close(): Promise<void> {
    await this.#documents.close();
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
        for await (const pages of this.#documents.pages(sitemap)) yield { type: "pages", sitemap, pages };
      }
    }
  }

  async *#batches(from: Sitemap, unique: boolean): AsyncGenerator<readonly SitemapPage[], void> {
    const seen = unique ? new UniqueUrls() : undefined;
    for (const sitemap of walkPages(from)) {
      for await (const pages of this.#documents.pages(sitemap)) {
        const kept = seen === undefined ? pages : pages.filter(({ url }) => seen.add(url));
        if (kept.length > 0) yield kept;
      }
    }
  }

  #expectOpen(): void {
    this.#documents.expectOpen();
  }
}

function* problemsBelow(from: Sitemap): Generator<SitemapProblem, void> {
  for (const sitemap of walkSitemaps(from)) {
    for (const problem of problemsOf(sitemap)) yield { url: sitemap.url, problem };
  }
}
