// Results in files. `-o FILE`, unless it is a pipe or device, appears only when all of it is written: a failed run leaves the old file. A
// new `--save FILE` is written in place, so that a killed run leaves what it has received; one that replaces a file appears at the end.
import fs from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/errors.ts";
import { AtomicFile, AtomicFolder } from "../../storage/atomic-file.ts";
import type { Unfinished } from "../context.ts";
import { orUsageError, UsageError } from "../exit-codes.ts";
import { OutputClosed, OutputFailed } from "./stdout.ts";

// What the files and folders of results have in common.
abstract class Result<Place extends AtomicFile | AtomicFolder> implements Unfinished {
  readonly #name: string;
  protected readonly place: Place;

  /** Throws a `UsageError` if `open` cannot open the file or folder with this name. */
  constructor(name: string, open: () => Place) {
    this.#name = name;
    this.place = opened(name, open);
  }

  get ifStopped(): string {
    if ("isDirect" in this.place && this.place.isDirect) return `only a part was written to ${this.#name}`;
    return `${this.#name} was not ${this.place.isNew ? "written" : "changed"}`;
  }

  /** Does something with the result. Throws an `OutputFailed` if that fails. */
  protected try(action: () => void): void {
    written(this.#name, action);
  }

  keep(): void {
    this.try(() => this.place.commit());
  }

  discard(): void {
    this.place.discard();
  }
}

export class OutputFile extends Result<AtomicFile> {
  constructor(file: string, overwrite = false) {
    super(file, () => new AtomicFile(file, { overwrite }));
  }

  write(data: string | Uint8Array): void {
    this.try(() => this.place.write(data));
  }
}

/** The folder of `-f parquet -o DIR`, whose files appear together. */
export class OutputFolder extends Result<AtomicFolder> {
  /** A folder that has files with other names is refused. */
  constructor(folder: string, names: readonly string[], overwrite = false) {
    super(folder, () => new AtomicFolder(folder, names, { overwrite }));
  }

  write(name: string, bytes: Uint8Array): void {
    this.try(() => fs.appendFileSync(path.join(this.place.path, name), bytes));
  }
}

/** The archive of `--save`. */
export class SaveFile implements Unfinished {
  readonly path: string;
  readonly replaces: string | undefined;
  readonly #file: AtomicFile | undefined;
  readonly #hint: string;

  /** Throws a `UsageError` if the name belongs to another kind of file, or if the file exists and may not or cannot be replaced. */
  constructor(file: string, overwrite = false, canResume = false) {
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
    this.#hint = canResume ? `; continue with --resume ${this.path}` : "";
  }

  get ifStopped(): string | undefined {
    if (this.replaces !== undefined) return `${this.replaces} was not changed`;
    return fs.existsSync(this.path) ? `${this.path} contains the responses received so far${this.#hint}` : undefined;
  }

  keep(): void {
    written(this.replaces ?? this.path, () => this.#file?.commit());
  }

  discard(): void {
    this.#file?.discard();
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
