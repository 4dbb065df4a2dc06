// Text in pieces, and copies of strings.

/** A chunk of UTF-8 text, decoded only on demand, because some readers work on the bytes. */
export class Utf8Text {
  /** Valid UTF-8 with whole characters. May be overwritten once the next chunk is requested. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toString(): string {
    return decoder.decode(this.bytes);
  }
}

/** A piece of a text. */
export type TextPiece = string | Utf8Text;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes valid UTF-8 that is not ASCII. In Node.js, going through UTF-16 is several times as fast. */
export function decodeWide(bytes: Uint8Array): string {
  return transcode === undefined ? decoder.decode(bytes) : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/**
 * Whether a text, encoded as these bytes, has no lone surrogates. They become U+FFFD, whose first byte is 0xef; in Node.js, searching for that
 * byte is faster than asking the engine.
 */
export function isWellFormed(text: string, { buffer, byteOffset, length }: Uint8Array): boolean {
  if (Buffer?.from(buffer, byteOffset, length).includes(0xef) === false) return true;
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

interface NodeBuffer {
  transcode?(bytes: Uint8Array, from: string, to: string): { toString(encoding: string): string };
  Buffer?: { from(buffer: ArrayBufferLike, from: number, length: number): { includes(byte: number): boolean } };
}

// `node:buffer` is not imported, because this file must also run outside of Node.js.
const { process } = globalThis as { process?: { getBuiltinModule?(name: string): NodeBuffer | undefined } };
const { transcode, Buffer } = process?.getBuiltinModule?.("node:buffer") ?? {};

/** Copies a string, because in V8 a substring keeps the whole string alive, such as a chunk of a document. */
export function detached(text: string): string {
  // Concatenating and slicing forces a copy. Shorter substrings are copies already.
  return text.length < shortestPart ? text : ` ${text}`.slice(1);
}

// SlicedString::kMinLength in https://source.chromium.org/chromium/chromium/src/+/main:v8/src/objects/string.h
const shortestPart = 13;

/** Cuts a text to at most this many characters, with an ellipsis for the rest. */
export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
