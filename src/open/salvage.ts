// Recovers output of a damaged stream: zlib discards what the broken piece gave before the damage. The stream is read
// again from its start, and the broken piece in smaller and smaller parts, until the byte is found that breaks it. Four
// rounds are enough for 32 KB; the caller limits how much is read again.
import { ZlibStage } from "./zlib-stage.ts";
import type { ZlibStream } from "./zlib-streams.ts";

// Into how many parts the broken piece is split in each round.
const parts = 16;

/** The content of `pieces`, the last of which is broken, after the first `given` bytes. */
export async function* salvage(
  pieces: readonly Uint8Array[],
  given: number,
  create: () => ZlibStream,
): AsyncGenerator<Uint8Array, void, void> {
  let good = pieces.slice(0, -1);
  let broken = pieces.at(-1);
  let known = given;
  while (broken !== undefined) {
    const tries: Uint8Array[] = [...good, ...cut(broken)];
    const stage = new ZlibStage(create());
    let passed = 0;
    let next = 0;
    try {
      while (stage.state === "idle" && next < tries.length) {
        stage.write(tries[next++]!);
        for (let output = await stage.take(); output !== undefined; output = await stage.take()) {
          const fresh = output.subarray(Math.min(output.length, Math.max(0, known - passed)));
          passed += output.length;
          if (fresh.length > 0) yield fresh;
        }
      }
    } finally {
      stage.close();
    }
    known = Math.max(known, passed);
    good = tries.slice(0, next - 1);
    // A single byte cannot be split.
    broken = broken.length > 1 ? tries[next - 1] : undefined;
  }
}

function cut(piece: Uint8Array): Uint8Array[] {
  const size = Math.ceil(piece.length / parts);
  const cuts: Uint8Array[] = [];
  for (let from = 0; from < piece.length; from += size) cuts.push(piece.subarray(from, from + size));
  return cuts;
}
