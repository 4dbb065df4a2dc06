// The fast path: reads what repeats earlier parts of the document with the matcher instead of the scanner. The document
// is in the matcher's memory, as UTF-8. Where the matcher knows no path, a window of the document is decoded and given
// to the scanner; what the scanner reads is learned, and it stops as soon as it reaches a place from which a path is
// known.
import { type TextPiece, Utf8Text } from "../../model/utf8-text.ts";
import type { RuleReader } from "../element-rule.ts";
import type { FastPath, ScannerParts } from "../fast-path.ts";
import { layout } from "./layout.ts";
import { Learner } from "./learner.ts";
import type { Matcher } from "./matcher.ts";
import type { PathNode } from "./paths.ts";
import { Player } from "./player.ts";
import { wellFormedPieces } from "./well-formed.ts";

export class Follower implements FastPath {
  readonly #parts: ScannerParts;
  readonly #matcher: Matcher;
  readonly #learner: Learner;
  readonly #player: Player;
  // What could not be read yet of the last chunk: bytes, and the first half of a surrogate pair.
  #rest: Uint8Array = nothing;
  #half = "";
  // Who reads next: the scanner has stopped, or the matcher waits for more.
  #isOurs = false;
  // Where the matcher knew no path: the scanner has to get beyond it.
  #stuckAt = -1;
  // The scanner may stop if no more than this is unread: that much is still in the matcher's memory.
  #window = 0;
  // Switching between the two has a cost, and so has learning. After many short runs, or many tokens without any, both
  // pause, longer each time.
  #shortRuns = 0;
  #idleTokens = 0;
  #knownVersion = 0;
  #pause = 0;
  #pausedUntil = 0;

  constructor(parts: ScannerParts, matcher: Matcher) {
    this.#parts = parts;
    this.#matcher = matcher;
    this.#learner = new Learner(parts);
    this.#player = new Player(parts, matcher);
  }

  write(piece: TextPiece): void {
    const { cursor } = this.#parts;
    if (piece instanceof Utf8Text) {
      const { bytes } = piece;
      for (let from = 0; from < bytes.length && !cursor.stopped; ) {
        const to = endOfCharacters(bytes, from + maxPiece);
        this.#read(bytes.subarray(from, to));
        from = to;
      }
      return;
    }
    const { pieces, half } = wellFormedPieces(this.#half + piece, maxText);
    this.#half = half;
    for (const { text, isWellFormed } of pieces) {
      if (cursor.stopped) return;
      // A lone surrogate has no bytes in UTF-8.
      if (isWellFormed) this.#read(text);
      else this.#scanText(this.#takeRest() + text, -1);
    }
  }

  flush(): void {
    this.#window = -1;
    this.#parts.scan(this.#takeRest() + this.#half);
  }

  takesOver(): boolean {
    const { cursor, elements } = this.#parts;
    const reader = elements.handler.byRules;
    if (reader === undefined || cursor.position < this.#pausedUntil) return false;
    this.#learner.observe(reader);
    const isInWindow = cursor.buffer.length - cursor.at <= this.#window;
    this.#isOurs = this.#learner.isReady && isInWindow && cursor.position !== this.#stuckAt;
    if (this.#isOurs) this.#idleTokens = 0;
    else if (++this.#idleTokens >= mostIdleTokens) {
      this.#idleTokens = 0;
      this.#takePause();
    }
    return this.#isOurs;
  }

  // Reads a chunk, after what is left of the last one.
  #read(piece: Uint8Array | string): void {
    const { cursor } = this.#parts;
    const matcher = this.#matcher;
    matcher.load(this.#rest, piece);
    this.#rest = nothing;
    const { end } = matcher;
    let at: number = layout.documentStart;
    let window = firstWindow;
    while (at < end && !cursor.stopped) {
      if (this.#isOurs) {
        const from = at;
        at = this.#follow(at);
        if (cursor.stopped) return;
        if (matcher.reason === layout.needsMore && end - at <= maxRest) {
          this.#rest = matcher.slice(at, end);
          return;
        }
        this.#stuckAt = cursor.position;
        window = firstWindow;
        this.#weigh(at - from);
      }
      at = this.#scan(at, matcher.characterAt(Math.min(at + window, end)));
      window = Math.min(window * 2, maxWindow);
    }
  }

  // Decides by how many bytes a run of the matcher has read whether the next one is worth its cost.
  #weigh(gain: number): void {
    const { version } = this.#learner.paths;
    const hasLearned = version !== this.#knownVersion;
    this.#knownVersion = version;
    if (gain >= goodRun || hasLearned) {
      this.#shortRuns = 0;
      if (gain >= goodRun) this.#pause = 0;
    } else if (++this.#shortRuns >= mostShortRuns) this.#takePause();
  }

  #takePause(): void {
    this.#pause = Math.min(Math.max(this.#pause * 2, firstPause), longestPause);
    this.#pausedUntil = this.#parts.cursor.position + this.#pause;
    this.#learner.leave();
  }

  // Gives a window of the document to the scanner. Returns the position it reached, or will reach without the fast
  // path.
  #scan(from: number, to: number): number {
    const text = this.#matcher.decode(from, to);
    this.#scanText(text, text.length);
    if (!this.#isOurs || this.#parts.cursor.stopped) return to;
    const rest = this.#parts.takeRest();
    return to - (text.length === to - from ? rest.length : byteLength(rest));
  }

  #scanText(text: string, window: number): void {
    this.#window = window;
    this.#isOurs = false;
    this.#parts.scan(text);
  }

  #takeRest(): string {
    const rest = decoder.decode(this.#rest);
    this.#rest = nothing;
    return rest;
  }

  // Runs the matcher from here. Returns the position it reached.
  #follow(start: number): number {
    const { cursor, limits, elements } = this.#parts;
    const { paths } = this.#learner;
    const matcher = this.#matcher;
    const player = this.#player;
    const reader = elements.handler.byRules!;
    const from = this.#learner.here!;
    let node = from;
    let at = start;
    matcher.use(paths);
    cursor.lend(matcher, start);
    do {
      const length = matcher.run(at, node.address, limits);
      at = matcher.at;
      node = paths.nodeAt(matcher.node);
      player.play(paths.edges, reader, length);
    } while (matcher.reason === layout.needsRoom && !cursor.stopped);
    if (cursor.stopped) return at;
    const { begun } = player;
    if (begun !== undefined) {
      // An incomplete tag or CDATA section is read again, from the text before it.
      node = begun.from;
      at = player.begunAt;
      player.begun = undefined;
    }
    cursor.takeBack(at);
    if (node !== from) this.#stopAt(node, reader);
    this.#learner.moveTo(node);
    return at;
  }

  // Updates the open elements.
  #stopAt(node: PathNode, reader: RuleReader): void {
    const { elements, text } = this.#parts;
    const { names, wants, rules } = node.state!;
    elements.resume(names);
    text.depth = wants ? names.length : 0;
    reader.rules = rules;
  }
}

// Not beyond this position, and not inside a character.
function endOfCharacters(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return bytes.length;
  let end = at;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return end;
}

function byteLength(text: string): number {
  return encoder.encodeInto(text, scratch).written;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const nothing = new Uint8Array(0);
// How much of a document may wait for more, and the size of a chunk.
const maxRest = 32 * 1024;
const maxPiece = layout.documentEnd - layout.documentStart - maxRest;
const maxText = Math.floor(maxPiece / 3);
// Windows start small, because the scanner usually has to read only a few tags.
const firstWindow = 512;
const maxWindow = 64 * 1024;
// The length of a run that is worth its cost; after how many shorter ones, or how many tokens without one, the fast path
// pauses, and for how many characters.
const goodRun = 256;
const mostShortRuns = 16;
const mostIdleTokens = 512;
const firstPause = 2048;
const longestPause = 64 * 1024;
const scratch = new Uint8Array(maxWindow);
