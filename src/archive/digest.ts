// The digests in WARC files, for the content of a record and for its payload: `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`.
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-block-digest They show damage
// and careless editing, but do not protect against somebody who writes new ones.
import { createHash } from "node:crypto";
import { type Block, readBlocks } from "./file.ts";

/** The digest of a record. */
export interface Digest {
  readonly algorithm: string;
  readonly hex: string;
}

/** Undefined if there is none, or one that cannot be checked. */
export function parseDigest(text: string | undefined): Digest | undefined {
  const [, label = "", value = ""] = /^([a-z0-9-]+):([^\s]+)$/i.exec(text?.trim() ?? "") ?? [];
  const algorithm = label.toLowerCase().replace(/^sha-/, "sha");
  const length = lengths.get(algorithm);
  if (length === undefined) return undefined;
  const hex = hexOf(value, length);
  return hex === undefined ? undefined : { algorithm, hex };
}

/** In bytes. */
const lengths: ReadonlyMap<string, number> = new Map([
  ["md5", 16],
  ["sha1", 20],
  ["sha256", 32],
  ["sha384", 48],
  ["sha512", 64],
]);

// Most tools write Base32, some hexadecimal digits, a few Base64.
function hexOf(value: string, length: number): string | undefined {
  if (value.length === 2 * length && /^[0-9a-f]+$/i.test(value)) return value.toLowerCase();
  const bytes = fromBase32(value) ?? Buffer.from(value, "base64");
  return bytes.length === length ? Buffer.from(bytes).toString("hex") : undefined;
}

/** As written in a record. SHA-1 is what all WARC tools use. */
export async function digestOf(content: readonly Block[]): Promise<string> {
  const hash = createHash("sha1");
  for await (const piece of readBlocks(content)) hash.update(piece);
  return `sha1:${base32(hash.digest())}`;
}

/** Compares content with its digest while it is read. Without a digest, every content is right. */
export class DigestCheck {
  readonly #digest: Digest | undefined;
  readonly #hash: ReturnType<typeof createHash> | undefined;

  constructor(text: string | undefined) {
    this.#digest = parseDigest(text);
    this.#hash = this.#digest && createHash(this.#digest.algorithm);
  }

  see(piece: Uint8Array): void {
    this.#hash?.update(piece);
  }

  /** Called once, at the end. */
  isRight(): boolean {
    return this.#hash?.digest("hex") === this.#digest?.hex;
  }
}

// https://www.rfc-editor.org/rfc/rfc4648#section-6
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** For lengths that are multiples of five bytes, such as SHA-1: no padding is needed. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; ) {
      bits -= 5;
      text += alphabet[value >> bits];
      value &= (1 << bits) - 1;
    }
  }
  return text;
}

/** Undefined if the text is not Base32. Accepts both cases, with or without padding. */
export function fromBase32(text: string): Uint8Array | undefined {
  const digits = text.toUpperCase().replace(/=+$/, "");
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const digit of digits) {
    const place = alphabet.indexOf(digit);
    if (place === -1) return undefined;
    value = (value << 5) | place;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
    value &= (1 << bits) - 1;
  }
  return Uint8Array.from(bytes);
}
