// The lengths of a record that is compressed on its own, in the header of its gzip member. gzip does not tell where a member
// ends: with these, a reader gets from record to record without decompressing them. Other programs ignore the field.
//   https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1.1
// Its layout is that of the WARC drafts ("skip-lengths", `sl`): how far it is from this member to the next one in the file, and
// in the decompressed file. A file may say anything: whoever uses the lengths checks them.
//   http://archive-access.sourceforge.net/warc/warc_file_format-0.9.html

export interface SkipLengths {
  /** The length of the whole member, with its header. */
  readonly packed: number;
  readonly unpacked: number;
}

/** The header that zlib writes, without a field. */
const plainHeader = 10;
/** Ours: the plain one, the length of the extra field, and the field. */
const ourHeader = plainHeader + 2 + 12;
const extraFlag = 4;
const unknownSystem = 255;
const largest = 2 ** 32 - 1;

/** Zeros for lengths that are not known, or too long for the field. */
export function memberHeader({ packed, unpacked }: SkipLengths = { packed: 0, unpacked: 0 }): Buffer {
  const header = Buffer.alloc(ourHeader);
  header.set([0x1f, 0x8b, 8, extraFlag]);
  header[9] = unknownSystem;
  header.writeUInt16LE(12, plainHeader);
  header.write("sl", 12, "latin1");
  header.writeUInt16LE(8, 14);
  const isKnown = packed <= largest && unpacked <= largest;
  header.writeUInt32LE(isKnown ? packed : 0, 16);
  header.writeUInt32LE(isKnown ? unpacked : 0, 20);
  return header;
}

/** A member that zlib made, or the start of one, with our header instead of its own. */
export function withOurHeader(member: Uint8Array, unpacked?: number): Buffer {
  const packed = member.length - plainHeader + ourHeader;
  const header = memberHeader(unpacked === undefined ? undefined : { packed, unpacked });
  return Buffer.concat([header, member.subarray(plainHeader)]);
}

/** Whether the bytes begin like a member. */
export function isMember(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** How many bytes of a member are needed to know its lengths; undefined unless it may have any. */
export function fieldsLength(bytes: Uint8Array): number | undefined {
  if (!isMember(bytes) || bytes[2] !== 8 || (bytes[3]! & extraFlag) === 0 || bytes.length < plainHeader + 2)
    return undefined;
  return plainHeader + 2 + uint16(bytes, plainHeader);
}

/** The lengths that a member claims to have; undefined if it says none. */
export function skipLengths(bytes: Uint8Array): SkipLengths | undefined {
  const end = fieldsLength(bytes) ?? 0;
  if (bytes.length < end) return undefined;
  for (let at = plainHeader + 2; at + 4 <= end; ) {
    const length = uint16(bytes, at + 2);
    if (bytes[at] === 0x73 && bytes[at + 1] === 0x6c && length === 8 && at + 12 <= end) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at + 4, 8);
      const lengths = { packed: view.getUint32(0, true), unpacked: view.getUint32(4, true) };
      // Shorter than its header: it would not get us any further.
      return lengths.packed > end && lengths.unpacked > 0 ? lengths : undefined;
    }
    at += 4 + length;
  }
  return undefined;
}

/** Where the compressed data of a member begins, if it has no other fields than ours; undefined for other ones. */
export function dataStart(bytes: Uint8Array): number | undefined {
  if (!isMember(bytes) || bytes[2] !== 8) return undefined;
  if (bytes[3] === 0) return plainHeader;
  return bytes[3] === extraFlag ? fieldsLength(bytes) : undefined;
}

function uint16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}
