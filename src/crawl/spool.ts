// Buffers the body of a prefetched document until it is read: in memory while there is room, then in a scratch file.
// While the reader keeps up, chunks pass through memory only, and a slow reader slows the download down.
import type { Block } from "../archive/file.ts";
import { Scratch } from "../archive/scratch.ts";
import type { Body } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";

// The memory that all spools of a crawl share. Small, because socket buffers hold more of each document than this, and
// buffers that live long are freed late: 3 MB made the process 20 MB larger.
const memoryLimit = 512 * 1024;
// How long a body waits for room in memory before it goes to a file, in milliseconds. Long enough for a reader that is
// a little slower than the website; some websites close connections that stall for longer.
const longestWait = 5000;
// How much a reader that keeps up may lag behind, in bytes.
const highWater = 256 * 1024;

/** The memory that all spools of one crawl share, and the storage for what does not fit. */
export class SpoolRoom {
  readonly scratch: Scratch = new Scratch(0);
  /** Prefetched and not read yet, in memory and in files, in bytes. */
  unread = 0;
  #memory = 0;
  readonly #waiting = new Set<() => void>();

  fits(length: number): boolean {
    return this.#memory + length <= memoryLimit;
  }

  /** Takes memory; a negative length gives it back. */
  take(length: number): void {
    this.#memory += length;
  }

  /** Something is different: whoever waits for it goes on. */
  changed(): void {
    for (const check of this.#waiting) check();
  }

  /** Waits until the condition is met, or the time is up. It is asked until it was true once. */
  async until(condition: () => boolean, time?: number): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const check = () => {
        if (condition()) done();
      };
      const timer = time === undefined ? undefined : setTimeout(done, time);
      this.#waiting.add(check);
    });
  }
}

export class Spool implements Body {
  readonly #body: Body;
  readonly #room: SpoolRoom;
  // Those in memory come before those in the file.
  readonly #blocks: Block[] = [];
  #memoryBytes = 0;
  #reading = false;
  #closed = false;
  #ended = false;
  #error: unknown;
  /** Resolves when the body has ended, in whatever way; never rejects. */
  readonly filled: Promise<void>;

  constructor(body: Body, room: SpoolRoom) {
    this.#body = body;
    this.#room = room;
    this.filled = this.#fill();
  }

  get problem(): Problem | undefined {
    return this.#body.problem;
  }

  get duration(): number | undefined {
    return this.#body.duration;
  }

  /** Can be iterated once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const room = this.#room;
    this.#reading = true;
    room.changed();
    try {
      for (;;) {
        const block = this.#blocks.shift();
        if (block !== undefined) {
          const bytes = block instanceof Uint8Array ? block : await room.scratch.get(block);
          this.#release([block]);
          yield bytes;
        } else if (this.#ended) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else {
          await room.until(() => this.#blocks.length > 0 || this.#ended);
        }
      }
    } finally {
      this.close();
    }
  }

  /** Releases everything, including what was never read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release(this.#blocks.splice(0));
  }

  async #fill(): Promise<void> {
    const room = this.#room;
    try {
      for await (const bytes of this.#body) {
        if (!this.#closed) await this.#hold(bytes);
        room.changed();
        await room.until(() => !this.#reading || this.#closed || this.#memoryBytes <= highWater);
        if (this.#closed) break;
      }
    } catch (error) {
      this.#error = error;
    } finally {
      this.#ended = true;
      room.changed();
    }
  }

  async #hold(bytes: Uint8Array): Promise<void> {
    const room = this.#room;
    const last = this.#blocks.at(-1);
    let isHeld = false;
    const hold = () => {
      isHeld = !this.#closed && (this.#reading || room.fits(bytes.length));
      if (isHeld) this.#push(bytes);
      return isHeld || this.#closed;
    };
    if (last === undefined || last instanceof Uint8Array) await room.until(hold, longestWait);
    if (isHeld || this.#closed) return;
    const block = await room.scratch.put(bytes);
    // Closed meanwhile: nothing more is counted.
    if (this.#closed) room.scratch.release([block]);
    else this.#push(block);
  }

  #push(block: Block): void {
    this.#blocks.push(block);
    this.#count(block, 1);
  }

  #release(blocks: readonly Block[]): void {
    for (const block of blocks) this.#count(block, -1);
    this.#room.scratch.release(blocks.filter((block) => !(block instanceof Uint8Array)));
    this.#room.changed();
  }

  #count(block: Block, sign: 1 | -1): void {
    this.#room.unread += sign * block.length;
    if (!(block instanceof Uint8Array)) return;
    this.#memoryBytes += sign * block.length;
    this.#room.take(sign * block.length);
  }
}
