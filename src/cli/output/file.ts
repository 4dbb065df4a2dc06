// Results in files. `-o FILE` is either complete or missing: it is written under a temporary name, `.NAME.PID.partial`, and renamed at the end,
// so that a run that fails, is stopped or fills the disk leaves the old file. What a killed process left is removed by the next run. `--save
// FILE` is written in place if it is new, so that a killed run leaves what it has; one that replaces another is renamed, too.
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/errors.ts";
import type { Context } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { OutputFailed } from "./stdout.ts";

export class OutputFile {
  readonly path: string;
  /** Whether there is no such file yet. */
  readonly isNew: boolean;
  readonly #target: string;
  readonly #partial: string;
  readonly #unfinished: Context["unfinished"];
  #descriptor: number | undefined;

  /** Throws a `UsageError` if `file` cannot be written, or exists and may not be replaced. */
  constructor(file: string, { force = false }: { force?: boolean | undefined }, { unfinished }: Context) {
    this.path = file;
    this.#unfinished = unfinished;
    this.#target = orUsageError(`${file} cannot be written`, () => replaceable(file, force));
    this.isNew = !existsSync(this.#target);
    this.#partial = temporaryOutput(this.#target, path.basename(file));
    this.#descriptor = orUsageError(`${file} cannot be written`, () => openSync(this.#partial, "wx"));
    unfinished.add(this);
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
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    });
  }

  /** Renames the file to its final name. */
  keep(): void {
    this.#close();
    try {
      orFailed(`${this.path} could not be written`, () => renameSync(this.#partial, this.#target));
    } finally {
      this.#unfinished.delete(this);
      rmSync(this.#partial, { force: true });
    }
  }

  /** Removes the temporary file. May be called at any time. */
  discard(): void {
    this.#unfinished.delete(this);
    if (this.#descriptor === undefined) return;
    this.#close();
    rmSync(this.#partial, { force: true });
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Where the archive of `--save` is written. */
export class SaveFile {
  readonly path: string;
  readonly replaces: string | undefined;
  readonly #target: string | undefined;
  readonly #unfinished: Context["unfinished"];

  /** Throws a `UsageError` if the file exists and may not or cannot be replaced. */
  constructor(file: string, force: boolean, { unfinished }: Context) {
    this.#unfinished = unfinished;
    this.#target = orUsageError(`${file} cannot be written`, () => {
      if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
      if (!existsSync(file)) throw new UsageError(`${file} is a link to nowhere`);
      return replaceable(file, force);
    });
    this.replaces = this.#target === undefined ? undefined : file;
    // The same extension, which decides about compression.
    const [ending = ".warc"] = /(?:\.warc)?\.gz$/i.exec(this.#target ?? "") ?? [];
    const name = path.basename(this.#target ?? "").slice(0, 50);
    this.path = this.#target === undefined ? file : temporaryOutput(this.#target, name, ending);
    if (this.#target !== undefined) unfinished.add(this);
  }

  get ifStopped(): string | undefined {
    if (this.replaces !== undefined) return `${this.replaces} was not changed`;
    return existsSync(this.path) ? `${this.path} holds what was received` : undefined;
  }

  /** Renames the archive to its final name. */
  keep(): void {
    const target = this.#target;
    if (target === undefined || !this.#unfinished.has(this)) return;
    try {
      orFailed(`${this.replaces} could not be replaced`, () => {
        // A power failure must not leave an empty file in place of the old archive.
        const descriptor = openSync(this.path, "r+");
        fsyncSync(descriptor);
        closeSync(descriptor);
        chmodSync(this.path, statSync(target).mode & 0o777);
        renameSync(this.path, target);
      });
    } finally {
      this.discard();
    }
  }

  /** Keeps the old archive, and removes the new one. May be called at any time. */
  discard(): void {
    if (this.#unfinished.delete(this)) rmSync(this.path, { force: true });
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
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return file;
  if (!stat.isFile()) throw new UsageError(`${file} is not a regular file`);
  if (!force) throw new UsageError(`${file} exists; replace it with --force`);
  return realpathSync(file);
}

// A path of this process's own, beside `target`. Removes those of the same name whose process has ended.
function temporaryOutput(target: string, name: string, ending = ""): string {
  const folder = path.dirname(target);
  const [start, end] = [`.${name}.`, `.partial${ending}`];
  try {
    for (const found of readdirSync(folder)) {
      if (!found.startsWith(start) || !found.endsWith(end)) continue;
      const pid = found.slice(start.length, -end.length);
      if (/^\d{1,10}$/.test(pid) && !isRunning(Number(pid))) removeLeftover(path.join(folder, found));
    }
  } catch {
    // Another process was faster, or the folder may not be changed: nothing depends on it.
  }
  return path.join(folder, `${start}${process.pid}${end}`);
}

// A link is not followed; what is younger than this process may be of another one that it cannot see.
function removeLeftover(file: string): void {
  const found = lstatSync(file);
  const isOwn = found.isFile() && found.uid === (process.getuid?.() ?? found.uid);
  if (isOwn && found.mtimeMs < performance.timeOrigin) rmSync(file);
}

// In a container, an earlier process often had the same id.
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, but it is somebody else's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
