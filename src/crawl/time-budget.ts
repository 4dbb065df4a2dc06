// The time that one website may take. Documents still missing when time runs out are reported as `limit-time`.
import type { Store } from "../archive/store.ts";
import { FollowingController } from "../fetch/abort.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { DocumentRequest, FailedFetch, Fetched, FetchedDocument } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";

/** Returns the time left for work after a website's crawl, in milliseconds: at least a tenth of its limit. */
export function timeLeft(time: number, startedAt: number): number {
  return Math.max(time - (performance.now() - startedAt), time / 10);
}

// Extra time to read small documents that have already arrived, in milliseconds. It is too short for a user to notice.
const grace = 200;

/** The time limit of one crawl. The clock starts when it is created. */
export class TimeBudget {
  readonly #settings: Pick<Settings, "signal" | "limits">;
  readonly #controller: FollowingController;
  readonly #timer: NodeJS.Timeout | undefined;
  #endedAt: number | undefined;
  /** Whether documents may have been fetched but not read, so that a replay of the archive would give a different tree. */
  hasUnread = false;

  constructor(settings: Settings) {
    const { time } = settings.limits;
    this.#settings = settings;
    this.#controller = new FollowingController(settings.signal);
    if (time === 0) this.#end();
    // setTimeout treats longer delays as 1 ms.
    this.#timer = time < 2 ** 31 ? setTimeout(() => this.#end(), time) : undefined;
  }

  /** A signal that is aborted with the caller's signal, when the time is up, and when the crawl is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Whether the time is up. Failures from now on are reported as `limit-time`. */
  get isUp(): boolean {
    return this.#endedAt !== undefined;
  }

  /** Returns the problem once nothing more may be read. */
  exhausted(): Problem | undefined {
    if (this.#endedAt === undefined || performance.now() - this.#endedAt < grace) return undefined;
    this.hasUnread = true;
    return this.#limit();
  }

  /**
   * Returns the pending response, or a failure if the time limit is reached first. The store keeps the failure, so that a replay gives the
   * same tree.
   */
  async fetchedInTime(
    { url, role, anonymous }: DocumentRequest,
    fetching: Promise<Fetched>,
    store: Store | undefined,
  ): Promise<Fetched> {
    try {
      return await fetching;
    } catch (error) {
      const reason = this.#limitUnless(error);
      const late: FailedFetch = { outcome: "refused", url, role, ...defined({ anonymous }), attempts: 0, reason };
      return store?.keep(late) ?? late;
    }
  }

  /** Wraps a document, so that reading it is cut off when the time limit is reached, and throws when the caller's signal is aborted. */
  limited(fetched: FetchedDocument): FetchedDocument & { readonly isCut: () => boolean } {
    const { body } = fetched;
    const { end } = body;
    const isCut = () => {
      this.#settings.signal?.throwIfAborted();
      const late = this.exhausted();
      end.problem ??= late;
      return late !== undefined;
    };
    const limitUnless = (error: unknown) => this.#limitUnless(error);
    async function* bytes() {
      try {
        yield* body;
      } catch (error) {
        end.problem ??= limitUnless(error);
      }
    }
    return { ...fetched, body: { ...body, [Symbol.asyncIterator]: bytes }, isCut };
  }

  /** Ends the requests that are still running, because the crawl is over. */
  close(): void {
    clearTimeout(this.#timer);
    this.#controller.release();
    this.abort(new Error("The crawl is over"));
  }

  #end(): void {
    this.#endedAt ??= performance.now();
    this.abort(new Error("The time for this website is up"));
  }

  #limit(): Problem {
    return problem("limit-time", { limit: this.#settings.limits.time });
  }

  // Returns the problem if the time limit caused the error. Throws any other error, such as that of a full disk.
  #limitUnless(error: unknown): Problem {
    if (!this.isUp || error instanceof SitemapError) throw error;
    return this.#limit();
  }
}
