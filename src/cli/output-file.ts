// `-o FILE`: the result in a file that is either complete or missing. It is written under a temporary name and renamed
// at the end: a run that fails, is stopped or fills the disk leaves the old file.
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import path from "node:path";
import { systemReason } from "../model/system-reason.ts";
import { UsageError } from "./exit-codes.ts";
import { OutputFailed } from "./output.ts";
import { temporaryOutput } from "./temporary-output.ts";

export class OutputFile {
  readonly path: string;
  readonly #target: string;
  readonly #partial: string;
  readonly #removeOnExit = () => this.discard();
  /** Whether there is no such file yet. */
  readonly isNew: boolean;
  #descriptor: number | undefined;

  /**
   * Opens a temporary file next to `path`. Throws a `UsageError` if `path` cannot be written, or exists and may not be
   * replaced.
   */
  constructor(file: string, { force = false }: { force?: boolean | undefined } = {}) {
    this.path = file;
    try {
      this.#target = replaceable(file, force);
      this.isNew = !existsSync(this.#target);
      this.#partial = temporaryOutput(this.#target, path.basename(file));
      this.#descriptor = openSync(this.#partial, "wx");
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`${file} cannot be written: ${systemReason(error)}`);
    }
    process.once("exit", this.#removeOnExit);
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
      process.off("exit", this.#removeOnExit);
      rmSync(this.#partial, { force: true });
    }
  }

  /** Removes the temporary file. May be called at any time. */
  discard(): void {
    process.off("exit", this.#removeOnExit);
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
