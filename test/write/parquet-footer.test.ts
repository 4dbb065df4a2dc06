// The footer of a Parquet file, put together from row groups: byte for byte what the library that writes the file would write.
// Needs more than a second.
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { beforeAll, expect, test } from "vitest";
import { ParquetFooter } from "../../src/write/parquet-footer.ts";
import { pagesTable, schemaOf } from "../../src/write/parquet-schema.ts";
import { ParquetTable } from "../../src/write/parquet-table.ts";
import { some } from "../support/long.ts";

const schema = schemaOf(pagesTable);
const columns = pagesTable.map(([element]) => element?.name ?? "");

function writeGroup(writer: ParquetWriter, row: Record<string, unknown>): void {
  const columnData = columns.map((name) => ({ name, data: [row[name]], offsetIndex: false }));
  writer.write({ columnData, rowGroupSize: 1 });
}

// Written once: each is some forty columns. Where the run is not long, some are there again and again.
const different = some(128, 20);
const groups: ParquetWriter["row_groups"] = [];
beforeAll(() => {
  const writer = new ParquetWriter({ writer: new ByteWriter(), schema });
  for (let at = 0; at < different; at++) {
    writeGroup(writer, {
      url: `https://example.org/${at}`,
      last_modified: at % 2 === 0 ? new Date(at * 1e9) : undefined,
      priority: at / 1000,
      images: at % 3 === 0 ? [{ url: "https://example.org/ä.png", caption: "PAR1" }] : undefined,
    });
  }
  for (let at = 0; at < 128; at++) groups.push(writer.row_groups[at % different]!);
});

test.each([0, 1, 2, 14, 15, 127, 128])(
  "a footer of %i row groups has the bytes that hyparquet-writer writes",
  (count) => {
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({ writer: bytes, schema });
    writer.row_groups = groups.slice(0, count);
    writer.num_rows = BigInt(count);
    const footer = new ParquetFooter(schema);
    for (const group of writer.row_groups) footer.add(group);
    const data = bytes.offset;
    writer.finish();
    const written = Buffer.concat([...footer.bytes()]);
    expect(written.equals(bytes.getBytes().subarray(data))).toBe(true);
  },
);

test("what a table keeps for each row group is little", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const table = new ParquetTable(() => {}, pagesTable);
  const held = async (groups: number) => {
    // So heavy that each is a group of its own.
    for (let at = 0; at < groups; at++) table.add({ url: `https://example.org/${at}` }, 1e9);
    // Twice, with a turn between: buffers are let go of by another thread.
    collect();
    await sleep(20);
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const count = some(150, 80);
  const before = await held(some(50, 30));
  const after = await held(count);
  table.finish();
  // As objects they would take some 48 KB each.
  expect((after - before) / count).toBeLessThan(12 * 1024);
});
