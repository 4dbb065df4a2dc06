// Decodes bytes of one character set to text, in chunks of the best size for parsers. Valid UTF-8 is not decoded here:
// see utf8-text.ts.
//   Lenient: bytes that are not valid become U+FFFD, and are counted.
import type { ProblemLog } from "../model/problem.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import type { ByteReader } from "./byte-reader.ts";
import { CharsetDecoder } from "./charset-decoder.ts";
import { Utf8Decoder } from "./utf8-decoder.ts";

// What a parser likes: each piece costs a trip through everything between here and the reader of the pages. The memory of its matcher
// (parse/fast/layout.ts) holds the longest, and what is left of the one before.
const shortest = 16 * 1024;
const longest = 224 * 1024;

/** The text of everything that is left to read. `count` is called for all bytes before their text is yielded. */
export async function* decodeText(
  input: ByteReader,
  charset: string,
  problems: ProblemLog,
  count: (bytes: number) => void,
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
    // Chunks that are long enough are not joined, which would copy them.
    const chunk = input.peekChunk(longest);
    const bytes = chunk.length >= shortest ? chunk : input.peek(longest);
    input.skip(bytes.length);
    if (bytes.length === 0) break;
    count(bytes.length);
    const text = decoder.write(bytes);
    report();
    if (text !== "") yield text;
  }
  const text = decoder.end();
  report();
  if (text !== "") yield text;
}
