// One zlib stream (inflate, Brotli or Zstandard), fed piece by piece. zlib works on a thread of its own, so the next
// piece can be decompressed while the caller uses the last output. Two properties of node:zlib are worked around: a
// stream that fails discards its pending output, so output is collected as soon as it appears; and a stream reports its
// end only when it gets more input than it needs, or is told to finish.
import type { ZlibStream } from "./zlib-streams.ts";

/** `idle`: needs a piece; `busy`: works on one; `ended`: the data is complete; `failed`: the data is invalid. */
type State = "idle" | "busy" | "ended" | "failed";

// With more unread output than this, zlib has to wait. Only data that expands a hundredfold gets there.
const waitingLimit = 1024 * 1024;

export class ZlibStage {
  readonly #stream: ZlibStream;
  #state: State = "idle";
  #output: Uint8Array[] = [];
  #waiting = 0;
  #written = 0;
  #wake: (() => void) | undefined;

  constructor(stream: ZlibStream) {
    this.#stream = stream;
    stream.on("data", (chunk: Uint8Array) => {
      this.#output.push(chunk);
      this.#waiting += chunk.length;
      if (this.#waiting > waitingLimit) stream.pause();
      this.#wake?.();
    });
    stream.on("end", () => this.#become("ended"));
    stream.on("error", () => this.#become("failed"));
  }

  get state(): State {
    return this.#state;
  }

  /** How many of the written bytes come after the end of the data. */
  get unused(): number {
    return this.#written - this.#stream.bytesWritten;
  }

  /** Starts to work on a piece. */
  write(piece: Uint8Array): void {
    this.#written += piece.length;
    this.#state = "busy";
    this.#stream.write(piece, (error) => {
      if (!error && this.#state === "busy") this.#become("idle");
    });
  }

  /** There is no more input: the stage ends if the data is complete, and fails if not. */
  finish(): void {
    this.#state = "busy";
    this.#stream.end();
  }

  /** The next output; undefined when the piece has no more. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.#output.length === 0 && this.#state === "busy") {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const output = this.#output.shift();
    this.#waiting -= output?.length ?? 0;
    if (this.#waiting <= waitingLimit && this.#stream.isPaused()) this.#stream.resume();
    return output;
  }

  /** Frees zlib's memory. */
  close(): void {
    this.#output = [];
    this.#stream.destroy();
  }

  #become(state: State): void {
    if (this.#state === "failed") return;
    this.#state = state;
    this.#wake?.();
  }
}
