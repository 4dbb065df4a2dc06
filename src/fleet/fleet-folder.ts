// The folder of a fleet: made where it is missing, locked while a process works in it, and gone again if nothing was written.
import { existsSync, lstatSync, rmdirSync, rmSync } from "node:fs";
import path from "node:path";
import { SitemapError } from "../model/errors.ts";
import { systemReason } from "../model/system-reason.ts";
import { FolderLock } from "./folder-lock.ts";
import { journalName, lockName } from "./journal-results.ts";
import { makeFolder } from "./make-folder.ts";

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
