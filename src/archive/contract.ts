// What archives say besides the responses: what they are about, and what was read in each document.
import type { Problem } from "../model/problem.ts";
import type { PagesFormat } from "../model/sitemap.ts";

/** What an archive is about, so that it can be replayed. */
export interface ArchiveInfo {
  readonly homepage?: string;
  /** Present if the tree was made from given sitemaps, without discovery. */
  readonly sitemaps?: readonly string[];
  /** The options that shape a tree. Those that may hold secrets (`headers`, `proxy`, `tls`) never reach a file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** What a run read in a document, from its first to its last page, without a loss. */
export interface Counts {
  readonly format: PagesFormat;
  readonly pages: number;
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly checksum?: number | undefined;
  readonly charset?: string | undefined;
  readonly problems: readonly Problem[];
}

export interface RunCounts {
  /** The settings that the counts depend on, as one text. */
  readonly by: string;
  /** By URL. */
  readonly documents: ReadonlyMap<string, Counts>;
}
