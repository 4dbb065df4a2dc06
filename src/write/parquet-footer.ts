// The footer of a Parquet file, which describes every row group and stands at its end. The library that writes the file keeps a
// description as objects, 48 KB for each group of ours; here it is kept as the 4 KB that it takes in the file.
//   https://github.com/apache/parquet-format#metadata
import { ByteWriter, ParquetWriter } from "hyparquet-writer";

type Schema = ParquetWriter["schema"];
type RowGroup = ParquetWriter["row_groups"][number];

export class ParquetFooter {
  readonly #schema: Schema;
  readonly #groups: Uint8Array[] = [];
  #rows = 0n;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  add(group: RowGroup): void {
    const { beforeList, afterList } = this.#around(0n);
    const alone = this.#write([group], 0n);
    // A copy: what the library writes into is larger.
    this.#groups.push(alone.slice(beforeList.length + 1, alone.length - afterList.length));
    this.#rows += group.num_rows;
  }

  /** Everything that comes after the last row group, in pieces. */
  *bytes(): Generator<Uint8Array, void> {
    const { beforeList, emptyList, afterList } = this.#around(this.#rows);
    const header = this.#groups.length === 0 ? emptyList : listHeader(this.#groups.length);
    const parts = [beforeList, header, ...this.#groups, afterList];
    yield* parts;
    const length = Buffer.alloc(4);
    length.writeUInt32LE(parts.reduce((sum, part) => sum + part.length, 0));
    yield length;
    yield magic;
  }

  // In the encoding of the footer (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md) a list is a header and
  // its elements, one after the other. Two footers that differ by one group show where the list is.
  #around(rows: bigint): Record<"beforeList" | "emptyList" | "afterList", Uint8Array> {
    const without = this.#write([], rows);
    const withOne = this.#write([emptyGroup], rows);
    const at = without.findIndex((byte, index) => byte !== withOne[index]);
    return {
      beforeList: without.subarray(0, at),
      emptyList: without.subarray(at, at + 1),
      afterList: without.subarray(at + 1),
    };
  }

  // A footer as the library writes it, without its length and without the letters that a file begins and ends with.
  #write(groups: RowGroup[], rows: bigint): Uint8Array {
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({ writer: bytes, schema: this.#schema });
    writer.row_groups = groups;
    writer.num_rows = rows;
    writer.finish();
    return bytes.getBytes().subarray(magic.length, -4 - magic.length);
  }
}

const magic: Uint8Array = Buffer.from("PAR1");
const emptyGroup: RowGroup = { columns: [], total_byte_size: 0n, num_rows: 0n };

// The number of elements, and their type: structures.
function listHeader(count: number): Uint8Array {
  const structure = 12;
  if (count < 15) return Uint8Array.of((count << 4) | structure);
  const bytes = [0xf0 | structure];
  let rest = count;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.from([...bytes, rest]);
}
