// What the first bytes of a document show about its character set, whatever is declared.
// https://www.w3.org/TR/xml/#sec-guessing: by the byte order mark or, without one, by the bytes of `<` and what follows
// it. The same works for any text that begins with ASCII characters.

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
