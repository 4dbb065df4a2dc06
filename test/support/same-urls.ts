// If only URLs are wanted (`ls -f pages`), the parser skips the details. The URLs and problems must be the same either way, except for what
// is lost when the details of repeated URLs are merged.
import { isLossy, type Problem } from "../../src/model/problem.ts";
import { type TextPiece, Utf8Text } from "../../src/model/text.ts";
import { expectSame } from "./expect-same.ts";
import { parsePieces } from "./parsed.ts";

/** Expects the same URLs and problems with and without the details. */
export function expectSameUrls(pieces: Iterable<TextPiece>, options: Parameters<typeof parsePieces>[1] = {}): void {
  const list = [...pieces];
  const { pages, ...rest } = parsePieces(list, options);
  const { pages: brief, ...others } = parsePieces(list, { ...options, urlsOnly: true });
  expectSame(
    brief.map(({ url }) => url),
    pages.map(({ url }) => url),
  );
  if (rest.codes.includes("url-repeated")) expectSame(unmerged(others), unmerged(rest));
  else expectSame(others, rest);
  // Without the details, some losses may go unnoticed, but none is made up.
  expectSame(
    others.codes.filter((code) => !rest.codes.includes(code)),
    [],
  );
}

function unmerged(result: Omit<ReturnType<typeof parsePieces>, "pages">): typeof result {
  const problems = withoutMergeLosses(result.problems);
  const codes = problems.map(({ code }) => code);
  return { ...result, problems, codes, complete: !codes.some(isLossy) };
}

/** Omits the problems that are only known if the details of repeated URLs are merged. */
export function withoutMergeLosses(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ code }) => !/^(?:limit-(?:images|videos|alternates|repeats)|news-repeated)$/.test(code));
}

/** Splits into pieces of this many bytes, or a few less. */
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
