// Removes one layer of compression, in constant memory. zlib gets pieces of one size, so that the result for damaged data does not
// depend on how it arrived.
//   Lenient: if data ends too early or is damaged, the part before is kept.
//   Lenient: a wrong checksum or length loses nothing.
//   Lenient: reserved flags in a gzip header are reported as damage, and the member is read anyway.
//   Lenient: zeros after a gzip member, as in padded blocks, are skipped, and the members after them are read.
//   Lenient: anything after the compressed data is ignored.
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type Coding, isGzip, isSkippableFrame, isZstdFrame } from "./content-coding.ts";

type Content = AsyncGenerator<Uint8Array, void, void>;

/** The content of a compressed body. */
export function unpack(input: ByteReader, coding: Coding, problems: ProblemLog): Content {
  switch (coding) {
    case "gzip":
      return gunzip(input, problems);
    case "zlib":
      input.skip(2);
      return single(input, createRawInflater, problems, 4);
    case "deflate":
      return single(input, createRawInflater, problems);
    case "br":
      return single(input, () => zlib.createBrotliDecompress({ chunkSize }), problems);
    case "zstd":
      return unzstd(input, problems);
  }
}

// `trailer`: the length of the container's data after the content. The checksum of a zlib container is not verified.
async function* single(input: ByteReader, create: () => ZlibStream, problems: ProblemLog, trailer = 0): Content {
  let isEmpty = true;
  const ending = yield* decompress(input, create, () => {
    isEmpty = false;
  });
  if (ending === "damaged") return problems.add("coding-damaged");
  if (ending === "truncated" || !(await skip(input, trailer))) return reportTruncated(input, problems);
  // Other kinds of data may look like an empty stream followed by something.
  if (await input.fill(1)) problems.add(isEmpty ? "coding-damaged" : "coding-trailing");
}

function numbers({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}

// https://www.rfc-editor.org/rfc/rfc1952
//   "A gzip file consists of a series of 'members'": as many as there are, one after the other.
// Names, comments and extra fields of a header are skipped, never kept. The header's own checksum is not verified.
async function* gunzip(input: ByteReader, problems: ProblemLog): Content {
  let isSmall = false;
  let isPadded = false;
  do {
    if (!(await skipGzipHeader(input, problems))) return reportTruncated(input, problems);
    let [crc, size] = [0, 0];
    const update = (chunk: Uint8Array) => {
      crc = zlib.crc32(chunk, crc);
      size += chunk.length;
    };
    // Many small members must not use a thread each.
    isSmall = !(await input.fill(smallInput)) || isSmall;
    const output = isSmall ? inflateSmall(input) : undefined;
    if (output !== undefined) {
      update(output);
      if (output.length > 0) yield output;
    } else {
      const ending = yield* decompress(input, createRawInflater, update);
      if (ending === "damaged") return problems.add("coding-damaged");
      if (ending === "truncated") return reportTruncated(input, problems);
    }
    isSmall = size < smallMember;
    if (!(await input.fill(8))) return reportTruncated(input, problems);
    const trailer = numbers(input.take(8));
    if (trailer.getUint32(0, true) !== crc || trailer.getUint32(4, true) !== size % 2 ** 32)
      problems.add("coding-checksum");
    await input.fill(3);
    if (input.peek(1)[0] === 0) {
      isPadded = true;
      await skipTo(input, (bytes) => bytes.findIndex((byte) => byte !== 0));
      await input.fill(3);
    }
  } while (isGzip(input.peek(3)));
  if (isPadded || input.buffered > 0) problems.add("coding-trailing");
}

async function skipGzipHeader(input: ByteReader, problems: ProblemLog): Promise<boolean> {
  if (!(await input.fill(10))) return false;
  const flags = input.take(10)[3]!;
  // "must give an error indication if any reserved bit is non-zero"
  if (flags & 0xe0) problems.add("coding-damaged");
  if (flags & 0x04) {
    if (!(await input.fill(2))) return false;
    const [low, high] = input.take(2);
    if (!(await skip(input, low! + high! * 256))) return false;
  }
  if (flags & 0x08 && !(await skipText(input))) return false;
  if (flags & 0x10 && !(await skipText(input))) return false;
  return flags & 0x02 ? skip(input, 2) : true;
}

async function skip(input: ByteReader, count: number): Promise<boolean> {
  if (!(await input.fill(count))) return false;
  input.skip(count);
  return true;
}

function skipText(input: ByteReader): Promise<boolean> {
  return skipTo(input, (bytes) => bytes.indexOf(0) + 1 || -1);
}

// Up to where `find` says; false if it is nowhere. Chunk by chunk: a name, or zeros, may be as long as the body.
async function skipTo(input: ByteReader, find: (bytes: Uint8Array) => number): Promise<boolean> {
  while (await input.fill(1)) {
    const bytes = input.peek(4096);
    const end = find(bytes);
    input.skip(end < 0 ? bytes.length : end);
    if (end >= 0) return true;
  }
  return false;
}

// Small members are inflated synchronously: using zlib's thread would take longer. 16 KB become 200 KB of XML in half a millisecond.
const smallInput = 16 * 1024;
// Output below which the next member is expected to be small, too.
const smallMember = 64 * 1024;
// Shorter outputs are copied.
const smallCopy = 4 * 1024;
const smallInflate = {
  info: true,
  finishFlush: zlib.constants.Z_SYNC_FLUSH,
  maxOutputLength: 512 * 1024,
  chunkSize: 32 * 1024,
};

// Inflates a raw deflate stream if all of it is buffered and small; undefined if not, or if it is invalid.
function inflateSmall(input: ByteReader): Uint8Array | undefined {
  const bytes = input.peek(smallInput);
  // The empty stream, in its usual form.
  if (bytes[0] === 3 && bytes[1] === 0) {
    input.skip(2);
    return bytes.subarray(0, 0);
  }
  try {
    // The type of a result with `info`, which Node's types lack.
    const { buffer, engine } = zlib.inflateRawSync(bytes, smallInflate) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    // A stream that used every byte may need more; only one that left some has certainly ended.
    if (engine.bytesWritten >= bytes.length) return undefined;
    input.skip(engine.bytesWritten);
    // A few bytes must not keep the whole of zlib's buffer alive.
    return buffer.length < smallCopy ? new Uint8Array(buffer) : buffer;
  } catch {
    return undefined;
  }
}

// Zstandard: frames, one after the other, and skippable frames between them. https://www.rfc-editor.org/rfc/rfc8878#section-3.1
async function* unzstd(input: ByteReader, problems: ProblemLog): Content {
  for (let frames = 1; ; frames += 1) {
    await input.fill(4);
    const magic = input.peek(4);
    const isFrame = isZstdFrame(magic);
    if (!isFrame && !isSkippableFrame(magic)) break;
    // Each needs a decoder.
    if (frames > mostFrames) return problems.add("coding-damaged");
    if (isFrame) {
      const ending = yield* decompress(input, createZstdDecoder!);
      if (ending === "truncated") return reportTruncated(input, problems);
      if (ending !== "complete") return problems.add("coding-damaged");
    } else if (!(await skipFrame(input))) return reportTruncated(input, problems);
  }
  if (input.buffered > 0) problems.add("coding-trailing");
}

const mostFrames = 10_000;

async function skipFrame(input: ByteReader): Promise<boolean> {
  if (!(await input.fill(8))) return false;
  let left = numbers(input.take(8)).getUint32(4, true);
  for (; left > 0 && (await input.fill(1)); ) left -= input.take(left).length;
  return left === 0;
}

/** `truncated`: the input ended too early; `damaged`: the input is invalid. */
type Ending = "complete" | "truncated" | "damaged";

// With half of this, the parser would wait for zlib's thread every time; larger pieces lose more of damaged data.
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

// Unless the size limit or a failing source cut it off.
function reportTruncated(input: ByteReader, problems: ProblemLog): void {
  input.throwFailure();
  if (!problems.has("limit-document-bytes")) problems.add("coding-truncated");
}

type ZlibStream = Transform & zlib.Zlib;

// Room for the output of two pieces. Chunks of 16 KB (the default of node:zlib) take twice as long.
const chunkSize = 448 * 1024;

/** Deflate without a container. */
export function createRawInflater(): ZlibStream {
  return zlib.createInflateRaw({ chunkSize });
}

const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: { chunkSize: number }) => ZlibStream };
/** Zstandard; undefined if this Node.js has none. */
export const createZstdDecoder: (() => ZlibStream) | undefined =
  createZstdDecompress && (() => createZstdDecompress({ chunkSize }));

/** `idle`: needs a piece; `busy`: works on one; `ended`: the data is complete; `failed`: the data is invalid. */
type State = "idle" | "busy" | "ended" | "failed";

// With more unread output than this, zlib must wait. Only data that expands a hundredfold gets there.
const waitingLimit = 1024 * 1024;

// One zlib stream, fed piece by piece, which works on its own thread. A stream of node:zlib that fails discards its pending output, so
// output is collected as soon as it appears; and it reports its end only when it gets more input than it needs, or must finish.
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

  /** There is no more input: the stage ends if the data is complete, and fails if not. */
  finish(): void {
    this.state = "busy";
    this.#stream.end();
  }

  /** The next output; undefined when the piece has no more. */
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
