// Configures V8 for a program that reads a lot, keeps nothing, and usually ends within a second. Measured on a website
// of 825 pages: a third less time, and 65 MB instead of 105; of a million pages: a quarter less time.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// The versions of Node.js on which these flags were tested: an unknown flag would print a warning.
const newestKnown = 26;
const [major = 0] = process.versions.node.split(".").map(Number);

const isSet = new Set<Flag>();

function setFlags(...flags: readonly (readonly [Flag, string])[]): void {
  if (major > newestKnown) return;
  for (const [flag, value] of flags) {
    setFlagsFromString(value);
    isSet.add(flag);
  }
}

// The defaults of the flags that are set.
const defaults = {
  growth: "--semi-space-growth-factor=2",
  scavenge: "--parallel-scavenge",
  budget: "--interrupt-budget=67584",
  heap: "--heap-growing-percent=0",
  tierUp: "--wasm-tier-up",
  tiering: "--wasm-dynamic-tiering",
} as const;

type Flag = keyof typeof defaults;

/**
 * Must be called when the modules of a command are loaded: with other flags than those that Node.js was built with, the
 * engine compiles modules of Node.js again instead of taking them from its cache, which takes 15 ms.
 */
export function startSmall(): void {
  setFlags(
    // Nearly all objects are short-lived: the young generation need not grow.
    ["growth", "--semi-space-growth-factor=1"],
    // So little survives a collection that several threads would mostly wait for each other.
    ["scavenge", "--no-parallel-scavenge"],
  );
  // Functions are optimized later, with more type feedback. Most of a small website is read by then; on a large one
  // less is optimized twice, which makes it faster, too. Later engines have no such flag, and optimize later by
  // themselves.
  if (major === 20) setFlags(["budget", "--interrupt-budget=1000000"]);
}

/** At the end: code that was compiled with other flags could not be used again (compiled-code.ts). */
export function restoreFlags(): void {
  for (const flag of isSet) setFlagsFromString(defaults[flag]);
  isSet.clear();
}

/** For a fleet with this many websites at a time: more is kept for a while, and garbage must not double it. */
export function keepFleetSmall(concurrency: number | undefined): void {
  if ((concurrency ?? 0) > 500) setFlags(["heap", "--heap-growing-percent=20"]);
}

/** Flags that depend on the progress of a crawl. */
export class CrawlFlags {
  #awaited: "request" | "response" | undefined = "request";
  #batches = 0;
  #responses = 0;
  #newSpaceAtStart: number | undefined;

  see({ type }: { readonly type: string }): void {
    if (type === "response") this.#staySmall();
    if (type === this.#awaited) this.#compileOneProgram(this.#awaited);
    else if (type === "pages") this.#growOnce();
  }

  // Two WebAssembly modules are loaded: undici's HTTP parser between the first request and its response, then the
  // matcher of our parser. Optimized, the first one takes 30 MB and 80 ms, for a few bytes of each response; only the
  // second one is worth it.
  // A larger tiering budget would only delay it: the 30 MB came after two million pages.
  #compileOneProgram(type: "request" | "response"): void {
    if (type === "request") setFlags(["tiering", "--no-wasm-dynamic-tiering"], ["tierUp", "--no-wasm-tier-up"]);
    else setFlags(["tiering", "--wasm-dynamic-tiering"]);
    this.#awaited = type === "request" ? "response" : undefined;
  }

  // A website with very many documents: garbage must not double what is kept of each of them. Measured with 50,000 that
  // are not found: 40 MB less.
  #staySmall(): void {
    this.#responses += 1;
    if (this.#responses === manyResponses) setFlags(["heap", "--heap-growing-percent=20"]);
  }

  // The website is large: twice the young generation, once. Then half as many objects are copied.
  #growOnce(): void {
    this.#batches += 1;
    if (this.#batches < batchesOfLarge || this.#batches % batchesBetween !== 0) return;
    if (this.#newSpaceAtStart === undefined) {
      this.#newSpaceAtStart = newSpace();
      setFlags(["growth", "--semi-space-growth-factor=2"]);
    } else if (newSpace() > this.#newSpaceAtStart) {
      setFlags(["growth", "--semi-space-growth-factor=1"]);
      this.#batches = Number.NEGATIVE_INFINITY;
    }
  }
}

const manyResponses = 2000;
const batchesOfLarge = 40;
const batchesBetween = 4;

function newSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}
