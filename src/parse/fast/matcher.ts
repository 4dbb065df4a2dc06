// The matcher (matcher.wat) and its memory.
import { fingerprintStart } from "../../fingerprints.ts";
import { matcherCode } from "./matcher-code.ts";

/** A graph in the matcher's own notation. */
export interface MatchGraph {
  readonly bytes: Uint8Array;
  /** Another number for each change. */
  readonly version: number;
}

export class Matcher {
  readonly #code: MatcherCode;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  readonly #space: Uint8Array;
  /** The steps of the last run; `wordsPerStep` for each. */
  readonly trace: Int32Array;
  /** How many line ends the last run went past. */
  lineEnds = 0;
  /** What the last run decoded. */
  decoded = "";
  #graph: MatchGraph | undefined;
  #version = 0;
  /** Which document is in the memory: another number for each that was loaded. */
  document = 0;
  #isAscii = true;
  // The end of the document, and a place in it of which both the byte and the character are known.
  #end = documentStart;
  #byte = documentStart;
  #unit = 0;
  readonly #origins: string[] = [];
  #nextOrigin = 0;

  constructor(code: MatcherCode) {
    this.#code = code;
    const { buffer } = code.memory;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Int32Array(buffer);
    this.#space = this.#bytes.subarray(documentStart, decodedStart - padding);
    this.trace = this.#words.subarray(traceStart / 4, documentStart / 4);
    code.highStart.value = fingerprintStart.high;
    code.lowStart.value = fingerprintStart.low;
  }

  /** From now on this is the document. Returns false where it is too long. */
  load(text: string): boolean {
    if (text.length * 3 > this.#space.length) return false;
    const { written } = encoder.encodeInto(text, this.#space);
    this.document++;
    this.#isAscii = written === text.length;
    this.#end = documentStart + written;
    this.#byte = documentStart;
    this.#unit = 0;
    this.#bytes.fill(0, this.#end, this.#end + padding);
    return true;
  }

  /** From now on this is the graph. */
  use(graph: MatchGraph): void {
    if (this.#graph === graph && this.#version === graph.version) return;
    this.#bytes.set(graph.bytes, graphStart);
    this.#graph = graph;
    this.#version = graph.version;
  }

  /** Goes on from this place of the document and this node, as far as it gets. Returns how many words the trace has. */
  run(at: number, node: number, limits: { readonly text: number; readonly url: number }): number {
    const byte = this.#byteAt(at);
    const shift = byte - documentStart - at;
    const end = this.#code.run(byte, this.#end, shift, node, limits.text, limits.url);
    this.#byte = this.#words[0]!;
    this.lineEnds = this.#code.lineEnds(byte, this.#byte);
    this.#unit = this.#byte - documentStart - this.#words[1]!;
    const decodedEnd = this.#words[4]!;
    this.decoded = decodedEnd > decodedStart ? decoder.decode(this.#bytes.subarray(decodedStart, decodedEnd)) : "";
    return (end - traceStart) >> 2;
  }

  /** Where the last run ended: the place, the node, and why. */
  get at(): number {
    return this.#unit;
  }

  get node(): number {
    return this.#words[2]!;
  }

  get reason(): number {
    return this.#words[3]!;
  }

  /** URLs that start with this were accepted. */
  remember(origin: string): void {
    // A whole run may have been made before the first of its URLs was looked at.
    if (origin.length > originLength || this.#origins.includes(origin)) return;
    const index = this.#nextOrigin;
    const slot = originStart + index * (originLength + 16);
    const { written } = encoder.encodeInto(origin, this.#bytes.subarray(slot + 16, slot + 16 + originLength));
    this.#words[slot >> 2] = written === origin.length ? written : 0;
    // A copy: a part of a document would keep all of it.
    this.#origins[index] = ` ${origin}`.slice(1);
    this.#nextOrigin = (index + 1) % originCount;
  }

  #byteAt(unit: number): number {
    if (this.#isAscii) return documentStart + unit;
    if (unit < this.#unit) {
      this.#byte = documentStart;
      this.#unit = 0;
    }
    this.#byte = this.#code.seek(this.#byte, unit - this.#unit);
    this.#unit = unit;
    return this.#byte;
  }
}

/** Undefined where there can be none: an engine without WebAssembly or its vectors, or a page that forbids it. */
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
  run(at: number, end: number, shift: number, node: number, longest: number, longestUrl: number): number;
  seek(byte: number, units: number): number;
  lineEnds(from: number, to: number): number;
}

// What is needed of https://webassembly.github.io/spec/js-api/: the types of Node.js lack it.
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: MatcherCode };
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// Why a run ended: what stands there is not in the graph; more of the document is needed; or there is no room left in the trace.
export const needsMore = 2;
export const needsTrace = 3;

// The same figures as in matcher.wat. First the flags of a text.
export const hasReferences = 1;
export const hasControls = 2;
export const hasSpace = 8;
export const isKnownUrl = 16;
export const isDecoded = 32;
export const isDate = 64;
export const isUrlOfNewOrigin = 128;
export const wordsPerStep = 8;
const originStart = 64;
const originLength = 224;
const originCount = 4;
export const graphStart = 4096;
export const graphSize: number = 28 * 1024;
const traceStart = 32_768;
const documentStart = 65_536;
const decodedStart = 458_752;
// Vectors are read beyond the end.
const padding = 16;
