// Websites with many pages need more memory than others: only a few of them are read at a time. Which they are turns out while they
// are read; one that has grown large waits until there is room for it, and its server with it.

export class LargeLane {
  readonly #places: number;
  readonly #threshold: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  /** So many at a time; large is what has more pages than the threshold. */
  constructor(places: number, threshold: number = largeSite) {
    this.#places = places;
    this.#threshold = threshold;
  }

  /** For one website. */
  place(signal: AbortSignal): LanePlace {
    let pages = 0;
    let state: "small" | "large" | "left" = "small";
    return {
      grow: async (more) => {
        pages += more;
        if (state !== "small" || pages <= this.#threshold) return;
        state = "large";
        if (this.#taken < this.#places) {
          this.#taken += 1;
          return;
        }
        await new Promise<void>((resolve, reject) => {
          const enter = () => {
            signal.removeEventListener("abort", onAbort);
            resolve();
          };
          const onAbort = () => {
            this.#waiting.splice(this.#waiting.indexOf(enter), 1);
            state = "left";
            reject(signal.reason);
          };
          if (signal.aborted) return reject(signal.reason);
          this.#waiting.push(enter);
          signal.addEventListener("abort", onAbort, { once: true });
        });
      },
      leave: () => {
        if (state === "large") {
          const next = this.#waiting.shift();
          if (next === undefined) this.#taken -= 1;
          else next();
        }
        state = "left";
      },
    };
  }
}

export interface LanePlace {
  /** Says that so many pages were read; waits for a place where that makes the website large. */
  grow(pages: number): Promise<void>;
  leave(): void;
}

const largeSite = 100_000;
