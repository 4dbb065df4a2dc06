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
      remove(made);
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
    if (isEmpty) remove(this.#made);
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

/** Removes folders as long as they are empty. */
function remove(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder);
  } catch {
    // Somebody uses it.
  }
}

export class FolderLock {
  readonly #path: string;
  readonly #remove = () => this.release();
  #held = true;
  readonly #text: string;
  readonly #beat: NodeJS.Timeout;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    process.once("exit", this.#remove);
    // For processes on other machines or in other containers, which cannot see this one.
    this.#beat = setInterval(() => this.isOurs() && touch(path), beatTime);
    this.#beat.unref();
  }

  /** Throws a `SitemapError` (`folder-in-use`) if a running process has the lock. */
  static take(path: string): FolderLock {
    const id = randomBytes(4).toString("hex");
    const own = `${path}.${process.pid}.${id}`;
    const text = JSON.stringify({ ...identity(process.pid), id });
    writeFileSync(own, text, { flag: "wx" });
    try {
      for (let attempt = 0; attempt < 10; attempt++) {
        // A link is created atomically and with its content.
        if (link(own, path)) return new FolderLock(path, text);
        const owner = ownerOf(path);
        if (owner !== undefined && isRunning(owner)) throw inUse(owner);
        // Two processes may get here at once: a file can be moved away only once, and what was moved is checked again.
        const aside = `${own}.old`;
        try {
          renameSync(path, aside);
          const moved = ownerOf(aside);
          if (moved !== undefined && isRunning(moved)) renameSync(aside, path);
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
    const owner = ownerOf(path);
    return owner !== undefined && isRunning(owner) ? owner.pid : undefined;
  }

  /** False if another process took it over, because this one seemed to be gone. */
  isOurs(): boolean {
    try {
      return this.#held && readFileSync(this.#path, "utf8") === this.#text;
    } catch {
      return false;
    }
  }

  release(): void {
    if (!this.#held) return;
    if (this.isOurs()) rmSync(this.#path, { force: true });
    this.#held = false;
    clearInterval(this.#beat);
    process.off("exit", this.#remove);
  }
}

interface Identity {
  readonly pid: number;
  readonly host: string;
  /** When the process was started, if the system tells: process ids are reused. */
  readonly started: string | undefined;
}

interface Owner extends Identity {
  /** When the lock was last refreshed, in milliseconds. */
  readonly seen: number;
}

function identity(pid: number): Identity {
  return { pid, host: hostname(), started: startOf(pid) };
}

function inUse({ pid, host }: Identity): SitemapError {
  const where = host === hostname() ? "" : ` on ${host}`;
  return new SitemapError("folder-in-use", `Process ${pid}${where} is working in this folder; wait for it, or end it`);
}

function ownerOf(path: string): Owner | undefined {
  try {
    const { pid, host, started } = JSON.parse(readFileSync(path, "utf8")) as Partial<Identity>;
    if (typeof pid !== "number") return undefined;
    return { pid, host: String(host), started, seen: statSync(path).mtimeMs };
  } catch {
    // Missing or damaged.
    return undefined;
  }
}

function isRunning({ pid, host, started, seen }: Owner): boolean {
  if (host !== hostname()) return Date.now() - seen < longestSilence;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return started === undefined || startOf(pid) === started;
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

/** Returns the folders that were missing, the innermost first. Throws the error of the system. */
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
