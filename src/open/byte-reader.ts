// Reads bytes that come in chunks of any size, in pieces of the requested size. Nothing is requested from the source
// before it is needed. If the source fails, the bytes before that are returned first, then the error is thrown.

/** A source of bytes: a client, a file, a test. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export class ByteReader {
  readonly #source: ByteSource;
  #iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | undefined;
  // The chunks that were received and not yet taken; of the first one, what is before #offset was taken.
  #chunks: Uint8Array[] = [];
  #offset = 0;
  #buffered = 0;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** How many bytes can be taken at once. */
  get buffered(): number {
    return this.#buffered;
  }

  /**
   * Waits until `count` bytes are buffered; false if the source ends before. Throws the error of the source once
   * nothing is left.
   */
  async fill(count: number): Promise<boolean> {
    while (this.#buffered < count) {
      if (this.#ended) {
        if (this.#buffered === 0) this.throwFailure();
        return false;
      }
      await this.#receive();
    }
    return true;
  }

  /** Throws the error of the source, if there was one: then the end is not a fault of the data. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** The next bytes that are available without copying, at most `count`, without taking them. */
  peekChunk(count: number): Uint8Array {
    return this.#chunks[0]?.subarray(this.#offset, this.#offset + count) ?? nothing;
  }

  /** The next buffered bytes, at most `count`, without taking them. */
  peek(count: number): Uint8Array {
    const first = this.#chunks[0];
    if (first === undefined) return nothing;
    const wanted = Math.min(count, this.#buffered);
    if (first.length - this.#offset < wanted) this.#join(wanted);
    return this.#chunks[0]!.subarray(this.#offset, this.#offset + wanted);
  }

  /** Takes the next buffered bytes, at most `count`. */
  take(count: number): Uint8Array {
    const bytes = this.peek(count);
    this.skip(bytes.length);
    return bytes;
  }

  /** Skips buffered bytes. */
  skip(count: number): void {
    this.#buffered -= count;
    this.#offset += count;
    let passed = 0;
    while (passed < this.#chunks.length && this.#offset >= this.#chunks[passed]!.length) {
      this.#offset -= this.#chunks[passed]!.length;
      passed += 1;
    }
    if (passed > 0) this.#chunks.splice(0, passed);
  }

  /** Puts back bytes that turned out to belong to what follows. */
  unread(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const first = this.#chunks[0];
    if (first !== undefined) this.#chunks[0] = first.subarray(this.#offset);
    this.#chunks.unshift(bytes);
    this.#offset = 0;
    this.#buffered += bytes.length;
  }

  /** Everything from here to the end of the source. */
  async *chunks(): AsyncGenerator<Uint8Array, void, void> {
    while (await this.fill(1)) yield this.take(this.#chunks[0]!.length - this.#offset);
  }

  /** Releases the source and what is buffered. */
  async close(): Promise<void> {
    const iterator = this.#iterator;
    const open = !this.#ended;
    this.#ended = true;
    this.#chunks = [];
    this.#offset = 0;
    this.#buffered = 0;
    if (open) await iterator?.return?.();
  }

  async #receive(): Promise<void> {
    try {
      this.#iterator ??= iteratorOf(this.#source);
      const { done, value } = await this.#iterator.next();
      if (done === true) {
        this.#ended = true;
      } else if (value.length > 0) {
        this.#chunks.push(value);
        this.#buffered += value.length;
      }
    } catch (error) {
      this.#ended = true;
      this.#failure = { error };
    }
  }

  // Makes the first chunk hold at least `count` bytes. Copies no more than that, so that 16 KB from chunks of one byte
  // cost one copy.
  #join(count: number): void {
    const joined = Buffer.allocUnsafe(count);
    let filled = 0;
    let used = 0;
    while (filled < count) {
      const chunk = this.#chunks[used]!.subarray(used === 0 ? this.#offset : 0);
      const part = chunk.subarray(0, count - filled);
      joined.set(part, filled);
      filled += part.length;
      if (part.length < chunk.length) this.#chunks[used] = chunk.subarray(part.length);
      else used += 1;
    }
    this.#chunks.splice(0, used, joined);
    this.#offset = 0;
  }
}

const nothing = new Uint8Array(0);

function iteratorOf(source: ByteSource): AsyncIterator<Uint8Array> | Iterator<Uint8Array> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}
