// Outputs that are complete or absent: written under a temporary name beside the target, then renamed. A run that fails or is stopped
// leaves the old file as it was. Devices and pipes cannot be replaced, so they are written directly.
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { makeFolder, removeEmpty } from "./folder.ts";

export interface AtomicOptions {
  /** Whether to replace an existing file. Otherwise its existence is an error with the code `EEXIST`. */
  readonly overwrite?: boolean | undefined;
  /** Whether to create the file at `path`; false if other code does. */
  readonly open?: boolean | undefined;
}

export class AtomicFile {
  /** The final path. If the file exists, symbolic links are resolved. */
  readonly target: string;
  /** Where the content is until `commit`. */
  readonly path: string;
  /** Whether the target did not exist. */
  readonly isNew: boolean;
  /** Whether the target is a device or a pipe, where output cannot be taken back. */
  readonly isDirect: boolean;
  readonly #overwrite: boolean;
  #descriptor: number | undefined;
  #isOver = false;

  /** Creates the file at `path`, unless `open` is false. Throws an error with a system code, such as `EEXIST`, if that is impossible. */
  constructor(target: string, { overwrite = false, open = true }: AtomicOptions = {}) {
    const found = fs.statSync(target, { throwIfNoEntry: false });
    this.isDirect = found !== undefined && !found.isFile() && !found.isDirectory();
    this.isNew = found === undefined && fs.lstatSync(target, { throwIfNoEntry: false }) === undefined;
    if (found?.isDirectory() || target.endsWith("/")) throw systemError("EISDIR", "is a folder", target);
    if (!this.isNew && !this.isDirect && !overwrite) throw existsError(target);
    this.#overwrite = overwrite;
    this.target = found === undefined ? target : fs.realpathSync(target);
    this.path = this.isDirect ? target : temporaryName(this.target);
    if (open) this.#descriptor = fs.openSync(this.path, this.isDirect ? "w" : "wx");
  }

  /** Appends all of `data`. */
  write(data: string | Uint8Array): void {
    if (this.#descriptor === undefined) throw systemError("EBADF", "file is closed", this.target);
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    // A nearly full disk accepts a part of the data, and reports an error only at the next attempt.
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(this.#descriptor, bytes, done);
  }

  /** Puts the content in place, flushed to disk and with the permissions of the file that it replaces. */
  commit(): void {
    if (this.#isOver) return;
    try {
      this.#close();
      if (!this.isDirect) {
        flush(this.path, fs.statSync(this.target, { throwIfNoEntry: false })?.mode);
        moveInto(this.path, this.target, this.#overwrite);
      }
      this.#isOver = true;
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Removes what was written, except to a device or a pipe. Does nothing after `commit`. */
  discard(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#close();
    if (!this.isDirect) fs.rmSync(this.path, { force: true });
  }

  #close(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** A folder of files that appear together. */
export class AtomicFolder {
  readonly target: string;
  /** Where the files are until `commit`. */
  readonly path: string;
  /** Whether the target did not exist, or was empty. */
  readonly isNew: boolean;
  // Where the old folder is while the new one takes its place, because no rename replaces a folder that has files.
  readonly #aside: string;
  readonly #names: readonly string[];
  readonly #overwrite: boolean;
  readonly #made: readonly string[];
  #isOver = false;

  /**
   * Replaces a folder that is not empty only with `overwrite`, and only if it has no files except `names`, so no other file is deleted.
   * If there is one, the error has its name in `otherFile`.
   */
  constructor(target: string, names: readonly string[], { overwrite = false }: Pick<AtomicOptions, "overwrite"> = {}) {
    this.target = folderBehind(target);
    this.#aside = asideName(this.target);
    this.#names = names;
    this.#overwrite = overwrite;
    this.#restore();
    this.isNew = this.#replaced().length === 0;
    this.#made = makeFolder(path.dirname(this.target));
    this.path = temporaryName(this.target);
    try {
      fs.mkdirSync(this.path);
    } catch (error) {
      removeEmpty(this.#made);
      throw error;
    }
  }

  commit(): void {
    if (this.#isOver) return;
    try {
      for (const name of fs.readdirSync(this.path)) flush(path.join(this.path, name));
      if (this.#replaced().length > 0) {
        // An earlier process may have been killed before it deleted the folder that it had replaced.
        this.#removeOld();
        fs.renameSync(this.target, this.#aside);
      }
      fs.renameSync(this.path, this.target);
    } catch (error) {
      this.#restore();
      this.discard();
      throw error;
    }
    this.#isOver = true;
    this.#removeOld();
  }

  // Puts the old folder back if the new one did not take its place, even if the process that moved it was killed.
  #restore(): void {
    const isGone = !fs.existsSync(this.target) || fs.readdirSync(this.target).length === 0;
    if (isGone && fs.existsSync(this.#aside)) fs.renameSync(this.#aside, this.target);
  }

  #removeOld(): void {
    fs.rmSync(this.#aside, { recursive: true, force: true });
  }

  /** Removes what was written. Does nothing after `commit`. */
  discard(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    fs.rmSync(this.path, { recursive: true, force: true });
    removeEmpty(this.#made);
  }

  // Returns the files that would be replaced. Throws if replacing them is not allowed.
  #replaced(): readonly string[] {
    const found = fs.existsSync(this.target) ? fs.readdirSync(this.target) : [];
    const other = found.find((name) => !this.#names.includes(name));
    if (other !== undefined)
      throw Object.assign(systemError("ENOTEMPTY", `the folder contains other files: ${other}`, this.target), {
        otherFile: other,
      });
    if (found.length > 0 && !this.#overwrite) throw existsError(this.target);
    return found;
  }
}

// Resolves symbolic links, even one to a folder that is missing because a process was killed while replacing it. The depth ends loops.
function folderBehind(target: string, depth = 0): string {
  if (fs.existsSync(target)) return fs.realpathSync(target);
  const isLink = fs.lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || depth > 40) return path.resolve(target);
  return folderBehind(path.resolve(path.dirname(target), fs.readlinkSync(target)), depth + 1);
}

// The temporary file is in the same folder, because a rename works only within one file system. It has the same extension, which may decide
// whether it is compressed, and its name is never too long, even if the target's name has the maximum length.
function temporaryName(target: string): string {
  const id = randomBytes(4).toString("hex");
  return path.join(path.dirname(target), `.partial-${id}-${path.basename(target).slice(-50)}`);
}

// Returns the same name in every run, so that the next run finds the folder. The hash distinguishes long names with the same end.
function asideName(target: string): string {
  const name = path.basename(target);
  const id = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return path.join(path.dirname(target), `.replaced-${id}-${name.slice(-50)}`);
}

// A link, unlike a rename, never replaces a file that another process has created in the meantime.
function moveInto(from: string, to: string, overwrite: boolean): void {
  try {
    if (!overwrite) fs.linkSync(from, to);
  } catch (error) {
    // Not every file system supports links.
    if (fs.lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw existsError(to, error);
    overwrite = true;
  }
  if (overwrite) fs.renameSync(from, to);
  else fs.rmSync(from);
}

/** Replaces `target` with a complete file, which gets the target's permissions. */
export function replaceFile(file: string, target: string): void {
  flush(file, fs.statSync(target, { throwIfNoEntry: false })?.mode);
  fs.renameSync(file, target);
}

// Flushes a file to disk, so that a power failure cannot leave an empty file under its final name. Sets its permissions, if given.
function flush(file: string, mode?: number): void {
  const descriptor = fs.openSync(file, "r+");
  try {
    if (mode !== undefined) fs.fchmodSync(descriptor, mode & 0o777);
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function existsError(file: string, cause?: unknown): Error {
  return systemError("EEXIST", "file already exists", file, cause);
}

function systemError(code: string, reason: string, file: string, cause?: unknown): Error {
  return Object.assign(new Error(`${code}: ${reason}, open '${file}'`, { cause }), {
    code,
    syscall: "open",
    path: file,
  });
}
