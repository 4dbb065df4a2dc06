// Results in files. `-o FILE` is either complete or missing: it is written under a temporary name, `.NAME.PID.partial`, and renamed at
// the end, so that a run that fails, is stopped or fills the disk leaves the old file. Leftovers of a killed process are removed by the
// next run. `--save FILE` is written in place if it is new, so that a killed run leaves what it has; one that replaces another is renamed,
// too.
import fs from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/errors.ts";
import { makeFolder, removeEmpty, replaceFile } from "../../storage/folder.ts";
import { isRunning } from "../../storage/lock.ts";
import type { Unfinished } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { OutputFailed } from "./stdout.ts";

export class OutputFile implements Unfinished {
  readonly path: string;
  /** Whether there is no such file yet. */
  readonly isNew: boolean;
  readonly #target: string;
  readonly #partial: string;
  #descriptor: number | undefined;

  /** Throws a `UsageError` if `file` cannot be written, or exists and may not be replaced. */
  constructor(file: string, force = false) {
    this.path = file;
    this.#target = orUsageError(`${file} cannot be written`, () => replaceable(file, force));
    this.isNew = !fs.existsSync(this.#target);
    this.#partial = temporaryOutput(this.#target, path.basename(file));
    this.#descriptor = orUsageError(`${file} cannot be written`, () => fs.openSync(this.#partial, "wx"));
  }

  get ifStopped(): string {
    return `${this.path} was not ${this.isNew ? "written" : "changed"}`;
  }

  /** Writes all of it. */
  write(data: string | Uint8Array): void {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) throw new OutputFailed(`${this.path} is closed`);
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    // A nearly full disk accepts a part, and reports an error only at the next attempt.
    orFailed(`${this.path} could not be written`, () => {
      for (let done = 0; done < bytes.length; ) done += fs.writeSync(descriptor, bytes, done);
    });
  }

  keep(): void {
    this.#close();
    orFailed(`${this.path} could not be written`, () => fs.renameSync(this.#partial, this.#target));
  }

  discard(): void {
    this.#close();
    fs.rmSync(this.#partial, { force: true });
  }

  #close(): void {
    if (this.#descriptor !== undefined) fs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Where the archive of `--save` is written. */
export class SaveFile implements Unfinished {
  readonly path: string;
  readonly replaces: string | undefined;
  // Until it is replaced.
  #target: string | undefined;

  /** Throws a `UsageError` if the name is of another kind of file, or the file exists and may not or cannot be replaced. */
  constructor(file: string, force = false) {
    if (!/\.(?:warc|gz)$/i.test(file))
      throw new UsageError(`--save writes an archive: its name must end in .warc or .warc.gz, not ${file}`);
    const target = orUsageError(`${file} cannot be written`, () => {
      if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
      if (!fs.existsSync(file)) throw new UsageError(`${file} is a broken symbolic link`);
      return replaceable(file, force);
    });
    this.#target = target;
    this.replaces = target === undefined ? undefined : file;
    // The same extension, which decides about compression.
    const [ending = ".warc"] = /(?:\.warc)?\.gz$/i.exec(target ?? "") ?? [];
    this.path = target === undefined ? file : temporaryOutput(target, path.basename(target).slice(0, 50), ending);
  }

  get ifStopped(): string | undefined {
    if (this.replaces !== undefined) return `${this.replaces} was not changed`;
    return fs.existsSync(this.path) ? `${this.path} contains the responses received so far` : undefined;
  }

  keep(): void {
    const target = this.#target;
    if (target === undefined) return;
    orFailed(`${this.replaces} could not be replaced`, () => replaceFile(this.path, target));
  }

  discard(): void {
    if (this.#target !== undefined) fs.rmSync(this.path, { force: true });
    this.#target = undefined;
  }
}

/** `-f parquet -o DIR`: files in a folder, each complete or missing. */
export class OutputFolder implements Unfinished {
  readonly #folder: string;
  // The folders that were missing, until the files are kept.
  #made: readonly string[];
  readonly #files = new Map<string, OutputFile>();

  /** Throws a `UsageError` if the files cannot be written, or exist and may not be replaced. */
  constructor(folder: string, names: readonly string[], force?: boolean) {
    this.#folder = folder;
    this.#made = orUsageError(`${folder} cannot be written`, () => makeFolder(folder));
    try {
      for (const name of names) this.#files.set(name, new OutputFile(path.join(folder, name), force));
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  get ifStopped(): string {
    return `${this.#folder} was not ${[...this.#files.values()].every((file) => file.isNew) ? "written" : "changed"}`;
  }

  write(name: string, bytes: Uint8Array): void {
    this.#files.get(name)?.write(bytes);
  }

  keep(): void {
    this.#made = [];
    for (const file of this.#files.values()) file.keep();
  }

  discard(): void {
    for (const file of this.#files.values()) file.discard();
    removeEmpty(this.#made);
    this.#made = [];
  }
}

function orFailed(what: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    throw new OutputFailed(`${what}: ${systemReason(error)}`);
  }
}

// The file that a path leads to. Devices and pipes would be replaced by a file.
function replaceable(file: string, force: boolean): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return file;
  if (!stat.isFile()) throw new UsageError(`${file} is not a regular file`);
  if (!force) throw new UsageError(`${file} exists; replace it with --force`);
  return fs.realpathSync(file);
}

// A path for this process only, next to `target`. Removes those of the same name whose process has ended.
function temporaryOutput(target: string, name: string, ending = ""): string {
  const folder = path.dirname(target);
  const [start, end] = [`.${name}.`, `.partial${ending}`];
  try {
    for (const found of fs.readdirSync(folder)) {
      if (!found.startsWith(start) || !found.endsWith(end)) continue;
      const pid = found.slice(start.length, -end.length);
      // In a container, an earlier process often had the same id.
      const hasEnded = /^\d{1,10}$/.test(pid) && (Number(pid) === process.pid || !isRunning(Number(pid)));
      const left = fs.lstatSync(path.join(folder, found));
      // What is younger than this process may be of another one that it cannot see.
      if (hasEnded && left.isFile() && left.mtimeMs < performance.timeOrigin) fs.rmSync(path.join(folder, found));
    }
  } catch {
    // Another process was faster, or the folder may not be changed: nothing depends on it.
  }
  return path.join(folder, `${start}${process.pid}${end}`);
}
