// Decompresses one stream, from its first byte to its last, in flat memory and with as little loss as possible. The
// input goes to zlib in pieces of one size, counted from the start of the stream, so that the result for damaged data
// does not depend on the chunks in which it came.
import type { ByteReader } from "./byte-reader.ts";
import { salvage } from "./salvage.ts";
import { ZlibStage } from "./zlib-stage.ts";
import type { ZlibStream } from "./zlib-streams.ts";

/** `truncated`: the input ended too early; `damaged`: the input is invalid. */
export type Ending = "complete" | "truncated" | "damaged";

/** Called with every chunk before it is yielded. */
export interface Checksum {
  update(chunk: Uint8Array): void;
}

// 32 KB of input make 200 to 400 KB of XML, on which the parser works for longer than zlib on the next piece. With half of it, the parser
// waited for zlib's thread every time; larger pieces lose more of damaged data. A zip bomb makes 32 MB of one piece, most of which
// waits inside zlib.
const pieceSize = 32 * 1024;

// A damaged stream is read again to recover the output of the broken piece, if no more than this was read before.
const historyLimit = 1024 * 1024;

/** Yields the content of one compressed stream and leaves the reader at the byte after it. */
export async function* decompress(
  input: ByteReader,
  create: () => ZlibStream,
  checksum?: Checksum,
): AsyncGenerator<Uint8Array, Ending, void> {
  const stage = new ZlibStage(create());
  const history: Uint8Array[] = [];
  let historySize = 0;
  let given = 0;
  let finishing = false;

  const write = (): void => {
    const piece = input.take(pieceSize);
    historySize += piece.length;
    if (historySize > historyLimit) history.length = 0;
    history.push(piece);
    stage.write(piece);
  };

  try {
    for (;;) {
      const output = await stage.take();
      // zlib works on the next piece while the caller uses this output.
      if (stage.state === "idle" && input.buffered >= pieceSize) write();
      if (output !== undefined) {
        given += output.length;
        checksum?.update(output);
        yield output;
      } else if (stage.state === "ended") {
        const piece = history.at(-1);
        if (piece !== undefined) input.unread(piece.subarray(piece.length - stage.unused));
        return "complete";
      } else if (stage.state === "failed") {
        break;
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
  if (finishing) return "truncated";
  if (historySize <= historyLimit) yield* salvage(history, given, create);
  return "damaged";
}
