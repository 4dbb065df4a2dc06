// `-f parquet -o DIR`: three files in a folder, each complete or missing.
import path from "node:path";
import { makeFolder } from "../store/make-folder.ts";
import { systemReason } from "../system-reason.ts";
import { type ParquetFile, ParquetTables } from "../write/parquet.ts";
import { UsageError } from "./exit-codes.ts";
import { OutputFile } from "./output-file.ts";

export class ParquetFolder {
  readonly tables: ParquetTables;
  readonly #files = new Map<ParquetFile, OutputFile>();

  /** Throws a `UsageError` if the files cannot be written, or exist and may not be replaced. */
  constructor(folder: string, { force }: { force?: boolean | undefined }) {
    try {
      makeFolder(folder);
    } catch (error) {
      throw new UsageError(`${folder} cannot be written: ${systemReason(error)}`);
    }
    try {
      for (const name of ["pages", "sitemaps", "problems"] as const) {
        this.#files.set(name, new OutputFile(path.join(folder, `${name}.parquet`), { force }));
      }
    } catch (error) {
      this.discard();
      throw error;
    }
    this.tables = new ParquetTables((name) => (bytes) => this.#files.get(name)?.write(bytes));
  }

  keep(): void {
    for (const file of this.#files.values()) file.keep();
  }

  discard(): void {
    for (const file of this.#files.values()) file.discard();
  }
}
