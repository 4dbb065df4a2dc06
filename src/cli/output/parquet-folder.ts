// `-f parquet -o DIR`: three files in a folder, each complete or missing.
import { rmdirSync } from "node:fs";
import path from "node:path";
import { makeFolder } from "../../fleet/fleet-folder.ts";
import { ParquetTables } from "../../write/parquet.ts";
import type { Context } from "../context.ts";
import { orUsageError } from "../exit-codes.ts";
import { OutputFile } from "./file.ts";

export class ParquetFolder {
  readonly tables: ParquetTables;
  readonly #folder: string;
  // The folders that were missing, the innermost first.
  #made: readonly string[];
  readonly #unfinished: Context["unfinished"];
  readonly #files: OutputFile[] = [];

  /** Throws a `UsageError` if the files cannot be written, or exist and may not be replaced. */
  constructor(folder: string, { force }: { force?: boolean | undefined }, context: Context) {
    this.#folder = folder;
    this.#unfinished = context.unfinished;
    this.#made = orUsageError(`${folder} cannot be written`, () => makeFolder(folder));
    const names = ["pages", "sitemaps", "problems"] as const;
    try {
      for (const name of names) {
        this.#files.push(new OutputFile(path.join(folder, `${name}.parquet`), { force }, context));
      }
    } catch (error) {
      this.discard();
      throw error;
    }
    // After those of the files.
    context.unfinished.add(this);
    this.tables = new ParquetTables(
      (name) => (bytes) => this.#files[(names as readonly string[]).indexOf(name)]?.write(bytes),
    );
  }

  get ifStopped(): string {
    return `${this.#folder} was not ${this.#files.every((file) => file.isNew) ? "written" : "changed"}`;
  }

  keep(): void {
    this.#made = [];
    for (const file of this.#files) file.keep();
  }

  /** Removes what was made. May be called at any time. */
  discard(): void {
    this.#unfinished.delete(this);
    for (const file of this.#files) file.discard();
    try {
      for (const folder of this.#made) rmdirSync(folder);
    } catch {
      // Somebody put something there meanwhile: it stays.
    }
    this.#made = [];
  }
}
