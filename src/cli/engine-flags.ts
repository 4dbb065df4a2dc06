// Configures V8 for a program that reads a lot, keeps nothing, and usually ends within a second. Measured on a website
// of 825 pages: a third less time, and 65 MB instead of 105; of a million pages: a quarter less time.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// The versions of Node.js on which these flags were tested: an unknown flag would print a warning.
const newestKnown = 26;
const [major = 0] = process.versions.node.split(".").map(Number);

function setFlags(...flags: readonly string[]): void {
  if (major <= newestKnown) for (const flag of flags) setFlagsFromString(flag);
}

/** Must be called before anything else is imported. */
export function startSmall(): void {
  setFlags(
    // Nearly all objects are short-lived: the young generation need not grow.
    "--semi-space-growth-factor=1",
    // So little survives a collection that several threads would mostly wait for each other.
    "--no-parallel-scavenge",
  );
  // Functions are optimized later, with more type feedback. Most of a small website is read by then; on a large one
  // less is optimized twice, which makes it faster, too. Later engines have no such flag, and optimize later by
  // themselves.
  if (major === 20) setFlags("--interrupt-budget=1000000");
}

/** For a fleet with this many websites at a time: more is kept for a while, and garbage must not double it. */
export function keepFleetSmall(concurrency: number | undefined): void {
  if ((concurrency ?? 0) > 500) setFlags("--heap-growing-percent=20");
}

/** Flags that depend on the progress of a crawl. */
export class CrawlFlags {
  #awaited: "request" | "response" | undefined = "request";
  #batches = 0;
  #responses = 0;
  #newSpaceAtStart: number | undefined;

  see({ type, lines }: { readonly type: string; readonly lines?: unknown }): void {
    if (type === "response") this.#staySmall();
    if (type === this.#awaited) this.#compileOneProgram(this.#awaited);
    else if (type === "pages" && !lines) this.#growOnce();
  }

  // Two WebAssembly modules are loaded: undici's HTTP parser between the first request and its response, then the
  // matcher of our parser. Optimized, the first one takes 30 MB and 80 ms, for a few bytes of each response; only the
  // second one is worth it.
  // A larger tiering budget would only delay it: the 30 MB came after two million pages.
  #compileOneProgram(type: "request" | "response"): void {
    if (type === "request") setFlags("--no-wasm-dynamic-tiering", "--no-wasm-tier-up");
    else setFlags("--wasm-dynamic-tiering");
    this.#awaited = type === "request" ? "response" : undefined;
  }

  // A website with very many documents: garbage must not double what is kept of each of them. Measured with 50,000 that
  // are not found: 40 MB less.
  #staySmall(): void {
    this.#responses += 1;
    if (this.#responses === manyResponses) setFlags("--heap-growing-percent=20");
  }

  // The website is large: twice the young generation, once. Then half as many objects are copied. Where pages come as
  // lines, there are hardly any: then what counts is that buffers are freed soon.
  #growOnce(): void {
    this.#batches += 1;
    if (this.#batches < batchesOfLarge || this.#batches % batchesBetween !== 0) return;
    if (this.#newSpaceAtStart === undefined) {
      this.#newSpaceAtStart = newSpace();
      setFlags("--semi-space-growth-factor=2");
    } else if (newSpace() > this.#newSpaceAtStart) {
      setFlags("--semi-space-growth-factor=1");
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
