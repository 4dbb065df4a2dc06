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
  readonly #waiting = new Map<() => void, number>();

  fits(length: number): boolean {
    return this.#memory + length <= memoryLimit;
  }

  take(length: number): void {
    this.#memory += length;
  }

  give(length: number): void {
    this.#memory -= length;
    for (const [wake, wanted] of this.#waiting) if (this.fits(wanted)) wake();
  }

  /** Waits until there may be room for this much, until `wake` is called, or until the time is up. */
  async change(length: number, time: number, onWaiting: (wake: () => void) => void): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, time);
      this.#waiting.set(done, length);
      onWaiting(done);
    });
  }
}

export class Spool implements Body {
  readonly #body: Body;
  readonly #room: SpoolRoom;
  readonly #memory: Uint8Array[] = [];
  #memoryBytes = 0;
  // What comes after it.
  readonly #spilled: Block[] = [];
  #spilledBytes = 0;
  #reading = false;
  #closed = false;
  #ended = false;
  #error: unknown;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;
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
    this.#reading = true;
    // The writer may be waiting for room, which it does not need while somebody reads.
    this.#wakeWriter?.();
    try {
      for (;;) {
        const bytes = this.#memory.shift() ?? (await this.#fromScratch());
        if (bytes !== undefined) {
          this.#release(bytes.length);
          yield bytes;
        } else if (this.#ended) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else {
          await new Promise<void>((wake) => {
            this.#wakeReader = wake;
          });
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
    this.#room.give(this.#memoryBytes);
    this.#room.unread -= this.#memoryBytes + this.#spilledBytes;
    this.#room.scratch.release(this.#spilled);
    this.#memory.length = 0;
    this.#wakeWriter?.();
  }

  async #fill(): Promise<void> {
    try {
      for await (const bytes of this.#body) {
        if (this.#closed) break;
        await this.#hold(bytes);
        this.#wakeReader?.();
        while (this.#reading && !this.#closed && this.#memoryBytes > highWater) {
          await new Promise<void>((wake) => {
            this.#wakeWriter = wake;
          });
        }
        if (this.#closed) break;
      }
    } catch (error) {
      this.#error = error;
    } finally {
      this.#ended = true;
      this.#wakeReader?.();
    }
  }

  async #hold(bytes: Uint8Array): Promise<void> {
    const room = this.#room;
    const fits = () => this.#reading || room.fits(bytes.length);
    const isSpilling = () => this.#spilled.length > 0;
    const end = performance.now() + longestWait;
    for (
      let time = longestWait;
      !fits() && !isSpilling() && !this.#closed && time > 0;
      time = end - performance.now()
    ) {
      await room.change(bytes.length, time, (wake) => {
        this.#wakeWriter = wake;
      });
    }
    if (this.#closed) return;
    if (fits() && !isSpilling()) {
      this.#memory.push(bytes);
      this.#memoryBytes += bytes.length;
      room.take(bytes.length);
    } else {
      const block = await room.scratch.put(bytes);
      // Closed meanwhile: nothing more is counted.
      if (this.#closed) return room.scratch.release([block]);
      this.#spilled.push(block);
      this.#spilledBytes += bytes.length;
    }
    room.unread += bytes.length;
  }

  async #fromScratch(): Promise<Uint8Array | undefined> {
    const block = this.#spilled.shift();
    if (block === undefined) return undefined;
    const { scratch } = this.#room;
    const bytes = await scratch.get(block);
    scratch.release([block]);
    this.#spilledBytes -= bytes.length;
    // Released in #release as if it had come from memory.
    this.#memoryBytes += bytes.length;
    this.#room.take(bytes.length);
    return bytes;
  }

  #release(length: number): void {
    this.#memoryBytes -= length;
    this.#room.give(length);
    this.#room.unread -= length;
    if (this.#memoryBytes <= highWater) this.#wakeWriter?.();
  }
}
