// Defines the sides of a diff: their forms, such as a tree, an archive or a list of URLs, and what every form can do.
import type { CrawlTarget } from "../crawl/crawl.ts";
import { checkTarget } from "../crawl/prepare.ts";
import type { PageChange } from "../model/change.ts";
import type { CrawlEvent } from "../model/event.ts";
import { path, unexpected } from "../model/option-checks.ts";
import type { Options } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import { type Problem, skippedBecause } from "../model/problem.ts";
import { isTree, type SitemapTree } from "../tree/tree.ts";
import type { PageList, PageLists } from "./page-lists.ts";

/**
 * A tree; the path of an archive, a sitemap file, a list or table of URLs, or the output of `ls -f ndjson`; the bytes of a file; or a
 * website, by the URL of its homepage or of given sitemaps.
 */
export type DiffSide = SitemapTree | CrawlTarget | DiffBytes;

/** A sitemap, or a list or table of URLs, that is not a file, such as standard input. */
export interface DiffBytes {
  /** The name to report as the sitemap of its pages. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Throws a `SitemapError` if a side has the wrong type. Files are checked later, when they are opened. */
export function checkSide(source: DiffSide): void {
  if (isTree(source)) return;
  if (isBytes(source)) {
    const { name, bytes } = source;
    if (typeof name !== "string") throw unexpected("name", "the name of a file", name);
    const isStream = typeof bytes === "object" && bytes !== null && Symbol.asyncIterator in bytes;
    if (!isStream) throw unexpected("bytes", "a stream of bytes", bytes);
  } else if (isTarget(source)) checkTarget(source);
  else path("path", source);
}

export function isBytes(source: unknown): source is DiffBytes {
  return typeof source === "object" && source !== null && "bytes" in source;
}

export function isTarget(source: CrawlTarget): boolean {
  return typeof source !== "string" || /^https?:\/\//i.test(source);
}

/** A sitemap of a side: whether it could be read, and what listed it. */
export interface SideSitemap {
  /** Why the sitemap is invalid; undefined if it could be read, at least in part. */
  readonly reason: Problem | undefined;
  /** The key of the index or robots.txt that lists the sitemap; undefined if discovery found it in another way. */
  readonly parent: string | undefined;
}

export interface OpenSideOptions {
  /** How a website is crawled. */
  readonly crawl?: Options | undefined;
  /** The column of a table that has the URLs: its name or its number, starting at 1. */
  readonly column?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each event while a website or an archive is read. */
  readonly onEvent?: ((event: CrawlEvent) => void) | undefined;
  /** Called with the problems of a file. */
  readonly onProblems?: ((problems: readonly Problem[]) => void) | undefined;
}

export interface Side {
  /** Reads everything once, in declared order. */
  scan(lists: PageLists): Promise<SideFacts>;
  /** Reads the pages of a list again. */
  read(list: PageList): AsyncIterable<readonly SitemapPage[]>;
  /** For the old side: called with changes that say that pages of a list are gone. If the result is true, they are not reported. */
  holdsBack?(list: PageList, changes: readonly PageChange[]): Promise<boolean>;
  close?(): Promise<void>;
}

/** What is known about a side after it was read. */
export interface SideFacts {
  readonly complete: boolean;
  /** The keys of the sitemaps that could not be fully read, if they are known. */
  readonly unread?: readonly string[];
  /** How many entries of each sitemap were skipped, by its key; `""` for a file. */
  readonly skipped?: ReadonlyMap<string, number>;
  /** The keys of documents that may be cut off unnoticed, because neither a length nor their format would show it. */
  readonly openEnded?: ReadonlySet<string>;
  /** URLs that discovery tried without learning whether there is a sitemap. */
  readonly unsure?: ReadonlySet<string>;
  /**
   * The URLs of all sitemaps that indexes list, if they are known. Some may not have been read, because filters of this run, or of the run
   * that wrote the archive, skipped them.
   */
  readonly declared?: ReadonlySet<string>;
  /** Whether discovery tried a URL, or could not have tried it, because it is not below the homepage or the sitemaps were given. */
  readonly isTried?: (url: string) => boolean;
  /** Whether pages can have fields other than their URL. */
  readonly hasFields: boolean;
  /**
   * A `tree` has the sitemaps of a website. An `index` is a file that lists sitemaps, which were not read. A `file` has pages whose
   * sitemaps are not compared.
   */
  readonly kind: "tree" | "index" | "file";
  /** The sitemaps, by the URL that they were declared with, in declared order. */
  readonly sitemaps: ReadonlyMap<string, SideSitemap>;
  /** Says for each index whether every sitemap that it lists is known. The key `undefined` stands for discovery, or for a file. */
  readonly indexes: ReadonlyMap<string | undefined, boolean>;
}

/** The facts about a complete file of pages. */
export const emptyFile: SideFacts = {
  complete: true,
  hasFields: true,
  kind: "file",
  sitemaps: new Map(),
  indexes: new Map(),
};

/** A side without pages, so that everything on the other side is new. */
export const emptySide: Side = {
  scan: async () => emptyFile,
  async *read() {},
};

/** Counts the entries that were skipped because of these problems. */
export function skippedEntries(problems: readonly Problem[]): number {
  return problems.reduce((sum, { code, count = 1 }) => sum + (skippedBecause(code) === undefined ? 0 : count), 0);
}

/** Whether a document with these problems may be cut off, although nothing shows it. */
export function isOpenEnded(problems: readonly Problem[]): boolean {
  return problems.some(({ code }) => code === "body-no-length");
}

/** Whether this problem code means that a document does not exist. */
export function isAbsent(code: string | undefined): boolean {
  return code === "http-404" || code === "http-410";
}
