// The folder of a fleet: made where it is missing, locked while a process works in it, and gone again if nothing was written.
import { existsSync, lstatSync, rmSync } from "node:fs";
import path from "node:path";
import { makeFolder, removeEmpty } from "../archive/folder.ts";
import { FileLock } from "../archive/lock.ts";
import { SitemapError, systemReason } from "../model/errors.ts";
import { journalName, lockName } from "./journal-file.ts";

export class FleetFolder {
  readonly path: string;
  /** The path of the journal. */
  readonly journal: string;
  readonly #lock: FileLock;
  /** Folders that were missing, the innermost first. */
  readonly #made: readonly string[];
  readonly #hadJournal: boolean;

  private constructor(folder: string, lock: FileLock, made: readonly string[]) {
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
      return new FleetFolder(folder, takeFolder(path.join(folder, lockName)), made);
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
  throw unusable(`${file} is ${what}, where a fleet needs a file of its own; move it, or use another folder`);
}

function unusable(sentence: string, cause?: unknown): SitemapError {
  return new SitemapError("folder-unusable", sentence, cause === undefined ? {} : { cause });
}

/** Throws a `SitemapError` (`folder-in-use`) if a running process works in the folder of this lock. */
export function takeFolder(lock: string): FileLock {
  return FileLock.take(
    lock,
    (owner) => new SitemapError("folder-in-use", `${owner} is working in this folder; wait for it, or stop it`),
  );
}
