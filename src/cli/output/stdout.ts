// Standard output carries the result and nothing else, at the speed of its reader. A reader that went away (`| head`) is not
// an error; a full disk is.
import type { Writable } from "node:stream";
import { systemReason } from "../../model/errors.ts";

/** The reader of the output went away, so the run can end. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** The result could not be written. */
export class OutputFailed extends Error {
  override readonly name = "OutputFailed";
}

export class Output {
  readonly #stream: Writable;
  #failure: Error | undefined;
  #wake: () => void = () => {};
  #pausedAt = Date.now();

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on("error", (error: NodeJS.ErrnoException) => this.#fail(error));
    stream.on("drain", () => this.#wake());
  }

  /** Resolves when more may be written. Rejects with `OutputClosed` or `OutputFailed`. */
  async write(text: string | Uint8Array): Promise<void> {
    this.#expectWorking();
    let hasRoom = true;
    try {
      hasRoom = this.#stream.write(text);
    } catch (error) {
      // Files are written synchronously, and may fail synchronously.
      this.#fail(error as NodeJS.ErrnoException);
    }
    this.#expectWorking();
    if (!hasRoom) await new Promise<void>((resolve) => (this.#wake = resolve));
    // A file always accepts more, so without an occasional pause, Ctrl-C would not be handled.
    else if (Date.now() - this.#pausedAt > 50) await new Promise((resolve) => setImmediate(resolve));
    else return;
    this.#pausedAt = Date.now();
    this.#expectWorking();
  }

  /** Resolves when everything was passed to the system. */
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
    const isClosed = ["EPIPE", "EOF", "ERR_STREAM_DESTROYED"].includes(error.code ?? "");
    this.#failure ??= isClosed
      ? new OutputClosed("the program reading the output closed it")
      : new OutputFailed(`the output could not be written: ${systemReason(error)}`);
    this.#wake();
  }

  #expectWorking(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
