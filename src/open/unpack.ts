// Removes one layer of compression.
import type { ProblemLog } from "../model/problem.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { Coding } from "./content-coding.ts";
import { decompress } from "./decompress.ts";
import { gunzip, reportTruncated, unzlib } from "./gunzip.ts";
import { unzstd } from "./unzstd.ts";
import { createBrotliDecoder, createRawInflater, type ZlibStream } from "./zlib-streams.ts";

/** The content of a compressed body. */
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
      return unzstd(input, problems);
  }
}

// A stream without a container.
async function* unwrapped(
  input: ByteReader,
  create: () => ZlibStream,
  problems: ProblemLog,
): AsyncGenerator<Uint8Array, void, void> {
  let isEmpty = true;
  const watch = { update: () => void (isEmpty = false) };
  const ending = yield* decompress(input, create, watch);
  if (ending === "damaged") problems.add("coding-damaged");
  else if (ending === "truncated") reportTruncated(input, problems);
  // Bytes of another kind may pass for an empty stream with something behind it.
  else if (await input.fill(1)) problems.add(isEmpty ? "coding-damaged" : "coding-trailing");
}
