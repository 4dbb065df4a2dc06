// Reads Parquet files with a reader that shares no code with the writer.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";

export function parquetRows(file: string): Promise<Record<string, unknown>[]> {
  const bytes = new Uint8Array(readFileSync(file)).buffer;
  return parquetReadObjects({ file: bytes, compressors: { GZIP: (input) => gunzipSync(input) } });
}
