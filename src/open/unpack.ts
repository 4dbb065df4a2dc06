// One layer of compression taken off, whichever it is.
import type { ProblemLog } from "../problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type Coding, isZstd } from "./content-coding.ts";
import { decompress, type Ending } from "./decompress.ts";
import { gunzip, reportTruncated, unzlib } from "./gunzip.ts";
import { createBrotliDecoder, createRawInflater, createZstdDecoder, type ZlibStream } from "./zlib-streams.ts";

/** What a compressed body holds. */
export function unpack(
  input: ByteReader,
  coding: Coding,
  problems: ProblemLog,
): AsyncGenerator<Uint8Array, void, void> {
  switch (coding) {
    case "gzip":
      return gunzip(input, problems);
    case "zlib":
      return unzlib(input, problems);
    case "deflate":
      return unwrapped(input, createRawInflater, problems);
    case "br":
      return unwrapped(input, createBrotliDecoder, problems);
    case "zstd":
      return unwrapped(input, createZstdDecoder!, problems, isZstd);
  }
}

// A stream without a container of ours; `again` tells whether another one of its kind follows.
async function* unwrapped(
  input: ByteReader,
  create: () => ZlibStream,
  problems: ProblemLog,
  again?: (bytes: Uint8Array) => boolean,
): AsyncGenerator<Uint8Array, void, void> {
  let ending: Ending;
  do {
    ending = yield* decompress(input, create);
    await input.fill(4);
  } while (ending === "complete" && again?.(input.peek(4)));
  if (ending === "damaged") problems.add("coding-damaged");
  else if (ending === "truncated") reportTruncated(input, problems);
  else if (input.buffered > 0) problems.add("coding-trailing");
}
