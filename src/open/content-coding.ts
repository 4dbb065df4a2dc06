// Finds out how a body is compressed. The bytes decide, then the Content-Encoding header: servers use wrong file names, announce
// compression that they did not apply, and compress twice. https://www.rfc-editor.org/rfc/rfc9110#name-content-encoding
//   Lenient: a coding that was announced but not used is reported, and the body is read as what it is.
//   Lenient: an unknown coding is reported, and the body is read if it is text or has a known compression.
// `deflate` comes with or without its zlib container.
import { isUtf8 } from "node:buffer";
import { completeLength, evidence } from "./charset.ts";

export type Coding = "gzip" | "zlib" | "deflate" | "br" | "zstd";

/** How many bytes are examined to recognize a format. */
export const sampleSize = 1024;

/** The result of looking at a body. Without a coding, it is not compressed. With a problem other than a mismatch, it cannot be read. */
interface Finding {
  readonly coding: Coding | undefined;
  readonly problem?: "coding-mismatch" | "coding-unknown" | "coding-damaged";
}

/** Returns the codings in a Content-Encoding header; the one that was applied last comes first. `identity` is ignored. */
export function announcedCodings(header: string | undefined): string[] {
  return (header ?? "")
    .toLowerCase()
    .split(",")
    .map((item) => item.split(";", 1)[0]!.trim())
    .filter((name) => name !== "" && name !== "identity")
    .reverse();
}

/** Returns the coding that the bytes show, if any. Brotli and bare deflate cannot be recognized. */
export function sniffCoding(sample: Uint8Array): Coding | undefined {
  if (isGzip(sample)) return "gzip";
  if (isZstdFrame(sample) || isSkippableFrame(sample)) return "zstd";
  // 78 5E is omitted, because a text may start with `x^`.
  if (isZlib(sample) && (sample[1] === 0x01 || sample[1] === 0x9c || sample[1] === 0xda)) return "zlib";
  return undefined;
}

/** Finds the coding of a body for which the header announces the coding `announced`. */
export function findCoding(announced: string, sample: Uint8Array): Finding {
  const seen = sniffCoding(sample) ?? (announced === "deflate" && isZlib(sample) ? "zlib" : undefined);
  const known = knownCodings.get(announced);
  if (known === undefined) {
    return { coding: seen, problem: seen || looksLikeText(sample) ? "coding-mismatch" : "coding-unknown" };
  }
  if (seen !== undefined) return known.includes(seen) ? { coding: seen } : { coding: seen, problem: "coding-mismatch" };
  // Brotli and bare deflate have no magic bytes, but hardly ever look like text, except the shortest: `;` is an empty stream.
  const bare = known.find((coding) => coding === "br" || coding === "deflate");
  if (bare !== undefined && (sample.length < 4 || !looksLikeText(sample))) return { coding: bare };
  // A body that is neither the announced coding, nor a different one, nor text (which may contain zeros) is damaged.
  const isBinary = evidence(sample) === undefined && sample.some((byte) => byte !== 0 && isControl(byte));
  return { coding: undefined, problem: isBinary ? "coding-damaged" : "coding-mismatch" };
}

const knownCodings: ReadonlyMap<string, readonly Coding[]> = new Map<string, readonly Coding[]>([
  ["gzip", ["gzip"]],
  ["x-gzip", ["gzip"]],
  ["deflate", ["zlib", "deflate"]],
  ["br", ["br"]],
  ["zstd", ["zstd"]],
]);

/** Whether bytes begin like gzip with its only method, deflate. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

/** Whether bytes begin like a Zstandard frame. */
export function isZstdFrame(bytes: Uint8Array): boolean {
  return bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd;
}

/** Whether bytes begin like a skippable Zstandard frame. https://www.rfc-editor.org/rfc/rfc8878#section-3.1.2 */
export function isSkippableFrame(bytes: Uint8Array): boolean {
  return (bytes[0]! & 0xf0) === 0x50 && bytes[1] === 0x2a && bytes[2] === 0x4d && bytes[3] === 0x18;
}

// Whether bytes begin like zlib: https://www.rfc-editor.org/rfc/rfc1950#section-2.2 (method 8, at most 32 KB of window, a multiple of 31).
function isZlib(bytes: Uint8Array): boolean {
  if (bytes.length < 2) return false;
  return (bytes[0]! & 0x0f) === 8 && bytes[0]! >> 4 <= 7 && (bytes[0]! * 256 + bytes[1]!) % 31 === 0;
}

/** Whether bytes begin like text. */
export function looksLikeText(sample: Uint8Array): boolean {
  if (evidence(sample) !== undefined) return true;
  if (sample.some(isControl)) return false;
  // Text that is not UTF-8 may be in a legacy character set, but then it must begin with a tag.
  return (
    isUtf8(sample.subarray(0, completeLength(sample))) || /^\s*<[!?a-z]/i.test(Buffer.from(sample).toString("latin1"))
  );
}

function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d;
}
