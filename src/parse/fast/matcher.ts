// The matcher (matcher.wat) and its memory. All documents share one: their state is copied into it for each chunk.
import { fingerprintStart } from "../../model/fingerprints.ts";
import { decodeWide } from "../../model/utf8-text.ts";
import { isSpace } from "../xml-attributes.ts";
import type { LineCounter } from "../xml-cursor.ts";
import { layout } from "./layout.ts";
import { matcherCode } from "./matcher-code.ts";

/** A graph in the matcher's encoding. */
export interface MatchGraph {
  readonly bytes: Uint8Array;
  /** Changes with each change of the graph. */
  readonly version: number;
}

export class Matcher implements LineCounter {
  readonly #code: MatcherCode;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  /** The steps of the last run. */
  readonly trace: Int32Array;
  /** The wanted texts of the last run: those of ASCII, and the others, each in the order of their steps. */
  narrow: readonly string[] = [];
  wide: readonly string[] = [];
  /** Short texts, by the positions that the trace gives. */
  readonly words: string[] = [];
  /** The end of the document in memory. */
  end: number = layout.documentStart;
  #graph: MatchGraph | undefined;
  #version = 0;
  readonly #origins: string[] = [];
  #nextOrigin = 0;

  constructor(code: MatcherCode) {
    this.#code = code;
    const { buffer } = code.memory;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Int32Array(buffer);
    this.trace = this.#words.subarray(layout.traceStart >> 2, layout.traceEnd >> 2);
    code.highStart.value = fingerprintStart.high;
    code.lowStart.value = fingerprintStart.low;
  }

  /** Loads the document: what was left of the last chunk, and the next one. */
  load(rest: Uint8Array, piece: Uint8Array | string): void {
    this.#bytes.set(rest, layout.documentStart);
    let end = layout.documentStart + rest.length;
    if (typeof piece === "string") {
      end += encoder.encodeInto(piece, this.#bytes.subarray(end, layout.documentEnd)).written;
    } else {
      this.#bytes.set(piece, end);
      end += piece.length;
    }
    this.#bytes.fill(0, end, end + vectorSize);
    this.end = end;
  }

  /** Loads the graph. */
  use(graph: MatchGraph): void {
    if (this.#graph === graph && this.#version === graph.version) return;
    this.#bytes.set(graph.bytes, layout.graphStart);
    this.#graph = graph;
    this.#version = graph.version;
  }

  /** Runs from this position and node as far as it can. Returns the length of the trace, in 32-bit words. */
  run(at: number, node: number, limits: { readonly text: number; readonly url: number }): number {
    const end = this.#code.run(at, this.end, node, limits.text, limits.url);
    this.narrow = this.#texts(layout.narrowStart, this.#words[layout.resultNarrow >> 2]!, decodeNarrow);
    this.wide = this.#texts(layout.wideStart, this.#words[layout.resultWide >> 2]!, decodeWide);
    return (end - layout.traceStart) >> 2;
  }

  // Decoded and parsed all at once. JSON.parse gives each string its own memory: slices of a longer one would keep that
  // alive.
  #texts(start: number, end: number, decode: (bytes: Uint8Array) => string): readonly string[] {
    return end - start <= emptyList ? noTexts : JSON.parse(decode(this.#bytes.subarray(start, end)));
  }

  /** Where the last run ended: position, node and reason. */
  get at(): number {
    return this.#words[layout.resultAt >> 2]!;
  }

  get node(): number {
    return this.#words[layout.resultNode >> 2]!;
  }

  get reason(): number {
    return this.#words[layout.resultReason >> 2]!;
  }

  countLineEnds(from: number, to: number): number {
    return this.#code.lineEnds(from, to);
  }

  /** A copy of a part of the document. */
  slice(from: number, to: number): Uint8Array {
    return this.#bytes.slice(from, to);
  }

  decode(from: number, to: number): string {
    return decoder.decode(this.#bytes.subarray(from, to));
  }

  /** Whether there is only XML white space between the two. */
  isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (!isSpace(this.#bytes[at]!)) return false;
    return true;
  }

  /** The start of the character that this byte belongs to. */
  characterAt(at: number): number {
    let start = at;
    while (start > layout.documentStart && start < this.end && (this.#bytes[start]! & 0xc0) === 0x80) start--;
    return start;
  }

  /** URLs that start with this origin are valid. */
  acceptOrigin(origin: string): void {
    // A whole run may have been made before the first of its URLs was resolved.
    if (origin.length * 3 > originLength || this.#origins.includes(origin)) return;
    const index = this.#nextOrigin;
    const slot = layout.originsStart + index * layout.originSize;
    const text = slot + layout.originText;
    const { written } = encoder.encodeInto(origin, this.#bytes.subarray(text, text + originLength));
    this.#words[slot >> 2] = written;
    this.#origins[index] = origin;
    this.#nextOrigin = (index + 1) % originCount;
  }

  /** A trace was not played to its end: the words that it would have added are unknown. */
  forgetWords(): void {
    this.#bytes.fill(0, layout.wordsStart, layout.wordsStart + layout.wordCount * vectorSize);
  }
}

/** Undefined if there can be none: an engine without WebAssembly or SIMD, or a page that forbids it. */
export function createMatcher(): Matcher | undefined {
  if (typeof WebAssembly === "undefined") return undefined;
  try {
    const code = Uint8Array.from(atob(matcherCode), (character) => character.charCodeAt(0));
    return new Matcher(new WebAssembly.Instance(new WebAssembly.Module(code)).exports);
  } catch {
    return undefined;
  }
}

interface MatcherCode {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly highStart: { value: number };
  readonly lowStart: { value: number };
  run(at: number, end: number, node: number, longest: number, longestUrl: number): number;
  lineEnds(from: number, to: number): number;
}

// The needed part of https://webassembly.github.io/spec/js-api/, which Node's types lack.
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: MatcherCode };
};

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const decodeNarrow = (bytes: Uint8Array) => decoder.decode(bytes);
const vectorSize = 16;
// `[0]`
const emptyList = 3;
const noTexts: readonly string[] = [];
const originLength = layout.originSize - layout.originText;
const originCount = (layout.originsEnd - layout.originsStart) / layout.originSize;
