// Turns chunks of any size into pieces of the requested size. Reads from the source only when it has to. If the source fails, returns
// the bytes before the failure first, and then throws the error.

/** A source of bytes: a client, a file, a test. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export class ByteReader {
  readonly #source: ByteSource;
  #iterator: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | undefined;
  // Bytes that were received but not taken yet.
  #bytes: Uint8Array = new Uint8Array(0);
  #ended = false;
  #room = Number.POSITIVE_INFINITY;
  #onMore = () => {};
  /** How many bytes came from the source. */
  received = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** Limits the remaining bytes; `onMore` is called if the source has more. */
  limit(count: number, onMore: () => void): void {
    this.#room = count;
    this.#onMore = onMore;
    this.#bytes = this.#limited(this.#bytes);
  }

  /** How many bytes were taken so far. */
  get position(): number {
    return this.received - this.#bytes.length;
  }

  /** How many bytes can be taken in one call. */
  get buffered(): number {
    return this.#bytes.length;
  }

  /** Waits until `count` bytes are buffered. Returns false if the source ends first. Throws the source's error once the buffer is empty. */
  async fill(count: number): Promise<boolean> {
    if (this.#bytes.length >= count) return true;
    const chunks = this.#bytes.length === 0 ? [] : [this.#bytes];
    for (let length = this.#bytes.length; length < count && !this.#ended; ) {
      const chunk = await this.#receive();
      if (chunk.length > 0) chunks.push(chunk);
      length += chunk.length;
    }
    // Joins all chunks at once, so that even chunks of one byte are copied only once.
    this.#bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    if (this.#bytes.length === 0 && count > 0) this.throwFailure();
    return this.#bytes.length >= count;
  }

  /** Throws the source's error, if there was one: then the source is to blame for incomplete data. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Returns the next buffered bytes, at most `count`, without taking them. */
  peek(count: number): Uint8Array {
    return this.#bytes.subarray(0, count);
  }

  /** Takes the next buffered bytes, at most `count`. */
  take(count: number): Uint8Array {
    const bytes = this.peek(count);
    this.skip(bytes.length);
    return bytes;
  }

  /** Skips buffered bytes. */
  skip(count: number): void {
    this.#bytes = this.#bytes.subarray(count);
  }

  /** Puts back bytes that turned out to belong to the next part. */
  unread(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#bytes = Buffer.concat([bytes, this.#bytes]);
  }

  /** Releases the source and the buffer. */
  async close(): Promise<void> {
    this.#ended = true;
    this.#bytes = new Uint8Array(0);
    await this.#iterator?.return?.();
  }

  async #receive(): Promise<Uint8Array> {
    const source = this.#source;
    try {
      this.#iterator ??= Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
      const { done, value } = await this.#iterator.next();
      if (done !== true) {
        this.received += value.length;
        return this.#limited(value);
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#ended = true;
    // The iterator has ended by itself, so `close` need not end it.
    this.#iterator = undefined;
    return new Uint8Array(0);
  }

  #limited(bytes: Uint8Array): Uint8Array {
    const allowed = bytes.subarray(0, this.#room);
    this.#room -= allowed.length;
    if (allowed.length < bytes.length) {
      this.#ended = true;
      this.#onMore();
    }
    return allowed;
  }
}
