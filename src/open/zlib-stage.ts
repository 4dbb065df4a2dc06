// One zlib stream (inflate, Brotli or Zstandard), fed piece by piece. zlib works on a thread of its own, so the next piece
// can be under way while the caller uses what the last one gave. Two habits of node:zlib are worked around:
//   - what a stream had ready when it fails is thrown away with it: here output is collected the moment it appears;
//   - a stream that has come to its end says so only when it is given more than it wants, or is told to finish.
import type { ZlibStream } from "./zlib-streams.ts";

/** `idle`: wants a piece; `busy`: works on one; `ended`: the data came to its end; `failed`: it cannot go on. */
type State = "idle" | "busy" | "ended" | "failed";

// Above this much output that nobody took, zlib has to wait. Only data that expands a hundredfold gets there.
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

  /** How many of the bytes that were written lie behind the end of the data. */
  get unused(): number {
    return this.#written - this.#stream.bytesWritten;
  }

  /** Begins to work on a piece. */
  write(piece: Uint8Array): void {
    this.#written += piece.length;
    this.#state = "busy";
    this.#stream.write(piece, (error) => {
      if (!error && this.#state === "busy") this.#become("idle");
    });
  }

  /** Says that there is nothing more: the stage ends if the data is complete, and fails if not. */
  finish(): void {
    this.#state = "busy";
    this.#stream.end();
  }

  /** The next output; undefined when the piece has given all it had. */
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
