// The journal of a fleet: an append-only file of JSON lines. An append resolves when its line is on the disk; lines of many writers are written
// together. A killed process leaves at most half a line, which is removed when the file is opened again.
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { storageFailed } from "../archive/file.ts";
import { SitemapError } from "../model/errors.ts";
import { isHttpUrl } from "../model/url.ts";
import type { Suspicion } from "./bisection.ts";
import { isCount, isRecord, isSummary, type SiteSettings, type SiteSummary } from "./site-job.ts";

/** The names of the journal and of its lock in the folder of a fleet. */
export const journalName = "sites.ndjson";
export const lockName = "lock";

interface Line {
  readonly site: string;
  readonly key: string;
  readonly at: string;
}

/** What a line says about its website. */
export type JournalFact =
  | { readonly type: "add"; readonly settings?: SiteSettings }
  | { readonly type: "start"; readonly attemptId: string }
  | ({ readonly type: "back" } & Partial<Suspicion>)
  | { readonly type: "done"; readonly summary: SiteSummary };

/** A line of the journal. */
export type JournalLine = Line & JournalFact;

export class JournalFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #expectOurs: () => void;
  #end: number;
  #waiting: { readonly line: string; settle(error?: unknown): void }[] = [];
  #writing: Promise<void> | undefined;
  #failure: unknown;

  private constructor(path: string, handle: FileHandle, end: number, expectOurs: () => void) {
    this.#path = path;
    this.#handle = handle;
    this.#end = end;
    this.#expectOurs = expectOurs;
  }

  /** Opens or creates the file, and removes half a line at its end. `expectOurs` throws a `SitemapError` if it is not ours any more. */
  static async open(path: string, expectOurs: () => void): Promise<JournalFile> {
    const handle = await open(path, "a+");
    try {
      const { size } = await handle.stat();
      const end = await lastLineEnd(handle, size);
      const { buffer } = await handle.read(Buffer.alloc(size - end), 0, size - end, end);
      // A line that lacks nothing but its end was read, too.
      const isWhole = parsed(buffer.toString()) !== undefined;
      if (isWhole) await handle.appendFile("\n");
      else if (end < size) await handle.truncate(end);
      return new JournalFile(path, handle, isWhole ? size + 1 : end, expectOurs);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Resolves when the line is on the disk. Rejects with a `SitemapError` (`storage-failed`); nothing can be appended after that. */
  append(line: JournalLine): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown) => (error === undefined ? resolve() : reject(error));
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#waiting.push({ line: `${JSON.stringify(line)}\n`, settle });
      this.#writing ??= this.#write();
    });
  }

  /** Whether nothing was ever written. */
  get isEmpty(): boolean {
    return this.#end === 0 && this.#failure === undefined;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    // Lines of the same turn of the event loop are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        this.#expectOurs();
        const text = group.map(({ line }) => line).join("");
        await this.#handle.appendFile(text);
        await this.#handle.datasync();
        this.#end += Buffer.byteLength(text);
        for (const { settle } of group) settle();
      } catch (cause) {
        const isTaken = cause instanceof SitemapError;
        this.#failure = isTaken ? cause : storageFailed(`${this.#path} could not be written`, cause);
        // Nothing may follow half a group. What another process has written stays.
        if (!isTaken) await this.#handle.truncate(this.#end).catch(() => undefined);
        for (const { settle } of [...group, ...this.#waiting]) settle(this.#failure);
        this.#waiting = [];
      }
    }
    this.#writing = undefined;
  }
}

/** The lines of a journal; none if there is no such file. Half lines and others that are invalid are reported as damaged. */
export async function* readJournal(
  path: string,
  onDamaged?: (line: string) => void,
): AsyncGenerator<JournalLine, void> {
  if (!existsSync(path)) return;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    const value = parsed(line);
    if (value !== undefined) yield value;
    else if (line !== "") onDamaged?.(line);
  }
}

/** The summaries in a journal, one for each site, also while a process works in its folder. */
export async function* readResults(file: string): AsyncGenerator<SiteSummary, void> {
  // A site that is read again has a later summary, or none yet.
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

// Fields of later versions are accepted.
function parsed(text: string): JournalLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    if (!isRecord(line)) return undefined;
    const { type, site, key, summary, attemptId, group = 1, alone = 0 } = line;
    if (typeof site !== "string" || typeof key !== "string" || !isHttpUrl(site)) return undefined;
    const isLine =
      type === "add" ||
      (type === "back" && isCount(alone) && isCount(group) && group >= 1) ||
      (type === "start" && typeof attemptId === "string") ||
      (type === "done" && isSummary(summary));
    return isLine ? (line as unknown as JournalLine) : undefined;
  } catch {
    return undefined;
  }
}

async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const block = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; end -= block.length) {
    const start = Math.max(0, end - block.length);
    const { bytesRead } = await handle.read(block, 0, end - start, start);
    const at = block.subarray(0, bytesRead).lastIndexOf("\n");
    if (at !== -1) return start + at + 1;
  }
  return 0;
}
