// What it means to keep exchanges, apart from how: in memory, in a private temporary file, in an archive.
import type { DocumentRequest, DocumentSource, Fetched } from "../exchange.ts";
import type { SavedReadings } from "./readings.ts";

/** What an archive is about, so that it can be replayed. */
export interface ArchiveInfo {
  readonly homepage?: string;
  /** Where the tree was made from given sitemaps, without discovery. */
  readonly sitemaps?: readonly string[];
  /** The options that shape a tree. Those that may hold secrets (`headers`, `proxy`, `tls`) never reach a file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** How an archive is opened. */
export interface OpenArchiveOptions {
  /** Ends the opening, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** How many sitemaps a tree may have; an archive has an answer for each, and for the redirects on the way to it. */
  readonly documents?: number | undefined;
  /** When to leave it at what was found, on the clock of performance.now(). */
  readonly until?: number | undefined;
}

/** Keeps exchanges and gives them back, as a network would that knows nothing else. */
export interface Store extends DocumentSource {
  /**
   * Drains the body into the store, and resolves once it is whole: the same exchange, with a body that can be read again
   * and again, also while others are being kept. The chunks are the store's own: they may be read, not changed. Redirects
   * and failures are kept the same way, so that a replay knows why there is no document. The first exchange for a URL
   * counts. Rejects where the disk is full or the body throws (an abort); nothing is kept then.
   */
  keep<T extends Fetched>(fetched: T): Promise<T>;
  /** Whether the answer to this very request was kept. */
  has(request: DocumentRequest): boolean;
  /** Says that the crawl ran to its end: what is missing in the archive was left out on purpose. `readings` are kept with it. */
  finish(readings?: SavedReadings): Promise<void>;
  /** Writes everything as one archive, compressed where the name ends in `.gz`. The file must not exist. */
  save(path: string): Promise<void>;
  /** Releases everything, temporary files included. Bodies must not be read any more. */
  close(): Promise<void>;
}

/** An archive that was opened to be read. */
export interface Archive extends DocumentSource {
  /** Absent in files that other tools wrote. */
  readonly info: ArchiveInfo | undefined;
  /** Whether the crawl that wrote it ran to its end. */
  readonly finished: boolean;
  /** Whether the file was cut off or is damaged: what came before is used. */
  readonly truncated: boolean;
  /** Whether what it says about itself, or about an exchange, is not what was written. */
  readonly altered: boolean;
  /** What the run that wrote it read, where it ran to its end. */
  readonly readings: SavedReadings | undefined;
  /** The URLs that were asked for; in files of other tools, those that have a response. Each once, in the order of the file. */
  readonly urls: readonly string[];
  /** Copies it, record by record, compressed where the name ends in `.gz`. The file must not exist. */
  save(path: string): Promise<void>;
}
