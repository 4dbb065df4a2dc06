// Tells the JavaScript engine what kind of program this is: one that reads a lot and keeps nothing, and mostly ends within a second. Measured
// on a website of 825 pages: a third less time, and 65 MB instead of 105; of a million pages: a quarter less time.
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// An engine that does not know a flag would say so on standard error: these are the versions of Node.js that were looked at.
const newestKnown = 26;
const [major = 0] = process.versions.node.split(".").map(Number);

function setFlags(...flags: readonly string[]): void {
  if (major <= newestKnown) for (const flag of flags) setFlagsFromString(flag);
}

/** To be called before anything else is loaded. */
export function startSmall(): void {
  setFlags(
    // Everything that is read is gone a moment later: the part of the heap for new objects need not grow.
    "--semi-space-growth-factor=1",
    // So little survives that several threads would mostly wait for each other.
    "--no-parallel-scavenge",
  );
  // Functions are compiled for speed later, when more is known about them. Most of a small website is read by then; of a large one
  // less is compiled twice, which makes it faster, too. Later engines have no such flag, and compile later by themselves.
  if (major === 20) setFlags("--interrupt-budget=1000000");
}

/** For a fleet with so many websites under way: much is kept for a while, and what is garbage must not double it. */
export function keepFleetSmall(concurrency: number | undefined): void {
  if ((concurrency ?? 0) > 500) setFlags("--heap-growing-percent=20");
}

/** Flags that depend on how far a crawl has come. */
export class CrawlFlags {
  #awaited: "request" | "response" | undefined = "request";
  #batches = 0;
  #newSpaceAtStart: number | undefined;

  see({ type }: { readonly type: string }): void {
    if (type === this.#awaited) this.#compileOneProgram(this.#awaited);
    else if (type === "pages") this.#growOnce();
  }

  // Two programs in WebAssembly are loaded: undici's parser of HTTP between the first request and its response, then the matcher of our
  // parser. Compiled for speed, the first one takes 30 MB and 80 ms, for a few bytes of each response; only the second one is worth it.
  #compileOneProgram(type: "request" | "response"): void {
    setFlags(`--wasm-tiering-budget=${type === "request" ? 1_000_000_000 : 1_800_000}`);
    this.#awaited = type === "request" ? "response" : undefined;
  }

  // A website turns out to be large: room for twice as many new objects, once. Then half as many of them are copied.
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

const batchesOfLarge = 40;
const batchesBetween = 4;

function newSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}
