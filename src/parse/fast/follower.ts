// The fast path: reads what the document said before in the same way, with the matcher instead of the scanner. What the scanner
// reads is learned; where it stands at a place from which paths are known, the matcher goes along them as far as they lead, and
// the trace that it leaves is played.
import type { RuleReader } from "../element-rule.ts";
import type { FastPath, ScannerParts } from "../fast-path.ts";
import { Learner } from "./learner.ts";
import { type Matcher, needsMore, needsTrace } from "./matcher.ts";
import type { PathNode } from "./paths.ts";
import { Player } from "./player.ts";

export class Follower implements FastPath {
  readonly #parts: ScannerParts;
  readonly #matcher: Matcher;
  readonly #learner: Learner;
  readonly #player: Player;
  // Which buffer was loaded last, and as which document.
  #version = -1;
  #document = -1;

  constructor(parts: ScannerParts, matcher: Matcher) {
    this.#parts = parts;
    this.#matcher = matcher;
    this.#learner = new Learner(parts);
    this.#player = new Player(parts, matcher);
  }

  advance(): boolean {
    const reader = this.#parts.elements.handler.byRules;
    if (reader === undefined) return false;
    this.#learner.observe(reader);
    return this.#learner.isReady && this.#follow(reader);
  }

  #follow(reader: RuleReader): boolean {
    const { cursor, limits } = this.#parts;
    const { paths } = this.#learner;
    const matcher = this.#matcher;
    const player = this.#player;
    const from = this.#learner.here!;
    let node = from;
    if (!this.#load()) return false;
    matcher.use(paths);
    let reason = needsTrace;
    while (reason === needsTrace) {
      const length = matcher.run(cursor.at, node.address, limits);
      const { at, lineEnds } = matcher;
      reason = matcher.reason;
      node = paths.nodeAt(matcher.node);
      cursor.settle();
      player.play(paths.edges, reader, length);
      if (cursor.stopped) return false;
      cursor.passTo(at, lineEnds);
    }
    const { begun } = player;
    if (begun !== undefined) {
      // A tag or a CDATA section that does not end is read again, from the text before it.
      node = begun.from;
      player.begun = undefined;
      cursor.backTo(player.begunAt);
    }
    if (node !== from) this.#stopAt(node, reader);
    this.#learner.moveTo(node);
    return reason === needsMore && cursor.buffer.length - cursor.at <= maxWait;
  }

  #load(): boolean {
    const { cursor } = this.#parts;
    if (this.#version === cursor.version && this.#document === this.#matcher.document) return true;
    if (!this.#matcher.load(cursor.buffer)) return false;
    this.#version = cursor.version;
    this.#document = this.#matcher.document;
    return true;
  }

  // Brings up to date what is open.
  #stopAt(node: PathNode, reader: RuleReader): void {
    const { elements, text } = this.#parts;
    const { names, wants, rules } = node.state!;
    elements.resume(names);
    text.depth = wants ? names.length : 0;
    reader.rules = rules;
  }
}

// How much of a document may wait for more.
const maxWait = 64 * 1024;
