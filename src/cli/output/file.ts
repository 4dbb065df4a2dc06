// `-o FILE`: the result in a file that is either complete or missing. It is written under a temporary name, `.NAME.PID.partial`, and renamed at
// the end: a run that fails, is stopped or fills the disk leaves the old file. What a killed process left is removed by the next run.
import {
  closeSync,
  existsSync,
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
import { systemReason } from "../../model/system-reason.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { OutputFailed } from "./stdout.ts";

export class OutputFile {
  readonly path: string;
  readonly #target: string;
  readonly #partial: string;
  readonly #unfinished: Context["unfinished"];
  /** Whether there is no such file yet. */
  readonly isNew: boolean;
  #descriptor: number | undefined;

  /**
   * Opens a temporary file next to `path`. Throws a `UsageError` if `path` cannot be written, or exists and may not be
   * replaced.
   */
  constructor(file: string, { force = false }: { force?: boolean | undefined }, { unfinished }: Context) {
    this.path = file;
    this.#unfinished = unfinished;
    try {
      this.#target = replaceable(file, force);
      this.isNew = !existsSync(this.#target);
      this.#partial = temporaryOutput(this.#target, path.basename(file));
      this.#descriptor = openSync(this.#partial, "wx");
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`${file} cannot be written: ${systemReason(error)}`);
    }
    unfinished.add(this);
  }

  get ifStopped(): string {
    return `${this.path} was not ${this.isNew ? "written" : "changed"}`;
  }

  /** Writes all of it. Throws `OutputFailed`. */
  write(data: string | Uint8Array): void {
    if (this.#descriptor === undefined) throw new OutputFailed(`${this.path} is closed`);
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    try {
      // A nearly full disk accepts a part, and reports an error only at the next attempt.
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
    } catch (error) {
      throw new OutputFailed(`${this.path} could not be written: ${systemReason(error)}`);
    }
  }

  /** Renames the file to its final name. */
  keep(): void {
    this.#close();
    try {
      renameSync(this.#partial, this.#target);
    } catch (error) {
      throw new OutputFailed(`${this.path} could not be written: ${systemReason(error)}`);
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

/** The file that a path leads to. Throws for devices and pipes, which would be replaced by a file, and for directories. */
export function replaceable(file: string, force: boolean): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return file;
  if (!stat.isFile()) throw new UsageError(`${file} is not a regular file`);
  if (!force) throw new UsageError(`${file} exists; replace it with --force`);
  return realpathSync(file);
}

/** The path of this process's own, beside `target`. Removes those of the same name whose process has ended. `ending`: of the file's name. */
export function temporaryOutput(target: string, name: string, ending = ""): string {
  const folder = path.dirname(target);
  removeLeftovers(folder, `.${name}.`, `.partial${ending}`);
  return path.join(folder, `.${name}.${process.pid}.partial${ending}`);
}

function removeLeftovers(folder: string, start: string, end: string): void {
  for (const name of names(folder)) {
    if (!name.startsWith(start) || !name.endsWith(end)) continue;
    const pid = name.slice(start.length, -end.length);
    if (!/^\d{1,10}$/.test(pid) || isRunning(Number(pid))) continue;
    const file = path.join(folder, name);
    try {
      // A link is not followed; what is younger than this process may be of another one that it cannot see.
      const found = lstatSync(file);
      const isOwn = found.isFile() && found.uid === (process.getuid?.() ?? found.uid);
      if (isOwn && found.mtimeMs < performance.timeOrigin) rmSync(file);
    } catch {
      // Another process was faster, or the folder may not be changed: nothing depends on it.
    }
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// In a container, an earlier process often had the same id.
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, but it is somebody else's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
