// What a caller may name as one side of a diff: a tree, an archive, a sitemap file, a list of URLs, a website.
import { type FileHandle, open, stat } from "node:fs/promises";
import type { CrawlTarget } from "../crawl/crawl.ts";
import type { Scratch } from "../crawl/scratch.ts";
import { checkTarget } from "../crawl/target.ts";
import { SitemapError } from "../errors.ts";
import type { CrawlEvent } from "../event.ts";
import { path } from "../option-checks.ts";
import type { Options } from "../options.ts";
import type { Problem } from "../problem.ts";
import { systemReason } from "../system-reason.ts";
import { buildTreeWhile, openTreeWhile } from "../tree/build.ts";
import { SitemapTree } from "../tree/tree.ts";
import { looksLikeArchive, magicLength } from "./archive-magic.ts";
import { PathContent, StreamContent } from "./file-content.ts";
import { FileSide } from "./file-side.ts";
import type { Side } from "./side.ts";
import { TreeSide } from "./tree-side.ts";

/**
 * A tree; the path of an archive, of a sitemap file or of a text with one URL a line; the bytes of a file; or a website, by the URL
 * of its homepage or of given sitemaps.
 */
export type DiffSide = SitemapTree | CrawlTarget | DiffBytes;

/** A sitemap or a list of URLs that comes from elsewhere, such as standard input. */
export interface DiffBytes {
  /** What the sitemap of its pages is called. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface OpenSideOptions {
  /** How a website is crawled. */
  readonly crawl?: Options | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told what happens while a website or an archive is read. */
  readonly onEvent?: ((event: CrawlEvent) => void) | undefined;
  /** Told what is wrong with a file. */
  readonly onProblems?: ((problems: readonly Problem[]) => void) | undefined;
}

/** Throws a `SitemapError` where a side cannot be one: what a file holds is found out when it is opened. */
export function checkSide(source: DiffSide): void {
  if (source instanceof SitemapTree || isBytes(source)) return;
  if (isTarget(source)) checkTarget(source);
  else path("path", source);
}

function isBytes(source: unknown): source is DiffBytes {
  return typeof source === "object" && source !== null && "bytes" in source;
}

function isTarget(source: CrawlTarget): boolean {
  return typeof source !== "string" || /^https?:\/\//i.test(source);
}

/** `scratch` keeps bytes that come once. */
export async function openSide(source: DiffSide, scratch: Scratch, options: OpenSideOptions): Promise<Side> {
  const { crawl = {}, signal, onEvent, onProblems } = options;
  const { limits, strict } = crawl;
  if (source instanceof SitemapTree) return new TreeSide(source);
  if (isBytes(source)) {
    const content = new StreamContent(source.name, source.bytes, scratch, signal);
    return new FileSide({ content, limits, strict, onProblems });
  }
  if (typeof source !== "string" || isTarget(source)) {
    return new TreeSide((building) => buildTreeWhile(source, crawlOptions(options), building));
  }
  if (await isArchive(source)) {
    return new TreeSide((building) => openTreeWhile(source, { limits, signal, onEvent }, building));
  }
  return new FileSide({ content: new PathContent(source, signal), limits, strict, onProblems });
}

function crawlOptions({ crawl = {}, signal, onEvent }: OpenSideOptions): Options {
  return {
    ...crawl,
    signal: signal ?? crawl.signal,
    onEvent(event) {
      crawl.onEvent?.(event);
      onEvent?.(event);
    },
  };
}

/** By its first bytes; a file that is named as an archive has to be one. */
async function isArchive(file: string): Promise<boolean> {
  let handle: FileHandle | undefined;
  try {
    // Opening a pipe would wait for somebody to write.
    if (!(await stat(file)).isFile()) throw new Error("it is not a file");
    if (/\.(warc|wacz)(\.gz)?$/i.test(file)) return true;
    handle = await open(file, "r");
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(magicLength), 0, magicLength, 0);
    return looksLikeArchive(buffer.subarray(0, bytesRead));
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  } finally {
    await handle?.close();
  }
}

function unreadable(file: string, error: NodeJS.ErrnoException): SitemapError {
  const reason = error.code === "ENOENT" ? "there is no such file" : systemReason(error);
  return new SitemapError("invalid-file", `${file} cannot be read: ${reason}`, { cause: error });
}
