// Several documents are read in turns, one piece at a time; for some, only URLs are needed, and some are abandoned in the
// middle. They share the tokenizer's memory, so one document must not change the result of another.

import { defaultLimits } from "../../src/model/parse-options.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import type { TextPiece } from "../../src/model/text.ts";
import { CharsetDecoder } from "../../src/open/charset.ts";
import { createDocumentParser } from "../../src/parse/document.ts";
import type { Entries } from "../../src/parse/entries.ts";
import { usualFastPath } from "../../src/parse/fast/token-reader.ts";
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
  /** The number of pieces after which reading stops. */
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

/** Reads documents in turns, and expects the results that each gives alone, without the fast path. */
export function checkTurns(turns: readonly Turn[], random: Random): void {
  const readings = turns.map((turn) => ({ turn, reading: begin(turn), result: undefined as unknown }));
  for (let open = [...readings]; open.length > 0; ) {
    const one = random.pick(open);
    const { done, value } = one.reading.next(1 + random.below(one.turn.longest));
    if (!done) continue;
    one.result = value;
    open = open.filter((other) => other !== one);
  }
  for (const { turn, result } of readings) {
    if (result === undefined) continue;
    const alone = begin({ ...turn, options: { ...turn.options, fastPath: noFastPath } });
    let step = alone.next(Number.POSITIVE_INFINITY);
    while (!step.done) step = alone.next(Number.POSITIVE_INFINITY);
    expectEqual("in turns with others it reads otherwise", result, step.value);
  }
}

function begin(turn: Turn) {
  const reading = read(turn);
  reading.next(0);
  return reading;
}

// Reads this many bytes at a time. Returns the result, unless reading stops early.
function* read({ text, options, left }: Turn): Generator<undefined, unknown, number> {
  const problems = new ProblemLog();
  const decoder = new CharsetDecoder();
  const parser = createDocumentParser({
    fastPath: usualFastPath,
    ...options,
    limits: { ...defaultLimits, ...options.limits },
    problems,
  });
  const [pages, sitemaps]: [unknown[], unknown[]] = [[], []];
  const take = (entries: Entries) => {
    // If only URLs are needed, a page may lack everything else.
    pages.push(...(options.urlsOnly ? (entries.lines ?? entries.pages).map(({ url }) => url) : entries.pages));
    sitemaps.push(...entries.sitemaps);
  };
  const write = (piece: TextPiece) => piece !== "" && !parser.stopped && take(parser.write(piece));
  const bytes = Buffer.from(text);
  for (let at = 0, pieces = 0; ; pieces++) {
    const length = yield;
    if (pieces >= left) return undefined;
    if (at >= bytes.length || parser.stopped) break;
    write(decoder.write(bytes.subarray(at, at + length)));
    at += length;
  }
  write(decoder.end());
  take(parser.end());
  return { pages, sitemaps, outcome: parser.outcome, problems: problems.toArray() };
}
