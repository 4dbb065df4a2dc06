// The journal of a fleet: an append-only file of JSON lines, in a folder that is locked while a process works in it. An append resolves
// when its line is on the disk; lines of many writers are written together. A killed process may leave a part of a line, which is
// removed later.
import { existsSync, lstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { SitemapError, systemReason } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import { isHttpUrl } from "../model/url.ts";
import { storageFailed } from "../storage/file.ts";
import { makeFolder, removeEmpty } from "../storage/folder.ts";
import type { FileLock } from "../storage/lock.ts";
import { jsonOf } from "../write/printable.ts";
import { type FileLine, linesIn } from "./lines.ts";
import { bucketAddress, endpointOf } from "./s3-bucket.ts";
import { isSummary, keyHash, type SiteJob, type SiteSummary } from "./site-job.ts";
import { lockFolder } from "./store.ts";

/** The local folder for the journal of a fleet with outputs in a bucket: always the same for an endpoint, bucket, prefix and shard. */
export function stateFolder(
  out: string,
  shard: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): string {
  const { bucket, prefix } = bucketAddress(out);
  const identity = JSON.stringify([endpointOf(environment), bucket, prefix, shard]);
  const state = environment["XDG_STATE_HOME"] || path.join(homedir(), ".local", "state");
  return path.join(state, "sitegrove", `${bucket}-${keyHash(identity)}`);
}

/** The names of the journal and of its lock in the folder of a fleet. */
export const journalName = "sites.ndjson";
export const lockName = "lock";

/** `list` and `listed` enclose the lines of a list, and name its first website. */
export type JournalFact =
  | { readonly type: "list" | "listed" }
  | ({ readonly type: "add" } & Pick<SiteJob, "sitemaps" | "mayBePlain">)
  | { readonly type: "start"; readonly attemptId: string }
  | { readonly type: "back" }
  | { readonly type: "done"; readonly summary: SiteSummary };

export type JournalLine = JournalFact & { readonly site: string; readonly key: string; readonly at: string };

export class JournalFile {
  readonly folder: string;
  readonly path: string;
  readonly #lock: FileLock;
  /** The folders that were created, the innermost first. */
  readonly #made: readonly string[];
  #handle: FileHandle | undefined;
  /** The lines that the next write will contain. */
  #text = "";
  #lastWrite: Promise<void> = Promise.resolve();

  /** Locks the folder, and creates it if it is missing. Throws a `SitemapError`: `folder-in-use` or `folder-unusable`. */
  constructor(folder: string) {
    this.folder = folder;
    this.path = path.join(folder, journalName);
    let made: readonly string[] = [];
    try {
      made = makeFolder(folder);
      for (const name of [journalName, lockName]) expectFile(path.join(folder, name));
      this.#lock = lockFolder(folder, lockName);
    } catch (error) {
      removeEmpty(made);
      if (error instanceof SitemapError) throw error;
      throw unusable(`${folder} cannot be used as a folder: ${systemReason(error)}`, error);
    }
    this.#made = made;
  }

  /** Ends the file after its last whole line, because a killed process may have left a part of a line. */
  async mend({ end, isEnded }: Omit<FileLine, "text">): Promise<void> {
    if (!existsSync(this.path)) return;
    this.#handle = await open(this.path, "a");
    await this.#handle.truncate(end);
    if (!isEnded) await this.#handle.appendFile("\n");
  }

  /** Resolves when the line is on the disk. Rejects with a `SitemapError`; nothing can be appended after that. */
  append({ key, homepage }: SiteJob, fact: JournalFact): Promise<void> {
    // Lines that arrive during a write are written together.
    if (this.#text === "") this.#lastWrite = this.#lastWrite.then(() => this.#write());
    // Not every caller waits.
    this.#lastWrite.catch(() => undefined);
    const { type, ...more } = fact;
    this.#text += `${jsonOf({ type, site: homepage, key, at: new Date().toISOString(), ...more })}\n`;
    return this.#lastWrite;
  }

  /** Closes the journal. If nothing was ever written, leaves the folder as it was. */
  async close(): Promise<void> {
    try {
      await this.#lastWrite.catch(() => undefined);
      await this.#handle?.close();
    } finally {
      this.#lock.release();
      removeEmpty(this.#made);
    }
  }

  async #write(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    if (!this.#lock.isOurs())
      throw new SitemapError(
        "folder-in-use",
        `${this.folder} was moved, or another process took it over; this one stops`,
      );
    try {
      this.#handle ??= await open(this.path, "a");
      await this.#handle.appendFile(text);
      await this.#handle.datasync();
    } catch (cause) {
      throw storageFailed(`${this.path} could not be written`, cause);
    }
  }
}

// Refuses anything but a regular file: reading a pipe may never end, a folder at the lock's path would be moved, and a link leads elsewhere.
function expectFile(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return;
  const what = stat.isDirectory() ? "a folder" : "not a regular file";
  throw unusable(`${file} is ${what}, but a fleet must write this file; move it, or use another folder`);
}

function unusable(sentence: string, cause?: unknown): SitemapError {
  return new SitemapError("folder-unusable", sentence, { cause });
}

/** Yields the lines of a journal; none if there is no such file. `line` is undefined if the text cannot be read. */
export async function* readJournal(file: string): AsyncGenerator<FileLine & { readonly line?: JournalLine }, void> {
  if (!existsSync(file)) return;
  for await (const each of linesIn(file)) yield { ...each, ...parsed(each.text) };
}

// Accepts unknown fields, which later versions may add.
function parsed(text: string): { readonly line: JournalLine } | undefined {
  try {
    const line: unknown = JSON.parse(text);
    if (!isJsonObject(line)) return undefined;
    const { type, site, key, summary, attemptId } = line;
    if (typeof site !== "string" || typeof key !== "string" || !isHttpUrl(site)) return undefined;
    const isLine =
      ["list", "listed", "add", "back"].includes(String(type)) ||
      (type === "start" && typeof attemptId === "string") ||
      (type === "done" && isSummary(summary) && summary.key === key);
    return isLine ? { line: line as unknown as JournalLine } : undefined;
  } catch {
    return undefined;
  }
}
