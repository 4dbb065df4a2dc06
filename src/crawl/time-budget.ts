// The time that one website may take. What was not there when it ended is not there because of it, and says so.
import type { FailedFetch, Fetched, FetchedDocument } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";

export class TimeBudget {
  readonly #milliseconds: number;
  readonly #keep: ((fetched: Fetched) => Promise<Fetched>) | undefined;
  #isUp = false;

  /** `keep` keeps that something was not fetched, so that an archive knows it, too. */
  constructor(milliseconds: number, keep: ((fetched: Fetched) => Promise<Fetched>) | undefined) {
    this.#milliseconds = milliseconds;
    this.#keep = keep;
  }

  /** The time is up: what fails from now on fails because of that. */
  end(): void {
    this.#isUp = true;
  }

  /** The document that is being fetched, or that there was no time for it. */
  async fetched(url: string, fetching: Promise<Fetched>): Promise<Fetched> {
    try {
      return await fetching;
    } catch (error) {
      if (!this.#isUp) throw error;
      const reason = this.#problem();
      const late: FailedFetch = { outcome: "refused", requestedUrl: url, url, hops: [], attempts: 0, reason };
      return this.#keep?.(late) ?? late;
    }
  }

  /** The document as it is read. Where the time is up in the middle of it, it ends there. */
  read(fetched: FetchedDocument): FetchedDocument {
    let late: Problem | undefined;
    const setLate = (error: unknown) => {
      if (!this.#isUp) throw error;
      late = this.#problem();
    };
    const body = {
      get problem() {
        return fetched.body.problem ?? late;
      },
      async *[Symbol.asyncIterator]() {
        try {
          yield* fetched.body;
        } catch (error) {
          setLate(error);
        }
      },
    };
    return { ...fetched, body };
  }

  #problem(): Problem {
    return problem("limit-time", { limit: this.#milliseconds });
  }
}
