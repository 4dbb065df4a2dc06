// What a caller may name as one side of a diff: a tree, an archive, a sitemap file, a list of URLs, a website.
import { type FileHandle, open, stat } from "node:fs/promises";
import { constants, gunzipSync } from "node:zlib";
import type { CrawlTarget } from "../crawl/crawl.ts";
import { checkTarget } from "../crawl/target.ts";
import { SitemapError } from "../errors.ts";
import type { CrawlEvent } from "../event.ts";
import { path } from "../option-checks.ts";
import type { Options } from "../options.ts";
import type { Problem } from "../problem.ts";
import { systemReason } from "../system-reason.ts";
import { buildTreeWhile, openTreeWhile } from "../tree/build.ts";
import { SitemapTree } from "../tree/tree.ts";
import { FileSide } from "./file-side.ts";
import type { Side } from "./side.ts";
import { TreeSide } from "./tree-side.ts";

/**
 * A tree; the path of an archive, of a sitemap file or of a text with one URL a line; or a website, by the URL of its homepage or
 * of given sitemaps.
 */
export type DiffSide = SitemapTree | CrawlTarget;

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
  if (source instanceof SitemapTree) return;
  if (isTarget(source)) checkTarget(source);
  else path("path", source);
}

function isTarget(source: Exclude<DiffSide, SitemapTree>): source is CrawlTarget {
  return typeof source !== "string" || /^https?:\/\//i.test(source);
}

export async function openSide(source: DiffSide, options: OpenSideOptions): Promise<Side> {
  if (source instanceof SitemapTree) return new TreeSide(source);
  if (isTarget(source)) {
    return new TreeSide((building) => buildTreeWhile(source, crawlOptions(options), building));
  }
  const { signal, onEvent, onProblems } = options;
  if (await isArchive(source)) return new TreeSide((building) => openTreeWhile(source, { signal, onEvent }, building));
  return new FileSide({ path: source, signal, onProblems });
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
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(sniffLength), 0, sniffLength, 0);
    return unzipped(buffer.subarray(0, bytesRead)).subarray(0, magic.length).toString("latin1") === magic;
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  } finally {
    await handle?.close();
  }
}

const magic = "WARC/";
const sniffLength = 4096;

function unzipped(start: Buffer): Buffer {
  if (start[0] !== 0x1f || start[1] !== 0x8b) return start;
  try {
    return gunzipSync(start, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return start;
  }
}

function unreadable(file: string, error: NodeJS.ErrnoException): SitemapError {
  const reason = error.code === "ENOENT" ? "there is no such file" : systemReason(error);
  return new SitemapError("invalid-file", `${file} cannot be read: ${reason}`, { cause: error });
}
