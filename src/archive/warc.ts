// Parses and writes the heads of WARC records, and computes digests: WARC 1.0 and 1.1, our own records and those of other tools.
//   https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#file-and-record-model
// Lenient, because of other tools: lines that end in LF alone, more or fewer line ends after a record, any version number.
import { createHash, randomUUID } from "node:crypto";

/** The head of a record, as read. */
export interface RecordHead {
  readonly type: string;
  /** The fields, by name in lower case. The first of each name counts. */
  readonly fields: ReadonlyMap<string, string>;
  readonly concurrentTo: readonly string[];
  /** The length of the head in bytes, with the empty line after it. */
  readonly headLength: number;
  readonly contentLength: number;
}

export type Field = readonly [name: string, value: string];

/** The maximum length of a head. Nearly all heads are far shorter. */
export const maxHead: number = 64 * 1024;
/** The line ends that must follow a record. */
export const recordEnd: Buffer = Buffer.from("\r\n\r\n");
export const magic = "WARC/";
const lineFeed = 10;
const carriageReturn = 13;

/** Parses the head at the start of these bytes. Returns `cut` if it may continue after them, undefined if there is no valid one. */
export function headAt(bytes: Uint8Array): RecordHead | "cut" | undefined {
  const start = bytes.subarray(0, maxHead);
  if (!magic.startsWith(latin1(start.subarray(0, magic.length)))) return undefined;
  const headLength = headEnd(start);
  if (headLength === undefined) return start.length < maxHead ? "cut" : undefined;
  const { fields, concurrentTo } = parseFields(Buffer.from(start.subarray(0, headLength)).toString());
  const contentLength = fields.get("content-length") ?? "";
  if (!/^\d{1,15}$/.test(contentLength)) return undefined;
  const type = (fields.get("warc-type") ?? "").toLowerCase();
  return { type, fields, concurrentTo, headLength, contentLength: Number(contentLength) };
}

/** Returns the length of the line ends that these bytes begin with, in bytes. */
export function lineEndsAt(bytes: Uint8Array): number {
  const end = bytes.findIndex((byte) => byte !== lineFeed && byte !== carriageReturn);
  return end === -1 ? bytes.length : end;
}

/** Returns the end of a head (of a record or of HTTP), after its empty line. */
export function headEnd(bytes: Uint8Array): number | undefined {
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1)) {
    if (bytes[end + 1] === lineFeed) return end + 2;
    if (bytes[end + 1] === carriageReturn && bytes[end + 2] === lineFeed) return end + 3;
  }
  return undefined;
}

function parseFields(head: string): { fields: Map<string, string>; concurrentTo: string[] } {
  const fields = new Map<string, string>();
  const concurrentTo: string[] = [];
  for (const [name, value] of fieldsOf(head)) {
    if (name === "warc-concurrent-to") concurrentTo.push(value);
    else if (!fields.has(name)) fields.set(name, value);
  }
  return { fields, concurrentTo };
}

/** Yields the fields of a head (of a record or of HTTP), with names in lower case. Indented lines continue the last one. */
export function* fieldsOf(head: string): Generator<[name: string, value: string]> {
  for (const line of head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) yield [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
  }
}

export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

export function newId(): string {
  return `<urn:uuid:${randomUUID()}>`;
}

/** Returns the first fields of each of our records. `date` is when the capture of the record's data began. */
export function ownFields(
  type: string,
  id: string,
  contentType: string,
  date: string = new Date().toISOString(),
): readonly Field[] {
  return [
    ["WARC-Type", type],
    ["WARC-Record-ID", id],
    ["WARC-Date", date],
    ["Content-Type", contentType],
  ];
}

/** Returns the head of a record as text. */
export function serializeHead(fields: readonly Field[], contentLength: number): Buffer {
  const lines = [...fields, ["Content-Length", String(contentLength)] as const];
  return Buffer.from(`WARC/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
}

/** The digest of the content of a record, or of its payload: `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`. It shows damage, not forgery. */
export interface Digest {
  readonly algorithm: string;
  readonly hex: string;
}

/** Parses a digest. Returns undefined if there is none, or it cannot be checked. */
export function parseDigest(text: string | undefined): Digest | undefined {
  const [, label = "", value = ""] = /^([a-z0-9-]+):([^\s]+)$/i.exec(text?.trim() ?? "") ?? [];
  const algorithm = label.toLowerCase().replace(/^sha-/, "sha");
  const length = lengths.get(algorithm);
  if (length === undefined) return undefined;
  const hex = hexOf(value, length);
  return hex === undefined ? undefined : { algorithm, hex };
}

/** The lengths of digests in bytes, by algorithm. */
const lengths: ReadonlyMap<string, number> = new Map([
  ["md5", 16],
  ["sha1", 20],
  ["sha256", 32],
  ["sha384", 48],
  ["sha512", 64],
]);

// Tools write Base32, hexadecimal digits or Base64.
function hexOf(value: string, length: number): string | undefined {
  if (value.length === 2 * length && /^[0-9a-f]+$/i.test(value)) return value.toLowerCase();
  const digits = value.toUpperCase().replace(/=+$/, "");
  if (digits.length === Math.ceil((length * 8) / 5) && /^[A-Z2-7]+$/.test(digits)) {
    const number = [...digits].reduce((sum, digit) => sum * 32n + BigInt(alphabet.indexOf(digit)), 0n);
    return (number >> BigInt(digits.length * 5 - length * 8)).toString(16).padStart(2 * length, "0");
  }
  const bytes = Buffer.from(value, "base64");
  return bytes.length === length ? bytes.toString("hex") : undefined;
}

/** Computes a digest as written in a record: SHA-1, as is usual in WARC files. */
export class Digester {
  readonly #hash = createHash("sha1");

  update(piece: Uint8Array): this {
    this.#hash.update(piece);
    return this;
  }

  /** Called once, at the end. */
  toString(): string {
    return `sha1:${base32(this.#hash.digest())}`;
  }
}

/** Compares content with its digest while the content is read. Without a digest, all content is accepted. */
export class DigestCheck {
  readonly #digest: Digest | undefined;
  readonly #hash: ReturnType<typeof createHash> | undefined;

  constructor(text: string | undefined) {
    this.#digest = parseDigest(text);
    this.#hash = this.#digest && createHash(this.#digest.algorithm);
  }

  get hasDigest(): boolean {
    return this.#hash !== undefined;
  }

  update(piece: Uint8Array): void {
    this.#hash?.update(piece);
  }

  /** Called once, at the end. */
  matches(): boolean {
    return this.#hash?.digest("hex") === this.#digest?.hex;
  }
}

// https://www.rfc-editor.org/rfc/rfc4648#section-6
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Encodes bytes whose number is a multiple of five, such as a SHA-1 digest, so that no padding is needed. */
export function base32(bytes: Buffer): string {
  const digits = BigInt(`0x${bytes.toString("hex")}`).toString(32);
  return digits.padStart((bytes.length * 8) / 5, "0").replace(/./g, (digit) => alphabet[Number.parseInt(digit, 32)]!);
}
