// Websites with many pages need more memory: only a few of them are read at a time. A website that turns out to be
// large while it is read waits for a place, and so does its server.

export class LargeLane {
  readonly #places: number;
  readonly #threshold: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  /** The number of places; a website with more pages than the threshold is large. */
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
          if (signal.aborted) {
            state = "left";
            return reject(signal.reason);
          }
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
  /** Reports how many pages were read; waits for a place if that makes the website large. */
  grow(pages: number): Promise<void>;
  leave(): void;
}

const largeSite = 100_000;
