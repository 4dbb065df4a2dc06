// Standard output: the result and nothing else, at the pace of whoever reads it. A reader that went away (`| head`) is no
// error; a full disk is one.
import type { Writable } from "node:stream";
import { systemReason } from "../system-reason.ts";

/** Whoever read the output went away: nothing more needs to be done. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** The result could not be written. */
export class OutputFailed extends Error {
  override readonly name = "OutputFailed";
}

export class Output {
  readonly #stream: Writable;
  readonly #beforeWrite: () => void;
  #failure: Error | undefined;
  #wake: () => void = () => {};
  #turnedAt = Date.now();

  /** `beforeWrite` may clear what stands on the same terminal. */
  constructor(stream: Writable, beforeWrite: () => void = () => {}) {
    this.#stream = stream;
    this.#beforeWrite = beforeWrite;
    stream.on("error", (error: NodeJS.ErrnoException) => this.#fail(error));
    stream.on("drain", () => this.#wake());
  }

  /** Resolves when more may be written. Rejects with `OutputClosed` or `OutputFailed`. */
  async write(text: string): Promise<void> {
    this.#expectWorking();
    this.#beforeWrite();
    let hasRoom = true;
    try {
      hasRoom = this.#stream.write(text);
    } catch (error) {
      // Files are written at once, and may say so at once.
      this.#fail(error as NodeJS.ErrnoException);
    }
    this.#expectWorking();
    if (!hasRoom) await new Promise<void>((resolve) => (this.#wake = resolve));
    else if (Date.now() - this.#turnedAt > longestTurn) await new Promise((resolve) => setImmediate(resolve));
    else return;
    this.#turnedAt = Date.now();
    this.#expectWorking();
  }

  /** Resolves when everything was handed to the system. */
  async flush(): Promise<void> {
    if (this.#failure === undefined && this.#stream.writableLength > 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#stream.write("", () => resolve());
      });
    }
    this.#expectWorking();
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.#failure ??=
      error.code === "EPIPE" || error.code === "EOF" || error.code === "ERR_STREAM_DESTROYED"
        ? new OutputClosed("the reader of the output went away")
        : new OutputFailed(`the output could not be written: ${systemReason(error)}`);
    this.#wake();
  }

  #expectWorking(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

// A file always has room: without a turn of the event loop now and then, Ctrl-C would not be heard. In milliseconds.
const longestTurn = 50;
