// Which character set a document is in: the byte order mark, then the charset of the Content-Type header, then the XML
// declaration, then UTF-8. Names are those of https://encoding.spec.whatwg.org/#names-and-labels.
//   Lenient: where these differ the first one counts, and the difference is reported.
//   Lenient: a name that is not known, or that cannot be true (UTF-16 for a document that begins in ASCII, UTF-8 for one
//   in UTF-16), is reported and skipped.
// UTF-32, UTF-7 and EBCDIC are recognized and refused: TextDecoder does not know them, and no sitemap should be in them.

export type CharsetDecision =
  | { readonly charset: string; readonly markLength: number; readonly conflict: string | undefined }
  | { readonly unsupported: string };

/** Decides by the first bytes and the Content-Type header. */
export function decideCharset(sample: Uint8Array, contentType: string | undefined): CharsetDecision {
  const seen = evidence(sample);
  if (seen !== undefined && resolve(seen.charset) === undefined) return { unsupported: seen.charset };
  const markLength = seen?.markLength ?? 0;
  const beginning = readBeginning(sample.subarray(markLength), seen?.charset);

  const claims: Claim[] = [];
  if (seen !== undefined && markLength > 0) claims.push({ by: "byte order mark", name: seen.charset });
  const header = headerCharset(contentType);
  if (header !== undefined) claims.push({ by: "Content-Type", name: header });
  const declared = declaredCharset(beginning);
  if (declared !== undefined) claims.push({ by: "XML declaration", name: declared });

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

interface Claim {
  readonly by: string;
  readonly name: string;
}

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

// Used only if the bytes are not UTF-16. A set of wide characters, or one with other bytes for letters, cannot be right
// for bytes that read as ASCII.
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

// What the first bytes show, whatever is declared. https://www.w3.org/TR/xml/#sec-guessing: by the byte order mark or, without one, by
// the bytes of `<` and what follows it. The same works for any text that begins with ASCII characters.

export interface Evidence {
  readonly charset: string;
  /** The length of the byte order mark; zero without one. */
  readonly markLength: number;
}

/** The character set that the bytes show; undefined for everything that begins like ASCII, and for what is not text. */
export function evidence(sample: Uint8Array): Evidence | undefined {
  for (const [charset, mark] of marks) {
    if (mark.every((byte, index) => sample[index] === byte)) return { charset, markLength: mark.length };
  }
  for (const [charset, start] of starts) {
    if (start.every((byte, index) => sample[index] === byte)) return { charset, markLength: 0 };
  }
  if (alternates(sample, 0)) return { charset: "utf-16le", markLength: 0 };
  if (alternates(sample, 1)) return { charset: "utf-16be", markLength: 0 };
  return undefined;
}

// The longer marks first: that of UTF-32LE begins with that of UTF-16LE.
const marks: readonly (readonly [string, readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-32le", [0xff, 0xfe, 0x00, 0x00]],
  ["utf-32be", [0x00, 0x00, 0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
  ["utf-7", [0x2b, 0x2f, 0x76, 0x38]],
  ["utf-7", [0x2b, 0x2f, 0x76, 0x39]],
];

const starts: readonly (readonly [string, readonly number[]])[] = [
  ["utf-32le", [0x3c, 0x00, 0x00, 0x00]],
  ["utf-32be", [0x00, 0x00, 0x00, 0x3c]],
  // `<?xm` and `<url` in EBCDIC.
  ["ebcdic", [0x4c, 0x6f, 0xa7, 0x94]],
  ["ebcdic", [0x4c, 0xa4, 0x99, 0x93]],
];

// Every second byte is zero and the others are ASCII. Four characters are enough to be sure.
function alternates(sample: Uint8Array, first: 0 | 1): boolean {
  const length = Math.min(8, sample.length - (sample.length % 2));
  if (length < 4) return false;
  for (let index = 0; index < length; index += 2) {
    const character = sample[index + first]!;
    const other = sample[index + 1 - first]!;
    if (other !== 0 || character === 0 || character > 0x7e) return false;
  }
  return true;
}
