// `--save FILE`: where the archive is written. A new file is written in place, so that a killed run leaves what it has.
// One that replaces another is written next to it and renamed if the run succeeds; otherwise the old one stays.
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/system-reason.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { replaceable, temporaryOutput } from "./file.ts";
import { OutputFailed } from "./stdout.ts";

export class SaveFile {
  /** The path to write to. */
  readonly path: string;
  readonly replaces: string | undefined;
  readonly #target: string | undefined;
  readonly #unfinished: Context["unfinished"];
  #isOpen: boolean;

  /** Throws a `UsageError` if the file exists and may not or cannot be replaced. */
  constructor(file: string, force: boolean, { unfinished }: Context) {
    this.#unfinished = unfinished;
    this.#target = targetOf(file, force);
    this.replaces = this.#target === undefined ? undefined : file;
    this.path = this.#target === undefined ? file : beside(this.#target);
    this.#isOpen = this.#target !== undefined;
    if (this.#isOpen) unfinished.add(this);
  }

  get ifStopped(): string | undefined {
    if (this.replaces !== undefined) return `${this.replaces} was not changed`;
    return existsSync(this.path) ? `${this.path} holds what was received` : undefined;
  }

  /** Renames the archive to its final name. */
  keep(): void {
    if (this.#target === undefined || !this.#isOpen) return;
    try {
      takeOver(this.path, this.#target);
    } catch (error) {
      throw new OutputFailed(`${this.replaces} could not be replaced: ${systemReason(error)}`);
    } finally {
      this.discard();
    }
  }

  /** Keeps the old archive, and removes the new one. May be called at any time. */
  discard(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#unfinished.delete(this);
    rmSync(this.path, { force: true });
  }
}

// The file to replace, if there is one.
function targetOf(file: string, force: boolean): string | undefined {
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
    if (statSync(file, { throwIfNoEntry: false }) === undefined) throw new UsageError(`${file} is a link to nowhere`);
    return replaceable(file, force);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} cannot be written: ${systemReason(error)}`);
  }
}

// In the same folder, so that it can be renamed; with the same extension, which decides about compression.
function beside(file: string): string {
  const [ending = ".warc"] = /(?:\.warc)?\.gz$/i.exec(file) ?? [];
  return temporaryOutput(file, path.basename(file).slice(0, 50), ending);
}

// Flushed before it is renamed: a power failure must not leave an empty file in place of the old archive.
function takeOver(from: string, to: string): void {
  const descriptor = openSync(from, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  chmodSync(from, statSync(to).mode & 0o777);
  renameSync(from, to);
}
