// Buffers the body of a prefetched document until it is read: in memory while there is room. Then the download pauses for up to a second,
// because the document is usually read by then; after that, the rest goes to a scratch file, so that the server need not wait longer. Once
// reading has begun, new chunks stay in memory, and a slow reader slows the download down.
import type { Body, BodyEnd } from "../model/exchange.ts";
import type { Block } from "../storage/file.ts";
import { Scratch } from "../storage/scratch.ts";

// The limit is small, because long-lived buffers are freed late: 3 MB made the process 20 MB larger.
const memoryLimit = 512 * 1024;
// How long a download may pause before its document is read, in milliseconds.
const longestPause = 1000;
// How many chunks the download may be ahead of the reader.
const mostBehind = 4;

/** What all spools of one crawl share. */
export class SpoolRoom {
  readonly scratch: Scratch = new Scratch(0);
  /** How many bytes were prefetched but not read yet, in memory and in files. */
  unread = 0;
  /** How many of these bytes are in memory. */
  memory = 0;
}

export class Spool implements Body {
  readonly end: BodyEnd;
  readonly #body: Body;
  readonly #room: SpoolRoom;
  readonly #blocks: Block[] = [];
  #isRead = false;
  #isClosed = false;
  #hasEnded = false;
  #hasPaused = false;
  // Wakes the side that waits for a change: the reader or the writer.
  #wake = () => {};
  /** Resolves when the body has ended or failed; never rejects. */
  readonly filled: Promise<void>;
  readonly #filling: Promise<void>;

  constructor(body: Body, room: SpoolRoom) {
    this.end = body.end;
    this.#body = body;
    this.#room = room;
    this.#filling = this.#fill();
    this.filled = this.#filling.catch(() => undefined);
  }

  /** Yields the bytes. Can be iterated only once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    this.#isRead = true;
    this.#wake();
    // The next block, read from the file while this one is used.
    let ahead: Promise<Uint8Array> | undefined;
    try {
      for (;;) {
        const block = this.#blocks.shift();
        if (block !== undefined) {
          const bytes = block instanceof Uint8Array ? block : await (ahead ?? this.#room.scratch.get(block));
          const [next] = this.#blocks;
          ahead = next === undefined || next instanceof Uint8Array ? undefined : this.#room.scratch.get(next);
          ahead?.catch(() => undefined);
          this.#release([block]);
          yield bytes;
        } else if (this.#hasEnded) return await this.#filling;
        else await this.#change();
      }
    } finally {
      this.close();
    }
  }

  /** Releases everything, even unread data. */
  close(): void {
    this.#isClosed = true;
    this.#release(this.#blocks.splice(0));
  }

  async #fill(): Promise<void> {
    const room = this.#room;
    try {
      for await (const bytes of this.#body) {
        const hasRoom = () => this.#isRead || this.#isClosed || room.memory + bytes.length <= memoryLimit;
        if (!hasRoom()) await this.#pause();
        const block = hasRoom() ? bytes : await room.scratch.put(bytes);
        this.#blocks.push(block);
        this.#count(block, 1);
        // If the spool was closed in the meantime, releases this block, too.
        if (this.#isClosed) this.close();
        this.#wake();
        while (this.#isRead && !this.#isClosed && this.#blocks.length > mostBehind) await this.#change();
        if (this.#isClosed) break;
      }
    } finally {
      this.#hasEnded = true;
      this.#wake();
    }
  }

  // Pauses the download until reading begins, but only once, and not for long.
  async #pause(): Promise<void> {
    if (this.#hasPaused) return;
    this.#hasPaused = true;
    const timer = setTimeout(() => this.#wake(), longestPause);
    await this.#change();
    clearTimeout(timer);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #release(blocks: readonly Block[]): void {
    for (const block of blocks) this.#count(block, -1);
    this.#room.scratch.release(blocks.filter((block) => !(block instanceof Uint8Array)));
    this.#wake();
  }

  #count(block: Block, sign: 1 | -1): void {
    this.#room.unread += sign * block.length;
    if (block instanceof Uint8Array) this.#room.memory += sign * block.length;
  }
}
