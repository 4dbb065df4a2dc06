// Decompresses one stream, from its first byte to its last, in flat memory. The input goes to zlib in pieces of one size, counted from
// the start of the stream, so that the result for damaged data does not depend on the chunks in which it came.
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";

/** `truncated`: the input ended too early; `damaged`: the input is invalid. */
export type Ending = "complete" | "truncated" | "damaged";

// 32 KB of input make 200 to 400 KB of XML, on which the parser works for longer than zlib on the next piece. With half of it, the parser
// waited for zlib's thread every time; larger pieces lose more of damaged data. A zip bomb makes 32 MB of one piece, most of which
// waits inside zlib.
const pieceSize = 32 * 1024;

/** Yields the content of one compressed stream and leaves the reader at the byte after it. `update` gets each chunk before that. */
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

/** Reports truncated data, unless the size limit or a failing source cut it off. */
export function reportTruncated(input: ByteReader, problems: ProblemLog): void {
  input.throwFailure();
  if (!problems.has("limit-document-bytes")) problems.add("coding-truncated");
}

type ZlibStream = Transform & zlib.Zlib;

// Measured on 20 MB of XML: chunks of 16 KB (the default of node:zlib) take twice as long as chunks of 128 KB. Pieces of input fill a chunk one
// after another, and one that finds too little room comes in two parts: while the parser works on the smaller one, zlib does not get
// far. So there is room for two pieces.
const chunkSize = 448 * 1024;

/** Deflate without a container. */
export function createRawInflater(): ZlibStream {
  return zlib.createInflateRaw({ chunkSize });
}

export function createBrotliDecoder(): ZlibStream {
  return zlib.createBrotliDecompress({ chunkSize });
}

/** Zstandard; undefined if this Node.js has none. */
export const createZstdDecoder: (() => ZlibStream) | undefined = zstdDecoder();

function zstdDecoder(): (() => ZlibStream) | undefined {
  const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: { chunkSize: number }) => ZlibStream };
  return createZstdDecompress === undefined ? undefined : () => createZstdDecompress({ chunkSize });
}

/** `idle`: needs a piece; `busy`: works on one; `ended`: the data is complete; `failed`: the data is invalid. */
type State = "idle" | "busy" | "ended" | "failed";

// With more unread output than this, zlib has to wait. Only data that expands a hundredfold gets there.
const waitingLimit = 1024 * 1024;

// One zlib stream, fed piece by piece. zlib works on a thread of its own, so the next piece can be decompressed while the caller uses the
// last output. Two properties of node:zlib are worked around: a stream that fails discards its pending output, so output is
// collected as soon as it appears; and a stream reports its end only when it gets more input than it needs, or is told to finish.
class ZlibStage {
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
