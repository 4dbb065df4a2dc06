// From bytes to text. Which character set a document is in: the byte order mark, then the charset of the Content-Type header, then the XML
// declaration, then UTF-8. Names are those of https://encoding.spec.whatwg.org/#names-and-labels.
//   Lenient: where these differ the first one counts, and the difference is reported.
//   Lenient: a name that is not known, or cannot be true (UTF-16 for what begins in ASCII), is reported and skipped.
//   Lenient: bytes that are not valid become U+FFFD, and are counted.
// UTF-32, UTF-7 and EBCDIC are recognized and refused: TextDecoder does not know them, and no sitemap should be in them.
import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import type { ProblemLog } from "../model/problem.ts";
import { type TextPiece, Utf8Text } from "../model/text.ts";
import type { ByteReader } from "./byte-reader.ts";

export type CharsetDecision =
  | { readonly charset: string; readonly markLength: number; readonly conflict: string | undefined }
  | { readonly unsupported: string };

/** Decides by the first bytes and the Content-Type header. */
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

  let charset = seen?.charset;
  for (const { name } of claims) {
    if (charset !== undefined) break;
    if (!canBeTrue(name, beginning)) continue;
    if (isRefused(name)) return { unsupported: name };
    charset = resolve(name);
  }
  const decided = charset ?? "utf-8";
  return { charset: decided, markLength, conflict: conflict(claims, decided) };
}

type Claim = Readonly<Record<"by" | "name", string>>;

// Enough of a text to find ASCII characters in it: unless it is UTF-16, they are single bytes.
function readBeginning(sample: Uint8Array, seen: string | undefined): string {
  if (seen !== undefined && isWide(seen)) return new TextDecoder(seen).decode(sample, { stream: true });
  return Buffer.from(sample.buffer, sample.byteOffset, sample.length).toString("latin1");
}

function headerCharset(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase();
}

// https://www.w3.org/TR/xml/#NT-XMLDecl. White space before it is reported by the parser.
function declaredCharset(beginning: string): string | undefined {
  const text = beginning.trimStart();
  if (!text.startsWith("<?xml")) return undefined;
  const end = text.indexOf("?>");
  const declaration = end < 0 ? text : text.slice(0, end);
  return /\sencoding\s*=\s*["']\s*([^\s"'<>]+)\s*["']/.exec(declaration)?.[1]?.toLowerCase();
}

// A set of wide characters, or one with other bytes for letters, cannot be right for bytes that read as ASCII.
function canBeTrue(name: string, beginning: string): boolean {
  if (!isWide(name) && !isEbcdic(name)) return true;
  return !(/^\s*<[!?a-z]/i.test(beginning) || /^[\x01-\x7f]*$/.test(beginning));
}

function conflict(claims: readonly Claim[], decided: string): string | undefined {
  const agreed = claims.every(
    ({ name }) => resolve(name) === decided || (/^utf[-_]?16$/.test(name) && isWide(decided)),
  );
  if (agreed) return undefined;
  return `${claims.map(({ by, name }) => `${by}: ${name}`).join(", ")}; read as ${decided}`;
}

function isWide(name: string): boolean {
  return /^(?:utf-?16|utf-?32|ucs-?[24]|iso-10646-ucs|unicode$|csunicode)/.test(name);
}

function isEbcdic(name: string): boolean {
  return /^(?:x-)?(?:ebcdic|(?:ibm|cp)-?0?(?:37|273|277|278|280|284|285|297|424|500|870|871|1026|1047|114\d)$)/.test(
    name,
  );
}

function isRefused(name: string): boolean {
  return isEbcdic(name) || /^(?:utf-?32|ucs-?4|iso-10646-ucs-4|(?:unicode-1-1-|x-)?utf-?7|csutf7|csucs4)/.test(name);
}

function resolve(name: string): string | undefined {
  if (name === "utf-8") return name;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}

/** What the first bytes show. https://www.w3.org/TR/xml/#sec-guessing */
export interface Evidence {
  readonly charset: string;
  /** The length of the byte order mark; zero without one. */
  readonly markLength: number;
}

/** The character set that the bytes show; undefined for everything that begins like ASCII, and for what is not text. */
export function evidence(sample: Uint8Array): Evidence | undefined {
  const startsWith = ([, bytes]: Start) => bytes.every((byte, index) => sample[index] === byte);
  const mark = marks.find(startsWith);
  if (mark !== undefined) return { charset: mark[0], markLength: mark[1].length };
  const wide = alternates(sample, 0) ? "utf-16le" : alternates(sample, 1) ? "utf-16be" : undefined;
  const charset = starts.find(startsWith)?.[0] ?? wide;
  return charset === undefined ? undefined : { charset, markLength: 0 };
}

type Start = readonly [charset: string, bytes: readonly number[]];

// The longer marks first: that of UTF-32LE begins with that of UTF-16LE.
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
  // `<?xm` and `<url` in EBCDIC.
  ["ebcdic", [0x4c, 0x6f, 0xa7, 0x94]],
  ["ebcdic", [0x4c, 0xa4, 0x99, 0x93]],
];

// Every second byte is zero and the others are ASCII. Four characters are enough to be sure.
function alternates(sample: Uint8Array, first: 0 | 1): boolean {
  const bytes = sample.subarray(0, Math.min(8, sample.length - (sample.length % 2)));
  const isAscii = (byte: number) => byte > 0 && byte <= 0x7e;
  return bytes.length >= 4 && bytes.every((byte, index) => (index % 2 === first ? isAscii(byte) : byte === 0));
}

// Each piece costs a trip through everything between here and the reader of the pages. The memory of the tokenizer (parse/fast/layout.ts)
// holds the longest, and what is left of the one before.
const shortest = 16 * 1024;
const longest = 224 * 1024;

/** The text of everything that is left to read. Valid UTF-8 is not decoded here: see utf8-text.ts. `count` is called with bytes before their text is yielded. */
export async function* decodeText(
  input: ByteReader,
  charset: string,
  problems: ProblemLog,
  count: (bytes: Uint8Array) => void,
): AsyncGenerator<TextPiece, void, void> {
  const decoder = charset === "utf-8" ? new Utf8Decoder() : new CharsetDecoder(charset);
  let reported = 0;
  const report = (): void => {
    const count = decoder.replaced - reported;
    if (count > 0) problems.add("charset-invalid", count > 1 ? { value: charset, count } : { value: charset });
    reported = decoder.replaced;
  };
  for (;;) {
    if (input.buffered < shortest) await input.fill(shortest);
    const bytes = input.take(longest);
    if (bytes.length === 0) break;
    count(bytes);
    const text = decoder.write(bytes);
    report();
    if (text !== "") yield text;
  }
  const text = decoder.end();
  report();
  if (text !== "") yield text;
}

// Nearly every sitemap is valid UTF-8, which is passed on undecoded. Only invalid text is decoded, to count what was replaced.
export class Utf8Decoder {
  /** How many characters had to be replaced. */
  replaced = 0;
  // The first bytes of a character that was cut at the end of the last chunk.
  #rest: Uint8Array = new Uint8Array(0);

  write(chunk: Uint8Array): TextPiece {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const length = completeLength(bytes);
    this.#rest = bytes.subarray(length);
    return this.#decode(bytes.subarray(0, length));
  }

  end(): TextPiece {
    const rest = this.#rest;
    this.#rest = rest.subarray(0, 0);
    return this.#decode(rest);
  }

  #decode(bytes: Uint8Array): TextPiece {
    if (bytes.length === 0) return "";
    if (isUtf8(bytes)) return new Utf8Text(bytes);
    const text = decoder.decode(bytes);
    // U+FFFD characters that the website sent do not count.
    this.replaced += occurrences(text, "\uFFFD") - occurrences(Buffer.from(bytes), replacement);
    return text;
  }
}

// Stateless, because it only decodes whole characters: it serves all documents.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const replacement = Buffer.from("\uFFFD");

/** The length without an incomplete character at the end. */
export function completeLength(bytes: Uint8Array): number {
  const last = bytes.length - 1;
  for (let back = 0; back < 3 && back <= last; back += 1) {
    const byte = bytes[last - back]!;
    if (byte < 0x80) break;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (byte >= 0xc0) return length > back + 1 ? last - back : bytes.length;
  }
  return bytes.length;
}

function occurrences<T>(of: { indexOf(what: T, from: number): number }, what: T & { readonly length: number }): number {
  let count = 0;
  for (let at = of.indexOf(what, 0); at >= 0; at = of.indexOf(what, at + what.length)) count += 1;
  return count;
}

// Held back, so that the last chunk is never shorter; no character of any set is longer.
const heldBack = 4;

// Decodes every character set that TextDecoder supports. Two bugs of Node.js 20 are worked around: without `stream`, windows-1252 is decoded as
// ISO-8859-1; with it, TextDecoder throws if one or two bytes follow a cut character that is not valid, so it never gets so few. A U+FFFD that
// the website sent counts as replaced: in these sets it cannot be told apart.
export class CharsetDecoder {
  /** How many characters had to be replaced. */
  replaced = 0;
  readonly #decoder: TextDecoder;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(charset: string) {
    this.#decoder = new TextDecoder(charset, { ignoreBOM: true });
  }

  write(chunk: Uint8Array): string {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const length = bytes.length < 2 * heldBack ? 0 : bytes.length - heldBack;
    this.#rest = bytes.subarray(length);
    return length === 0 ? "" : this.#counted(this.#decoder.decode(bytes.subarray(0, length), { stream: true }));
  }

  end(): string {
    return this.#counted(this.#decoder.decode(this.#rest, { stream: true }) + this.#decoder.decode());
  }

  #counted(text: string): string {
    this.replaced += occurrences(text, "\uFFFD");
    return text;
  }
}
