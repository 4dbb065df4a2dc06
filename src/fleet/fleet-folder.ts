// The folder of a fleet: made where it is missing, locked while a process works in it, and gone again if nothing was written.
import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { SitemapError } from "../model/errors.ts";
import { systemReason } from "../model/system-reason.ts";
import { journalName, lockName } from "./journal-file.ts";

export class FleetFolder {
  readonly path: string;
  /** The path of the journal. */
  readonly journal: string;
  readonly #lock: FolderLock;
  /** Folders that were missing, the innermost first. */
  readonly #made: readonly string[];
  readonly #hadJournal: boolean;

  private constructor(folder: string, lock: FolderLock, made: readonly string[]) {
    this.path = folder;
    this.journal = path.join(folder, journalName);
    this.#lock = lock;
    this.#made = made;
    this.#hadJournal = existsSync(this.journal);
  }

  /** Throws a `SitemapError`: `folder-in-use` or `folder-unusable`. */
  static take(folder: string): FleetFolder {
    let made: readonly string[] = [];
    try {
      made = makeFolder(folder);
      for (const name of [journalName, lockName]) expectFile(path.join(folder, name));
      return new FleetFolder(folder, FolderLock.take(path.join(folder, lockName)), made);
    } catch (error) {
      removeEmpty(made);
      if (error instanceof SitemapError) throw error;
      throw unusable(`${folder} cannot be used as a folder: ${systemReason(error)}`, error);
    }
  }

  /** Throws a `SitemapError` (`folder-in-use`) if another process has taken over. */
  expectOurs(): void {
    if (!this.#lock.isOurs())
      throw new SitemapError("folder-in-use", `Another process has taken over ${this.path}: this one ends`);
  }

  /** `isEmpty`: nothing was written into a journal that was not there before. */
  release({ isEmpty }: { readonly isEmpty: boolean }): void {
    if (isEmpty && !this.#hadJournal) rmSync(this.journal, { force: true });
    this.#lock.release();
    if (isEmpty) removeEmpty(this.#made);
  }
}

// Reading a pipe never ends, a folder in the place of the lock would be moved away, and a link leads to somebody's file.
function expectFile(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile()) return;
  const what = stat.isDirectory() ? "a folder" : "not a regular file";
  throw unusable(`${file} is ${what}: a fleet keeps a file of its own there; move it, or use another folder`);
}

function unusable(sentence: string, cause?: unknown): SitemapError {
  return new SitemapError("folder-unusable", sentence, cause === undefined ? {} : { cause });
}

/** Returns the folders that were missing, the innermost first. Throws the error of the system; `recursive` of Node.js hangs in /proc. */
export function makeFolder(folder: string): readonly string[] {
  if (isFolder(folder)) return [];
  const parent = path.dirname(folder);
  const above = isFolder(parent) || parent === folder ? [] : makeFolder(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(folder)) return above;
    throw error;
  }
  return [folder, ...above];
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** As long as they are empty. */
function removeEmpty(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder);
  } catch {
    // Somebody uses it.
  }
}

/** A file that names the process which works in a folder. */
export class FolderLock {
  readonly #path: string;
  readonly #text: string;
  readonly #remove = () => this.release();
  readonly #beat: NodeJS.Timeout;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    process.once("exit", this.#remove);
    // For processes on other machines or in other containers, which cannot see this one.
    this.#beat = setInterval(() => this.isOurs() && touch(path), beatTime).unref();
  }

  /** Throws a `SitemapError` (`folder-in-use`) if a running process has the lock. */
  static take(path: string): FolderLock {
    const id = randomBytes(4).toString("hex");
    const own = `${path}.${process.pid}.${id}`;
    const text = JSON.stringify({ pid: process.pid, host: hostname(), started: startOf(process.pid), id });
    writeFileSync(own, text, { flag: "wx" });
    try {
      for (let attempt = 0; attempt < 10; attempt++) {
        // A link is created atomically and with its content.
        if (link(own, path)) return new FolderLock(path, text);
        const owner = ownerOf(path);
        if (owner !== undefined) throw inUse(owner);
        // Two processes may get here at once: a file can be moved away only once, and what was moved is checked again.
        const aside = `${own}.old`;
        try {
          renameSync(path, aside);
          if (ownerOf(aside) !== undefined) renameSync(aside, path);
        } catch {
          // Another process was faster.
        }
        rmSync(aside, { force: true });
      }
    } finally {
      rmSync(own, { force: true });
    }
    throw new SitemapError("folder-in-use", "Another process is about to work in this folder");
  }

  /** The process that works in a folder, if one does. */
  static owner(path: string): number | undefined {
    return ownerOf(path)?.pid;
  }

  /** False if another process took it over, because this one seemed to be gone. */
  isOurs(): boolean {
    try {
      return readFileSync(this.#path, "utf8") === this.#text;
    } catch {
      return false;
    }
  }

  release(): void {
    if (this.isOurs()) rmSync(this.#path, { force: true });
    clearInterval(this.#beat);
    process.off("exit", this.#remove);
  }
}

interface Owner {
  readonly pid: number;
  readonly host: string;
}

function inUse({ pid, host }: Owner): SitemapError {
  const where = host === hostname() ? "" : ` on ${host}`;
  return new SitemapError("folder-in-use", `Process ${pid}${where} is working in this folder; wait for it, or end it`);
}

// Undefined if the lock is missing or damaged, or its process is gone.
function ownerOf(path: string): Owner | undefined {
  try {
    // `started`: if the system tells; process ids are reused.
    const lock = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner & { readonly started: string }>;
    const { pid, host, started } = lock;
    if (typeof pid !== "number") return undefined;
    const owner = { pid, host: String(host) };
    if (host !== hostname()) return Date.now() - statSync(path).mtimeMs < longestSilence ? owner : undefined;
    return isRunning(pid) && (started === undefined || startOf(pid) === started) ? owner : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: field 22, counted after the name, which may contain
// anything.
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The folder is gone: writing into it will report that.
  }
}

// In milliseconds.
const beatTime = 10_000;
const longestSilence = 60_000;
