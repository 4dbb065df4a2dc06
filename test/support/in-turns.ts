// Several documents that are read in turns, a piece of each at a time, some of them with nothing but URLs wanted, some of them left in their
// middle. They share the memory of the tokenizer: what one of them has must not change what comes of another.

import { defaultLimits } from "../../src/model/options.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import type { TextPiece } from "../../src/model/text.ts";
import { CharsetDecoder } from "../../src/open/charset.ts";
import { createDocumentParser } from "../../src/parse/document.ts";
import type { Entries, EntryParser } from "../../src/parse/entries.ts";
import { type CheckOptions, expectEqual } from "./document-checks.ts";
import { mutateText } from "./mutate.ts";
import { noFastPath } from "./no-fast-path.ts";
import type { Random } from "./random.ts";
import { repetitiveDocument, smallLimits } from "./repetitive.ts";

interface Turn {
  readonly text: string;
  readonly options: CheckOptions;
  /** The longest piece of it, in bytes. */
  readonly longest: number;
  /** After how many pieces it is left. */
  readonly left: number;
}

export function turnsOf(random: Random): Turn[] {
  return Array.from({ length: 2 + random.below(3) }, () => {
    const text = repetitiveDocument(random, 40);
    return {
      text: random.below(4) === 0 ? mutateText(text, [text], random) : text,
      options: {
        url: "https://example.org/maps/sitemap.xml",
        limits: random.below(4) === 0 ? smallLimits(random) : {},
        strict: random.below(10) === 0,
        urlsOnly: random.below(3) > 0,
      },
      longest: random.pick([20, 200, 900, 4000, 200_000]),
      left: random.below(10) === 0 ? random.below(10) : Number.POSITIVE_INFINITY,
    };
  });
}

/** Reads them in turns, and expects what each gives alone, without the fast path. */
export function checkTurns(turns: readonly Turn[], random: Random): void {
  const readers = turns.map((turn) => new PieceReader(turn));
  for (let open = [...readers]; open.length > 0; open = open.filter(({ isOver }) => !isOver)) {
    const reader = random.pick(open);
    reader.read(1 + random.below(reader.turn.longest));
  }
  for (const { turn, isLeft, result } of readers) {
    if (isLeft) continue;
    const alone = new PieceReader({ ...turn, options: { ...turn.options, fastPath: noFastPath } });
    while (!alone.isOver) alone.read(Number.POSITIVE_INFINITY);
    expectEqual("in turns with others it reads otherwise", result, alone.result);
  }
}

class PieceReader {
  readonly turn: Turn;
  readonly #bytes: Uint8Array;
  readonly #problems = new ProblemLog();
  readonly #decoder = new CharsetDecoder();
  readonly #parser: EntryParser;
  readonly #pages: unknown[] = [];
  readonly #sitemaps: unknown[] = [];
  #at = 0;
  #pieces = 0;
  isOver = false;
  isLeft = false;

  constructor(turn: Turn) {
    this.turn = turn;
    this.#bytes = Buffer.from(turn.text);
    const limits = { ...defaultLimits, ...turn.options.limits };
    this.#parser = createDocumentParser({ ...turn.options, limits, problems: this.#problems });
  }

  read(length: number): void {
    this.isLeft = this.#pieces++ >= this.turn.left;
    this.isOver = this.isLeft || this.#at >= this.#bytes.length || this.#parser.stopped;
    if (this.isLeft) return;
    if (this.isOver) {
      this.#write(this.#decoder.end());
      this.#take(this.#parser.end());
      return;
    }
    this.#write(this.#decoder.write(this.#bytes.subarray(this.#at, this.#at + length)));
    this.#at += length;
  }

  get result(): unknown {
    const { outcome } = this.#parser;
    return { pages: this.#pages, sitemaps: this.#sitemaps, outcome, problems: this.#problems.toArray() };
  }

  #write(piece: TextPiece): void {
    if (piece !== "" && !this.#parser.stopped) this.#take(this.#parser.write(piece));
  }

  #take({ pages, sitemaps }: Entries): void {
    // Where only URLs are wanted, nothing else of a page has to be there.
    this.#pages.push(...(this.turn.options.urlsOnly ? pages.map(({ url }) => url) : pages));
    this.#sitemaps.push(...sitemaps);
  }
}
