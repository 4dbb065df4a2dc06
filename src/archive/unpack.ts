// Unpacks a compressed archive into a private temporary file: its documents are then read as often as a tree needs them
// without being decompressed again, and it does not matter whether it was compressed record by record or in one piece.
// Where the records say their lengths, large documents are left out, until they are read: only their heads are needed to know
// what is in the archive. A large record that is damaged at its start is skipped. From a record on that does not say its length,
// or a wrong one, everything is decompressed.
import { SitemapError } from "../model/errors.ts";
import { gunzip, gunzipExactly, gunzipStart, isDamagedGzip, isDataError } from "./gunzip.ts";
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
  /** The offsets of those before it that are damaged: what was in them is not there. */
  readonly skipped: ReadonlySet<number>;
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
    const { size, packed, membersEnd, skipped } = copy;
    return { file, size, damaged, membersEnd, skipped, remove: () => packed.close().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** `wrong`: perhaps in its lengths alone. `damaged`: it is lost, but the lengths lead to the next one. */
type UnpackResult = "right" | "wrong" | "damaged";

class UnpackedCopy {
  readonly packed = new PackedMembers();
  readonly skipped = new Set<number>();
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
      if (this.#isLate() || this.size + member.unpacked > this.#limit) return false;
      const result = await this.#unpackMember(member);
      if (result === "wrong") return false;
      if (result === "damaged") await this.#skip(member);
      else this.size += member.unpacked;
      this.membersEnd += member.length;
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
      if (isDamagedGzip(error)) return true;
      throw error;
    }
  }

  #unpackMember({ isLarge, unpacked: length, ...place }: Member): Promise<UnpackResult> {
    const packed = { file: this.#archive.file, ...place };
    const unpacked = { file: this.#file, offset: this.size, length };
    return isLarge ? this.#leavePacked(packed, unpacked) : this.#unpackSmall(packed, unpacked);
  }

  async #skip({ offset }: Member): Promise<void> {
    this.skipped.add(offset);
    await this.#file.truncate(this.size);
  }

  async #unpackSmall(packed: Extent, { offset, length }: Extent): Promise<UnpackResult> {
    const content = gunzipExactly(await packed.file.read(packed.offset, packed.length), length);
    if (content === undefined) return "wrong";
    await this.#file.write(offset, content);
    return "right";
  }

  // Of a response, nothing but its head is needed now, if that and the end of the member agree about the length.
  async #leavePacked(packed: Extent, unpacked: Extent): Promise<UnpackResult> {
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
    return "right";
  }

  async #unpackLarge(packed: Extent, unpacked: Extent): Promise<UnpackResult> {
    const member = new PackedMember({ path: this.#path, packed, unpacked, headLength: 0 });
    try {
      for (let to = member.start; !member.isWhole; to = Math.min(to + blockSize, member.end)) {
        if (this.#isLate()) return "wrong";
        await member.load(to);
      }
      return "right";
    } catch (error) {
      if (!(error instanceof DamagedData)) throw error;
      return (await this.#isBehindKnown(packed, unpacked, error)) ? "damaged" : "wrong";
    } finally {
      await member.close();
    }
  }

  // Where a member cannot be unpacked, its length may be what is wrong. It is not where the end of the member has the same one; and
  // where the data itself is wrong, unpacking everything would get no further.
  async #isBehindKnown(packed: Extent, unpacked: Extent, { cause }: DamagedData): Promise<boolean> {
    if (packed.offset + packed.length === this.#archive.length) return false;
    return isDataError(cause) || (await sizeIn(packed)) === unpacked.length;
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
