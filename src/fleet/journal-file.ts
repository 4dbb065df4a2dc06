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
import { linesIn } from "./lines.ts";
import { bucketAddress, endpointOf } from "./s3-bucket.ts";
import type { SiteJob, SiteSummary } from "./site-job.ts";
import { isSummary, keyHash, storedJob } from "./site-job.ts";
import { lockFolder } from "./store.ts";
import type { InFlightSite } from "./suspects.ts";

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
  | { readonly type: "add"; readonly sitemaps?: readonly string[]; readonly mayBePlain?: boolean }
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

  /** Removes an incomplete line at the end of the file, or adds a missing line end. */
  async mend(): Promise<void> {
    if (!existsSync(this.path)) return;
    this.#handle = await open(this.path, "a+");
    const { size } = await this.#handle.stat();
    let [start, end, buffer] = [size, 0, Buffer.alloc(0)];
    for (let length = usualLine; end === 0 && start > 0; length *= 2) {
      start = Math.max(0, size - length);
      ({ buffer } = await this.#handle.read(Buffer.alloc(size - start), 0, size - start, start));
      end = buffer.lastIndexOf("\n") + 1;
    }
    // The last line is complete and was read, so only its line end is added.
    if (parsed(buffer.subarray(end).toString()) !== undefined) await this.#handle.appendFile("\n");
    else if (start + end < size) await this.#handle.truncate(start + end);
  }

  /** Resolves when the line is on the disk. Rejects with a `SitemapError`; nothing can be appended after that. */
  append(line: JournalLine): Promise<void> {
    // Lines that arrive during a write are written together.
    if (this.#text === "") this.#lastWrite = this.#lastWrite.then(() => this.#write());
    this.#text += `${jsonOf(line)}\n`;
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
  return new SitemapError("folder-unusable", sentence, cause === undefined ? {} : { cause });
}

/** Called with each line of a journal that cannot be read. `isCut` means that a killed process left only a part of the last line. */
type OnDamaged = (line: string, isCut: boolean) => void;

/** Yields the lines of a journal; none if there is no such file. */
async function* readJournal(path: string, onDamaged?: OnDamaged): AsyncGenerator<JournalLine, void> {
  if (!existsSync(path)) return;
  for await (const { text, isEnded } of linesIn(path)) {
    const value = parsed(text);
    if (value !== undefined) yield value;
    else if (text.trim() !== "") onDamaged?.(text, !isEnded);
  }
}

/** The state of a site, after all lines of the journal were applied. */
export interface JournalSite extends InFlightSite {
  readonly job: SiteJob;
  state: "waiting" | "active" | "done";
  /** Its result, if it is done. */
  result: Pick<SiteSummary, "outcome" | "attemptId"> | undefined;
  /** The attempt whose result the user asked to replace. */
  replaces: string | undefined;
  /** How often it was started. Attempt ids contain this number. */
  starts: number;
  deaths: number;
}

export function newSite(job: SiteJob): JournalSite {
  return { job, state: "waiting", result: undefined, replaces: undefined, starts: 0, deaths: 0 };
}

/** What a journal says, after all of its lines were applied. */
export interface JournalState {
  readonly sites: Map<string, JournalSite>;
  /** Lists that were only partly added: the key of the first website of each, and the least number of websites that it has. */
  readonly cutLists: Map<string, number>;
  /** How many lines could not be read, not counting an incomplete last line. */
  readonly damaged: number;
  /** The first line that could not be read. */
  readonly firstDamaged: string;
}

export async function readState(path: string): Promise<JournalState> {
  const sites = new Map<string, JournalSite>();
  const cutLists = new Map<string, number>();
  let list = "";
  let damaged = 0;
  let firstDamaged = "";
  const onDamaged = (line: string, isCut: boolean) => {
    firstDamaged ||= line;
    if (!isCut) damaged += 1;
  };
  for await (const line of readJournal(path, onDamaged)) {
    if (line.type === "list") list = line.key;
    const length = cutLists.get(list) ?? 0;
    if (line.type === "list") cutLists.set(list, length);
    if (line.type === "add" && cutLists.has(list)) cutLists.set(list, length + 1);
    if (line.type === "listed") cutLists.delete(line.key);
    if (line.type === "list" || line.type === "listed") continue;
    const { key, site: homepage, ...more } = line;
    // If the line that added the site is damaged, a later line may restore it.
    const job = sites.get(key)?.job ?? storedJob({ key, homepage, ...more });
    if (job === undefined) {
      onDamaged(JSON.stringify(line), false);
      continue;
    }
    const site = sites.get(key) ?? newSite(job);
    sites.set(key, site);
    applyLine(site, line);
  }
  return { sites, cutLists, damaged, firstDamaged };
}

/** Applies a line to its site. The last of several results counts. If an active site is started again, a process died while crawling it. */
export function applyLine(site: JournalSite, line: JournalLine): void {
  const { result } = site;
  if (line.type === "start" && result === undefined) {
    if (site.state === "active") site.deaths += 1;
    site.starts += 1;
    site.state = "active";
  } else if (line.type === "back") {
    if (result !== undefined) Object.assign(site, { result: undefined, replaces: result.attemptId, deaths: 0 });
    site.state = "waiting";
  } else if (line.type === "done") {
    const { outcome, attemptId } = line.summary;
    Object.assign(site, { state: "done", result: { outcome, attemptId }, replaces: undefined });
  }
}

/** Yields the summaries in a journal, one for each finished site. Also works while a process uses the folder. */
export async function* readResults(file: string): AsyncGenerator<SiteSummary, void> {
  // A recrawled site has a later summary, or none yet.
  const last = new Map<string, number>();
  let number = 0;
  for await (const { type, key } of readJournal(file)) {
    if (type === "done") last.set(key, number);
    if (type === "back") last.delete(key);
    number += 1;
  }
  number = 0;
  for await (const line of readJournal(file)) {
    if (line.type === "done" && last.get(line.key) === number) yield line.summary;
    number += 1;
  }
}

// Parses a line. Accepts unknown fields, which later versions may add.
function parsed(text: string): JournalLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    if (!isJsonObject(line)) return undefined;
    const { type, site, key, summary, attemptId } = line;
    if (typeof site !== "string" || typeof key !== "string" || !isHttpUrl(site)) return undefined;
    const isLine =
      ["list", "listed", "add", "back"].includes(String(type)) ||
      (type === "start" && typeof attemptId === "string") ||
      (type === "done" && isSummary(summary) && summary.key === key);
    return isLine ? (line as unknown as JournalLine) : undefined;
  } catch {
    return undefined;
  }
}

// In bytes. Hardly any line is longer, except for one with many given sitemaps.
const usualLine = 2 ** 20;
