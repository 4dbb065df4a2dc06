// `-f parquet -o DIR`: three files in a folder, each complete or missing.
import { rmdirSync } from "node:fs";
import path from "node:path";
import { makeFolder } from "../../fleet/fleet-folder.ts";
import { systemReason } from "../../model/system-reason.ts";
import { type ParquetFile, ParquetTables } from "../../write/parquet.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { OutputFile } from "./file.ts";

export class ParquetFolder {
  readonly tables: ParquetTables;
  readonly #folder: string;
  // The folders that were missing, the innermost first.
  #made: readonly string[];
  readonly #unfinished: Context["unfinished"];
  readonly #files = new Map<ParquetFile, OutputFile>();

  /** Throws a `UsageError` if the files cannot be written, or exist and may not be replaced. */
  constructor(folder: string, { force }: { force?: boolean | undefined }, context: Context) {
    this.#folder = folder;
    this.#unfinished = context.unfinished;
    try {
      this.#made = makeFolder(folder);
    } catch (error) {
      throw new UsageError(`${folder} cannot be written: ${systemReason(error)}`);
    }
    try {
      for (const name of ["pages", "sitemaps", "problems"] as const) {
        this.#files.set(name, new OutputFile(path.join(folder, `${name}.parquet`), { force }, context));
      }
    } catch (error) {
      this.discard();
      throw error;
    }
    // After those of the files.
    context.unfinished.add(this);
    this.tables = new ParquetTables((name) => (bytes) => this.#files.get(name)?.write(bytes));
  }

  get ifStopped(): string {
    const isNew = [...this.#files.values()].every((file) => file.isNew);
    return `${this.#folder} was not ${isNew ? "written" : "changed"}`;
  }

  keep(): void {
    this.#made = [];
    for (const file of this.#files.values()) file.keep();
  }

  /** Removes what was made. May be called at any time. */
  discard(): void {
    this.#unfinished.delete(this);
    for (const file of this.#files.values()) file.discard();
    for (const folder of this.#made) {
      try {
        rmdirSync(folder);
      } catch {
        // Somebody put something there meanwhile: it stays.
      }
    }
    this.#made = [];
  }
}
