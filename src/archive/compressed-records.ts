// Finds records as they are compressed in their archive, so that they can be copied into another one without being
// compressed again. Only those that say their length: so do then all records of the new archive.
import type { ArchiveSource, CompressedFile } from "./archive-source.ts";
import { gunzipExactly } from "./gunzip.ts";
import { type Member, membersByLength } from "./gzip-members.ts";
import type { Extent } from "./kept-body.ts";
import { recordEnd } from "./packed-member.ts";

export class CompressedRecords {
  readonly #compressed: CompressedFile | undefined;
  /** By their position in the unpacked archive. */
  #members: Promise<ReadonlyMap<number, Member>> | undefined;

  constructor({ compressed }: ArchiveSource) {
    this.#compressed = compressed;
  }

  /** The gzip member that holds this record and nothing else. `record`: without the line ends after it. */
  async find(record: Extent): Promise<Extent | undefined> {
    if (this.#compressed === undefined) return undefined;
    const { file } = this.#compressed;
    this.#members ??= byPosition(this.#compressed);
    const member = (await this.#members).get(record.offset);
    if (member === undefined || member.unpacked !== record.length + recordEnd.length) return undefined;
    const { offset, length, isLarge } = member;
    // A large one was unpacked, and compared with what it says, when its end was read; small ones were many at once.
    if (isLarge) await record.file.read(record.offset + record.length - 1, 1);
    else if (!(await holds(await file.read(offset, length), member.unpacked, record))) return undefined;
    return { file, offset, length };
  }
}

async function byPosition({ file, size, membersEnd, skipped }: CompressedFile): Promise<ReadonlyMap<number, Member>> {
  const found = new Map<number, Member>();
  let position = 0;
  for await (const member of membersByLength(file, size)) {
    if (member.offset >= membersEnd) break;
    if (skipped.has(member.offset)) continue;
    found.set(position, member);
    position += member.unpacked;
  }
  return found;
}

async function holds(compressed: Uint8Array, length: number, record: Extent): Promise<boolean> {
  const content = gunzipExactly(compressed, length);
  if (content === undefined) return false;
  return Buffer.from(await record.file.read(record.offset, record.length)).equals(content.subarray(0, record.length));
}
