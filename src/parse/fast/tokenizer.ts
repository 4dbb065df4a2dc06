// The tokenizer (tokenizer.as.ts) and its memory, shared by all documents. Reading a chunk is synchronous, so documents take turns, and
// each loads its own names first.
import { fingerprintStart, highFactor, lowFactor } from "../../model/fingerprints.ts";
import { PageLines } from "../../model/page-list.ts";
import { decodeWide } from "../../model/text.ts";
import { protocolUrlLength } from "../../model/url.ts";
import type { XmlName } from "../xml/names.ts";
import type { XmlScanner } from "../xml/scanner.ts";
import * as layout from "./layout.ts";
import { tokenizerCode } from "./tokenizer-code.ts";

/** An element or attribute of a document that the tokenizer knows. The key of an attribute ends in `=`. */
export interface KnownName {
  readonly key: string;
  /** What kind of text to expect: see the traits in layout.ts. */
  readonly traits: number;
  /** Its address in the tokenizer's memory. */
  address: number;
  /** For an attribute: its name. */
  readonly attribute: string;
  readonly element: XmlName | undefined;
  /** The rule for this name when it was first read. The traits describe that rule. */
  readonly rule: object | undefined;
  /** Whether entries have this name. Inside an entry, only the scanner can tell whether the name starts another one. */
  readonly isEntryName: boolean;
}

export class Tokenizer {
  readonly #code: TokenizerCode;
  /** The memory, as bytes and as 32-bit words. */
  readonly bytes: Uint8Array;
  readonly memory: Int32Array;
  /** Where the last run ended, and whether it needs more of the document there. */
  at = 0;
  needsMore = false;
  /** The texts of the last run, in the order of their tokens. */
  texts: readonly string[] = [];
  /** Short texts that recur, by the numbers in their tokens. */
  readonly words: string[] = [];
  /** The end of the document in memory. */
  end: number = layout.documentStart;
  #names: readonly KnownName[] | undefined;
  #nameCount = 0;
  readonly #origins: string[] = [];
  #nextOrigin = 0;

  constructor(code: TokenizerCode) {
    this.#code = code;
    this.bytes = new Uint8Array(code.memory.buffer);
    this.memory = new Int32Array(code.memory.buffer);
    this.memory[layout.unknownName >> 2] = layout.longestName + 1;
    code.highStart.value = fingerprintStart.high;
    code.lowStart.value = fingerprintStart.low;
    code.highFactor.value = highFactor | 0;
    code.lowFactor.value = lowFactor | 0;
  }

  /** Loads the rest of the last chunk and the next one. */
  load(rest: Uint8Array, piece: Uint8Array): void {
    this.bytes.set(rest, layout.documentStart);
    this.bytes.set(piece, layout.documentStart + rest.length);
    this.end = layout.documentStart + rest.length + piece.length;
    // Vector loads read past the end.
    this.bytes.fill(0, this.end, this.end + 64);
  }

  /** Loads the names of a document, in the order of their numbers. */
  use(names: readonly KnownName[]): void {
    if (this.#names !== names) {
      this.#names = names;
      this.#nameCount = 0;
      this.bytes.fill(0, layout.namesStart, layout.namesStart + layout.nameCount * layout.nameSize);
      this.bytes.fill(0, layout.shapesStart, layout.shapesStart + layout.shapeCount * 8);
    }
    for (; this.#nameCount < names.length; this.#nameCount++) this.#addName(names[this.#nameCount]!, this.#nameCount);
  }

  #addName(name: KnownName, number: number): void {
    const scratch = this.bytes.subarray(layout.scratchStart, layout.scratchStart + 256);
    const { written } = encoder.encodeInto(name.key, scratch);
    const address = this.#code.addName(layout.scratchStart, written);
    this.memory.set([number, name.traits, address], (address + layout.nameNumber) >> 2);
    name.address = address;
  }

  /**
   * Runs from this position as far as it can. Returns the end of the tokens. Texts pass through `JSON.parse`, because its strings do not
   * keep a longer string alive.
   */
  run(at: number): number {
    const code = this.#code;
    const end = code.run(at, this.end);
    this.at = code.at.value;
    this.needsMore = code.needsMore.value === 1;
    const texts = this.bytes.subarray(layout.textsStart, code.textOut.value);
    const decode = code.isAscii.value === 1 ? decodeAscii : decodeWide;
    this.texts = texts.length <= emptyList ? [] : JSON.parse(decode(texts));
    return end;
  }

  /** Prepares a run. `open` has the addresses of the names of the open elements, root first; `floor` is how many of them must stay open. */
  prepare({ limits }: XmlScanner, open: readonly number[], floor: number, entriesBecome: number): void {
    const code = this.#code;
    code.longestText.value = limits.xmlTextLength;
    code.longestUrl.value = Math.min(limits.urlLength, protocolUrlLength);
    code.deepest.value = Math.min(limits.xmlDepth, deepest);
    code.mostAttributes.value = Math.min(limits.xmlAttributes, mostAttributes);
    code.floor.value = floor;
    code.entriesBecome.value = entriesBecome;
    code.depth.value = open.length;
    for (let index = 0; index < open.length && index < deepest; index++) {
      this.memory[(layout.openStart >> 2) + index + 1] = open[index]!;
    }
  }

  /** Remembers the shape of the entry that ends with this token. Call it if nothing was reported about the entry. */
  learnShape(at: number): void {
    const { memory } = this;
    const low = memory[(at + layout.tokenHigh) >> 2]!;
    if (low === 0) return;
    const slot = (layout.shapesStart >> 2) + ((low & (layout.shapeCount - 1)) << 1);
    memory[slot] = low;
    memory[slot + 1] = memory[(at + layout.tokenLow) >> 2]!;
  }

  /** The lines between two positions, with the URLs of `count` pages. */
  lines(from: number, to: number, count: number): PageLines {
    const isAscii = this.#code.linesAreAscii.value === 1;
    const bytes = this.bytes.subarray(from, to);
    return new PageLines(isAscii ? decodeAscii(bytes) : decodeWide(bytes), count, isAscii);
  }

  countLineEnds(from: number, to: number): number {
    return this.#code.lineEnds(from, to);
  }

  decode(from: number, to: number): string {
    return decoder.decode(this.bytes.subarray(from, to));
  }

  /** Tells the tokenizer that URLs that start with this origin are valid. */
  acceptOrigin(origin: string): void {
    // The same origin may come repeatedly, because a run may end before its first URL is resolved.
    if (origin.length * 3 > layout.originSize - layout.originText || this.#origins.includes(origin)) return;
    const index = this.#nextOrigin;
    const slot = layout.originsStart + index * layout.originSize;
    const text = this.bytes.subarray(slot + layout.originText, slot + layout.originSize);
    this.memory[slot >> 2] = encoder.encodeInto(origin, text).written;
    this.#origins[index] = origin;
    this.#nextOrigin = (index + 1) % layout.originCount;
  }

  /** Forgets all words. Call it if not all tokens were read, because the words that they would have added are missing. */
  forgetWords(): void {
    this.bytes.fill(0, layout.wordsStart, layout.wordsStart + layout.wordCount * 16);
  }
}

/** Returns the start of the character that this byte belongs to. */
export function startOfCharacter(bytes: Uint8Array, at: number): number {
  let start = at;
  while ((bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}

/** Returns undefined if the engine has no WebAssembly or SIMD, or the page forbids it. */
export function createTokenizer(): Tokenizer | undefined {
  if (typeof WebAssembly === "undefined") return undefined;
  try {
    const code = Uint8Array.from(atob(tokenizerCode), (character) => character.charCodeAt(0));
    return new Tokenizer(new WebAssembly.Instance(new WebAssembly.Module(code)).exports);
  } catch {
    return undefined;
  }
}

type Setting = "longestText" | "longestUrl" | "mostAttributes" | "deepest" | "floor" | "entriesBecome" | "depth";
type Seed = "highStart" | "lowStart" | "highFactor" | "lowFactor";
type Result = "at" | "needsMore" | "textOut" | "isAscii" | "linesAreAscii";

interface TokenizerCode extends Readonly<Record<Setting | Seed | Result, { value: number }>> {
  readonly memory: { readonly buffer: ArrayBuffer };
  addName(from: number, length: number): number;
  run(from: number, end: number): number;
  lineEnds(from: number, to: number): number;
}

// The needed part of https://webassembly.github.io/spec/js-api/, which Node's types lack.
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: TokenizerCode };
};

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const decodeAscii = (bytes: Uint8Array) => decoder.decode(bytes);
// The length of `[0]`.
const emptyList = 3;
// Deeper elements, and tags with more attributes, are left to the scanner.
const deepest = 30;
const mostAttributes = 30;
