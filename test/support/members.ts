// The members of a file that is compressed record by record, found by decompressing them.
import { inflateRawSync } from "node:zlib";

export interface Member {
  readonly offset: number;
  readonly length: number;
  readonly content: Buffer;
}

export function membersOf(file: Buffer): Member[] {
  const members: Member[] = [];
  for (let offset = 0; offset < file.length; ) {
    // The header has ten bytes, and eight follow the data.
    const data = file.subarray(offset + 10);
    const { buffer, engine } = inflateRawSync(data, { info: true }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    const length = 10 + engine.bytesWritten + 8;
    members.push({ offset, length, content: buffer });
    offset += length;
  }
  return members;
}
