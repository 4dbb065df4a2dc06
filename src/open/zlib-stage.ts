// Runs one zlib stream, piece by piece and in limited memory. All pieces except the last have the same size, so that the result for
// damaged data does not depend on how it arrived.
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import type { ByteReader } from "./byte-reader.ts";

/** `truncated`: the input ended too early; `damaged`: the input is invalid. */
export type Ending = "complete" | "truncated" | "damaged";

// With pieces of half this size, the parser would wait for zlib's thread every time; with larger ones, damaged data would lose more.
const pieceSize = 32 * 1024;

/** Yields the content of one compressed stream, and leaves the reader at the byte after it. `update` gets each chunk first. */
export async function* decompress(
  input: ByteReader,
  create: () => ZlibStream,
  update?: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, Ending, void> {
  const stage = new ZlibStage(create());
  let piece: Uint8Array = new Uint8Array(0);
  let finishing = false;

  const write = (): void => {
    piece = input.take(pieceSize);
    stage.write(piece);
  };

  try {
    for (;;) {
      const output = await stage.take();
      // zlib works on the next piece while the caller uses this output.
      if (stage.state === "idle" && input.buffered >= pieceSize) write();
      if (output !== undefined) {
        update?.(output);
        yield output;
      } else if (stage.state === "ended") {
        input.unread(piece.subarray(piece.length - stage.unused));
        return "complete";
      } else if (stage.state === "failed") {
        return finishing ? "truncated" : "damaged";
      } else if (stage.state === "idle") {
        await input.fill(pieceSize);
        if (input.buffered > 0) write();
        else {
          finishing = true;
          stage.finish();
        }
      }
    }
  } finally {
    stage.close();
  }
}

export type ZlibStream = Transform & zlib.Zlib;

// One chunk usually has room for the output of two pieces. Chunks of 16 KB (the default of node:zlib) take twice as long.
export const chunkSize: number = 448 * 1024;

/** Creates a decoder for deflate without a container. */
export function createRawInflater(): ZlibStream {
  return zlib.createInflateRaw({ chunkSize });
}

/** `idle`: needs a piece; `busy`: works on one; `ended`: the data is complete; `failed`: the data is invalid. */
type State = "idle" | "busy" | "ended" | "failed";

// With more unread output than this, zlib waits for the reader.
const waitingLimit = 1024 * 1024;

// One zlib stream, fed piece by piece, which works on another thread. When a node:zlib stream fails, it discards its pending output, so
// output is collected as soon as it appears. The stream reports its end only when it gets more input than it needs, or must finish.
class ZlibStage {
  readonly #stream: ZlibStream;
  state: State = "idle";
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

  /** How many of the written bytes come after the end of the data. */
  get unused(): number {
    return this.#written - this.#stream.bytesWritten;
  }

  /** Starts to work on a piece. */
  write(piece: Uint8Array): void {
    this.#written += piece.length;
    this.state = "busy";
    this.#stream.write(piece, (error) => {
      if (!error && this.state === "busy") this.#become("idle");
    });
  }

  /** Tells the stage that there is no more input. It ends if the data is complete, and fails if not. */
  finish(): void {
    this.state = "busy";
    this.#stream.end();
  }

  /** Returns the next output, or undefined when the piece has no more. */
  async take(): Promise<Uint8Array | undefined> {
    while (this.#output.length === 0 && this.state === "busy") {
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
    if (this.state === "failed") return;
    this.state = state;
    this.#wake?.();
  }
}
