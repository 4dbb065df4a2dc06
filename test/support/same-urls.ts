// Where only URLs are wanted (`ls -f pages`), whole entries are taken at once: what a document gives must be the same either way.
import { PlainPage } from "../../src/model/page.ts";
import type { UrlLines } from "../../src/model/url-lines.ts";
import { type TextPiece, Utf8Text } from "../../src/model/utf8-text.ts";
import { noFastPath } from "../../src/parse/fast-path.ts";
import { printable } from "../../src/write/printable.ts";
import { expectSame } from "./expect-same.ts";
import { parsePieces } from "./parsed.ts";

/** Expects that neither is different from where everything is wanted, as pages and as lines. */
export function expectSameUrls(pieces: Iterable<TextPiece>, options: Parameters<typeof parsePieces>[1] = {}): void {
  const list = [...pieces];
  const { pages, ...rest } = parsePieces(list, options);
  const { pages: brief, ...others } = parsePieces(list, { ...options, urlsOnly: true });
  expectSame(
    brief.map(({ url }) => url),
    pages.map(({ url }) => url),
  );
  expectSame(others, rest);
  const odd = brief.filter((page) => page instanceof PlainPage && !/^[!-~ ]+$/.test(page.url));
  expectSame(odd, []);
  const expected = { lines: pages.map(({ url }) => `${lineOf(url)}\n`).join(""), count: pages.length, ...rest };
  expectSame(parseLines(list, options), expected);
  expectSame(parseLines(list, { ...options, fastPath: noFastPath }), expected);
  expectSame(countLines(list, options), { count: pages.length, bytes: 0, ...rest });
}

// What is not ASCII shows that it went this way.
const lineOf = (url: string) => (/^[ -~]*$/.test(url) ? url : `*${printable(url)}`);

// The same where they are wanted as lines.
function parseLines(pieces: readonly TextPiece[], options: Parameters<typeof parsePieces>[1] = {}) {
  const parts: UrlLines[] = [];
  const { pages, ...rest } = parsePieces(pieces, { ...options, urlsOnly: true, lineOf }, (lines) => parts.push(lines));
  // Only XML has lines.
  const texts = pages.map(({ url }) => `${lineOf(url)}\n`);
  const lines = [...parts.map(({ bytes }) => Buffer.from(bytes).toString()), ...texts].join("");
  return { lines, count: parts.reduce((sum, { count }) => sum + count, texts.length), ...rest };
}

// The same where only their number is wanted.
function countLines(pieces: readonly TextPiece[], options: Parameters<typeof parsePieces>[1] = {}) {
  let count = 0;
  let bytes = 0;
  const { pages, ...rest } = parsePieces(pieces, { ...options, urlsOnly: true, lineOf: "counted" }, (lines) => {
    count += lines.count;
    bytes += lines.bytes.length;
  });
  return { count: count + pages.length, bytes, ...rest };
}

/** A text in pieces of this many characters. */
export function inPieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size));
}

/** The same of this many bytes, or a few less. */
export function inBytes(text: string, size: number): Utf8Text[] {
  const bytes = Buffer.from(text);
  const pieces: Utf8Text[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + size, bytes.length);
    while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to--;
    pieces.push(new Utf8Text(bytes.subarray(from, to)));
    from = to;
  }
  return pieces;
}
