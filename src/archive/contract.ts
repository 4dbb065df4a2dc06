// The interface of stores and archives, whether in memory, in a private temporary file, or in a WARC file.
import type { DocumentRequest, DocumentSource, Fetched } from "../model/exchange.ts";
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

/** How an archive is opened. */
export interface OpenArchiveOptions {
  /** Stops opening, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** The limit of sitemaps in a tree: limits the answers in an archive, which also has one for each redirect. */
  readonly documents?: number | undefined;
  /** When to stop and use what was found, on the clock of performance.now(). */
  readonly until?: number | undefined;
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

/** Keeps exchanges and answers requests from them. */
export interface Store extends DocumentSource {
  /**
   * Stores the body and resolves once it is complete, with the same exchange and a body that can be read any number of
   * times, also while others are being stored. Its chunks must not be changed. Redirects and failures are kept the same
   * way, so that a replay knows why there is no document. The first exchange for a URL counts, unless it was asked `again`. Rejects if the disk is
   * full or the body throws (an abort); then nothing is kept.
   */
  keep<T extends Fetched>(fetched: T): Promise<T>;
  /** Whether the answer to this very request was kept. */
  has(request: DocumentRequest): boolean;
  /** The crawl ran to its end: what is missing in the archive was left out on purpose. `counts` are kept with it. */
  finish(counts?: RunCounts): Promise<void>;
  /** What was counted in this document was shown to be wrong: archives that are saved later do not have it. */
  forgetCounts(url: string): void;
  /** Writes everything as one archive, compressed if the name ends in `.gz`. The file must not exist. */
  save(path: string): Promise<void>;
  /** Releases everything, including temporary files. Bodies must not be read any more. */
  close(): Promise<void>;
}

/** An archive that was opened to be read. */
export interface Archive extends DocumentSource {
  /** Absent in files that other tools wrote. */
  readonly info: ArchiveInfo | undefined;
  /** Whether the crawl that wrote it ran to its end. */
  readonly finished: boolean;
  /** Whether the file is cut off or damaged: what came before is used. */
  readonly truncated: boolean;
  /** Whether the file was edited: what it says about itself, or about an exchange, is not what was written. */
  readonly altered: boolean;
  /** The settings that its counts depend on, if it has any. */
  readonly countedBy: string | undefined;
  /** The requested URLs; in files of other tools, those with a response. Each once, in the order of the file. */
  readonly urls: readonly string[];
  /** What the run that wrote it read in the sitemap at this URL, as it says. */
  counts(url: string): Counts | undefined;
  /** These counts were shown to be wrong: archives that are saved later do not have them. */
  forgetCounts(url: string): void;
  /** Copies the archive, record by record, compressed if the name ends in `.gz`. The file must not exist. */
  save(path: string): Promise<void>;
}
