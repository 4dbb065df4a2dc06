// Results in files. `-o FILE`, unless it is a pipe or device, appears only when all of it is written: a failed run leaves the old file. A
// new `--save FILE` is written in place, so that a killed run leaves what it has received; one that replaces a file appears at the end.
import fs from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/errors.ts";
import { AtomicFile, AtomicFolder } from "../../storage/atomic-file.ts";
import type { Unfinished } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { OutputClosed, OutputFailed } from "./stdout.ts";

export class OutputFile implements Unfinished {
  readonly #name: string;
  readonly #file: AtomicFile;

  /** Opens the file. Throws a `UsageError` if `file` cannot be written, or exists and may not be replaced. */
  constructor(file: string, overwrite = false) {
    this.#name = file;
    this.#file = opened(file, () => new AtomicFile(file, { overwrite }));
  }

  get ifStopped(): string {
    if (this.#file.isDirect) return `only a part was written to ${this.#name}`;
    return `${this.#name} was not ${this.#file.isNew ? "written" : "changed"}`;
  }

  write(data: string | Uint8Array): void {
    written(this.#name, () => this.#file.write(data));
  }

  keep(): void {
    written(this.#name, () => this.#file.commit());
  }

  discard(): void {
    this.#file.discard();
  }
}

/** The archive of `--save`. */
export class SaveFile implements Unfinished {
  readonly path: string;
  readonly replaces: string | undefined;
  readonly #file: AtomicFile | undefined;

  /** Throws a `UsageError` if the name belongs to another kind of file, or if the file exists and may not or cannot be replaced. */
  constructor(file: string, overwrite = false) {
    if (!/\.(?:warc|gz)$/i.test(file))
      throw new UsageError(`--save writes an archive: its name must end in .warc or .warc.gz, not ${file}`);
    const found = orUsageError(`${file} cannot be written`, () => fs.lstatSync(file, { throwIfNoEntry: false }));
    if (found !== undefined) {
      if (!fs.existsSync(file)) throw new UsageError(`${file} is a broken symbolic link`);
      if (!fs.statSync(file).isFile()) throw new UsageError(`${file} is not a regular file`);
      this.#file = opened(file, () => new AtomicFile(file, { overwrite, open: false }));
      this.replaces = file;
    }
    this.path = this.#file?.path ?? file;
  }

  get ifStopped(): string | undefined {
    if (this.replaces !== undefined) return `${this.replaces} was not changed`;
    return fs.existsSync(this.path) ? `${this.path} contains the responses received so far` : undefined;
  }

  keep(): void {
    written(this.replaces ?? this.path, () => this.#file?.commit());
  }

  discard(): void {
    this.#file?.discard();
  }
}

/** The folder of `-f parquet -o DIR`, whose files appear together. */
export class OutputFolder implements Unfinished {
  readonly #name: string;
  readonly #folder: AtomicFolder;
  readonly #files: ReadonlyMap<string, AtomicFile>;

  /** Throws a `UsageError` if the folder cannot be written, has other files, or exists and may not be replaced. */
  constructor(folder: string, names: readonly string[], overwrite?: boolean) {
    this.#name = folder;
    this.#folder = opened(folder, () => new AtomicFolder(folder, names, { overwrite }));
    this.#files = new Map(names.map((name) => [name, new AtomicFile(path.join(this.#folder.path, name))]));
  }

  get ifStopped(): string {
    return `${this.#name} was not ${this.#folder.isNew ? "written" : "changed"}`;
  }

  write(name: string, bytes: Uint8Array): void {
    written(this.#name, () => this.#files.get(name)?.write(bytes));
  }

  keep(): void {
    written(this.#name, () => {
      for (const file of this.#files.values()) file.commit();
      this.#folder.commit();
    });
  }

  discard(): void {
    for (const file of this.#files.values()) file.discard();
    this.#folder.discard();
  }
}

function opened<T>(file: string, open: () => T): T {
  return orUsageError(`${file} cannot be written`, () => {
    try {
      return open();
    } catch (error) {
      const { code, otherFile } = error as NodeJS.ErrnoException & { otherFile?: string };
      if (code === "EEXIST") throw new UsageError(`${file} exists; replace it with --force`);
      if (otherFile === undefined) throw error;
      throw new UsageError(`${file} contains other files, such as ${otherFile}; name a new folder`);
    }
  });
}

function written(file: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    // Only a pipe, or /dev/stdout, gives this error.
    if ((error as NodeJS.ErrnoException).code === "EPIPE")
      throw new OutputClosed(`the program reading ${file} closed it`);
    throw new OutputFailed(`${file} could not be written: ${systemReason(error)}`);
  }
}
