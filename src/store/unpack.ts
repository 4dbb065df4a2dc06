// Unpacks a compressed archive into a private temporary file: its documents are then read as often as a tree needs them
// without being decompressed again, and it does not matter whether it was compressed record by record or in one piece.
// Where the records say their lengths, large documents are left out, until they are read: only their heads are needed to know
// what is in the archive. From a record on that does not say its length, or a wrong one, everything is decompressed.
import { SitemapError } from "../errors.ts";
import { gunzip, gunzipExactly, gunzipStart, isDamage } from "./gunzip.ts";
import { type Member, membersByLength, trailerLength } from "./gzip-members.ts";
import { holdsHttpHead } from "./http-block.ts";
import { blockSize, DamagedData, type Extent, type KeptFile } from "./kept-body.ts";
import { PackedMember, recordEnd } from "./packed-member.ts";
import { PackedMembers } from "./packed-members.ts";
import { createTemporaryFile } from "./temporary-file.ts";
import { recordAt } from "./warc-reader.ts";

/** A file of a few bytes must not fill a disk: sitemaps shrink to a tenth, never to a hundredth. */
const maxRatio = 100;
const alwaysAllowed = 128 * 1024 * 1024;
/** Compressed bytes that may be enough for the heads of a record and of the response in it: usually, seldom, always. */
const packedHeads = [4 * 1024, 64 * 1024, 320 * 1024];

export interface Unpacked {
  readonly file: KeptFile;
  readonly size: number;
  /** Whether the compressed data is damaged; what came before it is there. */
  readonly damaged: boolean;
  /** Where the members end in the archive that have the lengths that they say. */
  readonly membersEnd: number;
  remove(): Promise<void>;
}

interface UnpackOptions {
  readonly signal?: AbortSignal | undefined;
  readonly until?: number | undefined;
}

/** Where `until` is reached, on the clock of performance.now(), the rest is missing. */
export async function unpack(path: string, archive: Extent, options: UnpackOptions = {}): Promise<Unpacked> {
  const { file, remove } = await createTemporaryFile();
  try {
    const copy = new UnpackedCopy(path, archive, file, options);
    const damaged = (await copy.unpackMembers()) ? false : await copy.unpackRest();
    file.lazy = copy.packed;
    const { size, packed, membersEnd } = copy;
    return { file, size, damaged, membersEnd, remove: () => packed.close().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

class UnpackedCopy {
  readonly packed = new PackedMembers();
  size = 0;
  membersEnd = 0;
  readonly #path: string;
  readonly #archive: Extent;
  readonly #file: KeptFile;
  readonly #options: UnpackOptions;
  readonly #limit: number;

  constructor(path: string, archive: Extent, file: KeptFile, options: UnpackOptions) {
    this.#path = path;
    this.#archive = archive;
    this.#file = file;
    this.#options = options;
    this.#limit = Math.max(alwaysAllowed, archive.length * maxRatio);
  }

  /** Goes from length to length. False where that ends before the archive does: the rest is still to be unpacked. */
  async unpackMembers(): Promise<boolean> {
    const { file, length } = this.#archive;
    for await (const member of membersByLength(file, length, true)) {
      const isRight =
        !this.#isLate() && this.size + member.unpacked <= this.#limit && (await this.#unpackMember(member));
      if (!isRight) return false;
      this.membersEnd += member.length;
      this.size += member.unpacked;
    }
    return this.membersEnd === length;
  }

  /** Unpacks everything that is left; whether it is damaged. */
  async unpackRest(): Promise<boolean> {
    const { file, length } = this.#archive;
    try {
      // Where it is cut off, the records show it.
      for await (const piece of gunzip({ file, offset: this.membersEnd, length: length - this.membersEnd }, true)) {
        if (this.#isLate()) return false;
        if (this.size + piece.length > this.#limit) {
          throw new SitemapError("invalid-archive", `${this.#path} unpacks to more than ${this.#limit} bytes`);
        }
        await this.#file.write(this.size, piece);
        this.size += piece.length;
      }
      return false;
    } catch (error) {
      if (isDamage(error)) return true;
      throw error;
    }
  }

  /** Whether the member has the lengths that it says. */
  #unpackMember({ isLarge, unpacked: length, ...place }: Member): Promise<boolean> {
    const packed = { file: this.#archive.file, ...place };
    const unpacked = { file: this.#file, offset: this.size, length };
    return isLarge ? this.#leavePacked(packed, unpacked) : this.#unpackSmall(packed, unpacked);
  }

  async #unpackSmall(packed: Extent, { offset, length }: Extent): Promise<boolean> {
    const content = gunzipExactly(await packed.file.read(packed.offset, packed.length), length);
    if (content !== undefined) await this.#file.write(offset, content);
    return content !== undefined;
  }

  // Of a response, nothing but its head is needed now, if that and the end of the member agree about the length.
  async #leavePacked(packed: Extent, unpacked: Extent): Promise<boolean> {
    const start = await startOf(packed);
    const record = recordAt(start);
    const isResponse = record?.type === "response" && record.length + recordEnd.length === unpacked.length;
    if (!isResponse || start.length > unpacked.length || (await sizeIn(packed)) !== unpacked.length) {
      return this.#unpackLarge(packed, unpacked);
    }
    const head = start.subarray(0, record.length);
    await this.#file.write(unpacked.offset, head);
    await this.#file.write(unpacked.offset + record.length, recordEnd);
    this.packed.add(new PackedMember({ path: this.#path, packed, unpacked, headLength: head.length }));
    return true;
  }

  async #unpackLarge(packed: Extent, unpacked: Extent): Promise<boolean> {
    const member = new PackedMember({ path: this.#path, packed, unpacked, headLength: 0 });
    try {
      for (let to = member.start; !member.isWhole; to = Math.min(to + blockSize, member.end)) {
        if (this.#isLate()) return false;
        await member.load(to);
      }
      return true;
    } catch (error) {
      if (error instanceof DamagedData) return false;
      throw error;
    } finally {
      await member.close();
    }
  }

  #isLate(): boolean {
    this.#options.signal?.throwIfAborted();
    return performance.now() > (this.#options.until ?? Number.POSITIVE_INFINITY);
  }
}

// What a member begins with: of a response, up to the end of its head. Without the checksum, which is for whoever reads the whole.
async function startOf({ file, offset, length }: Extent): Promise<Uint8Array> {
  let start: Uint8Array = new Uint8Array();
  for (const most of packedHeads) {
    const longer = gunzipStart(await file.read(offset, Math.min(length - trailerLength, most)));
    // Damaged further on.
    if (longer.length <= start.length) break;
    start = longer;
    const record = recordAt(start);
    if (record !== undefined && (record.type !== "response" || holdsHttpHead(start.subarray(record.headLength)))) break;
  }
  return start;
}

// https://www.rfc-editor.org/rfc/rfc1952#page-8: the last four bytes of a member are the length of its content.
async function sizeIn({ file, offset, length }: Extent): Promise<number> {
  const bytes = await file.read(offset + length - 4, 4);
  return bytes.length < 4 ? 0 : Buffer.from(bytes).readUInt32LE();
}
