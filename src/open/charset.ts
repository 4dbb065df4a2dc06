// Decodes bytes as text. The character set of a document comes from the byte order mark, else the Content-Type header, else the XML
// declaration, else it is UTF-8. Names are those of https://encoding.spec.whatwg.org/#names-and-labels.
//   Lenient: if these differ, the first one counts, and the difference is reported.
//   Lenient: ISO-8859-1 in a header is often the server's default: the declaration counts before it, and so does UTF-8 if the first
//   character beyond ASCII is valid UTF-8.
//   Lenient: a name that is unknown or impossible (UTF-16 for a document that begins in ASCII) is reported and skipped.
//   Lenient: invalid bytes become U+FFFD, and are counted.
// UTF-32, UTF-7 and EBCDIC are recognized and refused: TextDecoder does not support them, and no sitemap should use them.
import { isAscii, isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import type { ProblemLog } from "../model/problem.ts";
import { type TextPiece, Utf8Text } from "../model/text.ts";
import type { ByteReader } from "./byte-reader.ts";

export type CharsetDecision =
  | {
      readonly charset: string;
      /** Whether later bytes may still decide between UTF-8 and windows-1252. */
      readonly isOpen: boolean;
      readonly markLength: number;
      /** Describes the declared character sets, if one of them differs from the one in use. */
      readonly conflict: (charset: string) => string | undefined;
    }
  | { readonly unsupported: string };

/** Decides the character set by the first bytes and the Content-Type header. */
export function decideCharset(sample: Uint8Array, contentType: string | undefined): CharsetDecision {
  const seen = evidence(sample);
  if (seen !== undefined && resolve(seen.charset) === undefined) return { unsupported: seen.charset };
  const markLength = seen?.markLength ?? 0;
  const beginning = readBeginning(sample.subarray(markLength), seen?.charset);

  const claims = [
    { by: "byte order mark", name: markLength > 0 ? seen?.charset : undefined },
    { by: "Content-Type", name: headerCharset(contentType) },
    { by: "XML declaration", name: declaredCharset(beginning) },
  ].filter((claim): claim is Claim => claim.name !== undefined);

  const isDefault = ({ by, name }: Claim) => by === "Content-Type" && resolve(name) === serverDefault;
  const defaults = claims.filter(isDefault);
  const byWeight = [...claims.filter((claim) => !isDefault(claim)), ...defaults];
  let charset = seen?.charset;
  let isOpen = false;
  for (const claim of byWeight) {
    const { name } = claim;
    if (charset !== undefined) break;
    if (!canBeTrue(name, beginning)) continue;
    if (defaults.length === 0 && (ebcdic.test(name) || refused.test(name))) return { unsupported: name };
    charset = resolve(name);
    isOpen = isDefault(claim) || (charset === "utf-8" && defaults.length > 0);
  }
  return { charset: charset ?? "utf-8", isOpen, markLength, conflict: (decided) => conflict(claims, decided) };
}

type Claim = Readonly<Record<"by" | "name", string>>;

// Decodes just well enough to find ASCII characters, which are single bytes unless the text is UTF-16.
function readBeginning(sample: Uint8Array, seen: string | undefined): string {
  if (seen !== undefined && wide.test(seen)) return new TextDecoder(seen).decode(sample, { stream: true });
  return Buffer.from(sample.buffer, sample.byteOffset, sample.length).toString("latin1");
}

function headerCharset(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase();
}

// Finds the encoding in the XML declaration (https://www.w3.org/TR/xml/#NT-XMLDecl). The parser reports white space before it.
function declaredCharset(beginning: string): string | undefined {
  const text = beginning.trimStart();
  if (!text.startsWith("<?xml")) return undefined;
  const end = text.indexOf("?>");
  const declaration = end < 0 ? text : text.slice(0, end);
  return /\sencoding\s*=\s*["']\s*([^\s"'<>]+)\s*["']/.exec(declaration)?.[1]?.toLowerCase();
}

// If the document begins like ASCII, it cannot be in UTF-16, UTF-32 or EBCDIC.
function canBeTrue(name: string, beginning: string): boolean {
  if (!wide.test(name) && !ebcdic.test(name)) return true;
  return !(/^\s*<[!?a-z]/i.test(beginning) || /^[\x01-\x7f]*$/.test(beginning));
}

function conflict(claims: readonly Claim[], decided: string): string | undefined {
  const agreed = claims.every(
    ({ name }) => resolve(name) === decided || (/^utf[-_]?16$/.test(name) && wide.test(decided)),
  );
  if (agreed) return undefined;
  return `${claims.map(({ by, name }) => `${by}: ${name}`).join(", ")}; read as ${decided}`;
}

// The Encoding Standard maps ISO-8859-1, US-ASCII and their other names to this.
const serverDefault = "windows-1252";
const wide = /^(?:utf-?16|utf-?32|ucs-?[24]|iso-10646-ucs|unicode$|csunicode)/;
const ebcdic = /^(?:x-)?(?:ebcdic|(?:ibm|cp)-?0?(?:37|273|277|278|280|284|285|297|424|500|870|871|1026|1047|114\d)$)/;
const refused = /^(?:utf-?32|ucs-?4|iso-10646-ucs-4|(?:unicode-1-1-|x-)?utf-?7|csutf7|csucs4)/;

function resolve(name: string): string | undefined {
  if (name === "utf-8") return name;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}

/** Returns the character set that the first bytes show: https://www.w3.org/TR/xml/#sec-guessing. UTF-8 without a mark shows none. */
export function evidence(sample: Uint8Array): { readonly charset: string; readonly markLength: number } | undefined {
  const startsWith = ([, bytes]: Start) => bytes.every((byte, index) => sample[index] === byte);
  const mark = marks.find(startsWith);
  if (mark !== undefined) return { charset: mark[0], markLength: mark[1].length };
  const pairs = alternates(sample, 0) ? "utf-16le" : alternates(sample, 1) ? "utf-16be" : undefined;
  const charset = starts.find(startsWith)?.[0] ?? pairs;
  return charset === undefined ? undefined : { charset, markLength: 0 };
}

type Start = readonly [charset: string, bytes: readonly number[]];

// The mark of UTF-32LE comes before that of UTF-16LE, which it begins with.
const marks: readonly Start[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-32le", [0xff, 0xfe, 0x00, 0x00]],
  ["utf-32be", [0x00, 0x00, 0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
  ["utf-7", [0x2b, 0x2f, 0x76, 0x38]],
  ["utf-7", [0x2b, 0x2f, 0x76, 0x39]],
];

const starts: readonly Start[] = [
  ["utf-32le", [0x3c, 0x00, 0x00, 0x00]],
  ["utf-32be", [0x00, 0x00, 0x00, 0x3c]],
  // These are `<?xm` and `<url` in EBCDIC.
  ["ebcdic", [0x4c, 0x6f, 0xa7, 0x94]],
  ["ebcdic", [0x4c, 0xa4, 0x99, 0x93]],
];

// Whether every second byte is zero and the others are ASCII. Examines up to four characters, and needs two.
function alternates(sample: Uint8Array, first: 0 | 1): boolean {
  const bytes = sample.subarray(0, Math.min(8, sample.length - (sample.length % 2)));
  const isAscii = (byte: number) => byte > 0 && byte <= 0x7e;
  return bytes.length >= 4 && bytes.every((byte, index) => (index % 2 === first ? isAscii(byte) : byte === 0));
}

// Each piece has a fixed cost for the parser, so short ones are joined. Long ones are split, because all entries of a piece are in memory
// at once.
const shortest = 16 * 1024;
const longest = 224 * 1024;

/** Yields the text of everything that is left to read. Calls `count` with the bytes of each piece before it yields their text. */
export async function* decodeText(
  input: ByteReader,
  decoder: CharsetDecoder,
  problems: ProblemLog,
  count: (bytes: Uint8Array) => void,
): AsyncGenerator<TextPiece, void, void> {
  for (let isOver = false; !isOver; ) {
    if (input.buffered < shortest) await input.fill(shortest);
    const bytes = input.take(longest);
    isOver = bytes.length === 0;
    if (!isOver) count(bytes);
    const before = decoder.replaced;
    const text = isOver ? decoder.end() : decoder.write(bytes);
    const replaced = decoder.replaced - before;
    if (replaced > 0)
      problems.add("charset-invalid", { value: decoder.charset, ...(replaced > 1 && { count: replaced }) });
    if (text !== "") yield text;
  }
}

// Decodes every character set that TextDecoder supports. Nearly every sitemap is valid UTF-8, which is passed on undecoded. For the
// others, two bugs of Node.js 20 are worked around: without `stream`, windows-1252 is decoded as ISO-8859-1; with it, TextDecoder throws if
// only one or two bytes follow an invalid character that was cut in two, so it always gets more.
export class CharsetDecoder {
  /** How many characters had to be replaced. Except in UTF-8, a U+FFFD that the website sent also counts, because it looks the same. */
  replaced = 0;
  charset: string;
  /** Whether the first character beyond ASCII decides between UTF-8 and windows-1252. Until then, both are the same. */
  isOpen: boolean;
  #decoder: TextDecoder;
  // Bytes that wait for the next chunk.
  #rest: Uint8Array = new Uint8Array(0);

  constructor(charset = "utf-8", isOpen = false) {
    this.charset = charset;
    this.isOpen = isOpen;
    this.#decoder = new TextDecoder(charset, { ignoreBOM: true });
  }

  get #isUtf8(): boolean {
    return this.isOpen || this.charset === "utf-8";
  }

  write(chunk: Uint8Array): TextPiece {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const others = bytes.length < 2 * heldBack ? 0 : bytes.length - heldBack;
    const length = this.#isUtf8 ? completeLength(bytes) : others;
    this.#rest = bytes.subarray(length);
    return this.#decode(bytes.subarray(0, length), false);
  }

  end(): TextPiece {
    const rest = this.#rest;
    this.#rest = rest.subarray(0, 0);
    return this.#decode(rest, true);
  }

  #decode(bytes: Uint8Array, isLast: boolean): TextPiece {
    if (bytes.length === 0) return "";
    if (this.isOpen && !isAscii(bytes)) this.#decide(bytes);
    if (this.#isUtf8 && isUtf8(bytes)) return new Utf8Text(bytes);
    // Pieces of UTF-8 have no incomplete characters. Without `stream`, decoding is six times as fast.
    const text = this.#isUtf8
      ? this.#decoder.decode(bytes)
      : this.#decoder.decode(bytes, { stream: true }) + (isLast ? this.#decoder.decode() : "");
    this.replaced += countReplacements(text) - (this.#isUtf8 ? countSent(bytes) : 0);
    return text;
  }

  #decide(bytes: Uint8Array): void {
    const first = bytes.findIndex((byte) => byte >= 0x80);
    const character = bytes.subarray(first, first + sequenceLength(bytes[first]!));
    this.charset = isUtf8(character) ? "utf-8" : serverDefault;
    this.#decoder = new TextDecoder(this.charset, { ignoreBOM: true });
    this.isOpen = false;
  }
}

// This many bytes are held back, so that the last chunk is not shorter unless the text is. No character has more bytes.
const heldBack = 4;

/** Returns the length of UTF-8 without an incomplete character at the end. */
export function completeLength(bytes: Uint8Array): number {
  const last = bytes.length - 1;
  for (let back = 0; back < 3 && back <= last; back += 1) {
    const byte = bytes[last - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return sequenceLength(byte) > back + 1 ? last - back : bytes.length;
  }
  return bytes.length;
}

// Returns the length of a UTF-8 character beyond ASCII, by its first byte.
function sequenceLength(byte: number): number {
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// Uses a loop, because `indexOf` is fifty times slower if every character is invalid.
function countReplacements(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === 0xfffd) count += 1;
  return count;
}

// Counts the U+FFFD characters that the website itself sent, in UTF-8.
function countSent(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 2; at < bytes.length; at += 1)
    if (bytes[at] === 0xbd && bytes[at - 1] === 0xbf && bytes[at - 2] === 0xef) count += 1;
  return count;
}
