// A large record of a compressed archive that is decompressed while it is read: into its place in the unpacked copy of the
// archive, as far as it is needed. If it is not what the file says, what comes after the difference cannot be read.
import { gunzip, gunzipExactly, isDamagedGzip } from "./gunzip.ts";
import { closedError, DamagedData, type Extent } from "./kept-body.ts";

/** The line ends after a record. */
export const recordEnd: Buffer = Buffer.from("\r\n\r\n");
/** Nobody else can use the thread for the few milliseconds that it takes. */
const mostAtOnce = 1024 * 1024;

export interface PackedOptions {
  /** The path of the archive. */
  readonly path: string;
  /** Where the member is in the archive. */
  readonly packed: Extent;
  /** Where its content is in the copy. */
  readonly unpacked: Extent;
  /** How many bytes of the content are there from the start, besides the line ends after the record. */
  readonly headLength: number;
}

export class PackedMember {
  readonly start: number;
  readonly end: number;
  readonly #options: PackedOptions;
  readonly #recordEnd: number;
  #pieces: ReturnType<typeof gunzip> | undefined;
  #unpackedTo: number;
  #loadedTo: number;
  #isWhole = false;
  #failure: { readonly error: unknown } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PackedOptions) {
    const { unpacked, headLength } = options;
    this.#options = options;
    this.start = unpacked.offset;
    this.end = unpacked.offset + unpacked.length;
    this.#recordEnd = this.end - recordEnd.length;
    this.#unpackedTo = this.start;
    this.#loadedTo = this.start + headLength;
  }

  /** All of it is there, and is what the file says. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Up to where the bytes from a position on are there. The last bytes of a record are not before the whole is. */
  loadedFrom(position: number): number {
    if (this.#isWhole || position >= this.#recordEnd) return this.end;
    return Math.max(position, Math.min(this.#loadedTo, this.#recordEnd - 1));
  }

  /** Throws `DamagedData`. */
  load(to: number): Promise<void> {
    // One after another: two readers never decompress it twice.
    const turn = this.#last.then(() => this.#load(to));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#failure ??= { error: closedError() };
    await this.#last;
    await this.#pieces?.return(0);
  }

  async #load(to: number): Promise<void> {
    while (!this.#isWhole && (to > this.#loadedTo || to >= this.#recordEnd)) {
      if (this.#failure !== undefined) throw this.#failure.error;
      try {
        await this.#unpackMore();
      } catch (error) {
        this.#failure ??= { error: isDamagedGzip(error) ? new DamagedData(this.#options.path, error) : error };
        await this.#pieces?.return(0);
      }
    }
  }

  async #unpackMore(): Promise<void> {
    const { path, packed, unpacked } = this.#options;
    if (this.#pieces === undefined && (await this.#unpackAtOnce())) return;
    this.#pieces ??= gunzip(packed);
    const { done, value } = await this.#pieces.next();
    if (done) {
      if (this.#unpackedTo !== this.end || value !== packed.length) throw new DamagedData(path);
      this.#isWhole = true;
      return;
    }
    if (this.#unpackedTo + value.length > this.end) throw new DamagedData(path);
    await unpacked.file.write(this.#unpackedTo, value);
    this.#unpackedTo += value.length;
    this.#loadedTo = Math.max(this.#loadedTo, this.#unpackedTo);
  }

  // Far less work than a stream. False if it is too large for that, or damaged.
  async #unpackAtOnce(): Promise<boolean> {
    const { packed, unpacked } = this.#options;
    if (Math.max(packed.length, unpacked.length) > mostAtOnce) return false;
    const content = gunzipExactly(await packed.file.read(packed.offset, packed.length), unpacked.length);
    if (content === undefined) return false;
    await unpacked.file.write(this.start, content);
    this.#isWhole = true;
    return true;
  }
}
