// The time that one website may take. Documents still missing when time runs out are reported as `limit-time`.
import type { Store } from "../archive/store.ts";
import { defined } from "../model/defined.ts";
import type { DocumentRequest, FailedFetch, Fetched, FetchedDocument } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";

/** The time left for work after a website's crawl, in milliseconds: at least a tenth of its limit. */
export function timeLeft(time: number, startedAt: number): number {
  return Math.max(time - (performance.now() - startedAt), time / 10);
}

// In milliseconds: enough to read small documents that have arrived, and too short to be noticed.
const grace = 200;

/** `store` records which documents were not fetched in time, so that a replay gives the same tree. */
export function timeBudget({ signal, limits }: Settings, store: Store | undefined) {
  let endedAt: number | undefined;
  const limit = () => problem("limit-time", { limit: limits.time });
  const unlessFailed = (error: unknown): Problem => {
    if (endedAt === undefined) throw error;
    return limit();
  };
  let isUnread = false;
  const over = (): Problem | undefined => {
    if (endedAt === undefined || performance.now() - endedAt < grace) return undefined;
    isUnread = true;
    return limit();
  };
  return {
    /** Whether documents may have been fetched but not read, so that a replay of the archive would give a different tree. */
    leftUnread: (): boolean => isUnread,

    /** Time is up: failures from now on are reported as `limit-time`. */
    end(): void {
      endedAt ??= performance.now();
    },

    /** The problem, once nothing more may be read. */
    over: (): Problem | undefined => over(),

    /** The pending response, or a failure if the time limit is reached first. */
    async fetched({ url, role, anonymous }: DocumentRequest, fetching: Promise<Fetched>): Promise<Fetched> {
      try {
        return await fetching;
      } catch (error) {
        const reason = unlessFailed(error);
        const late: FailedFetch = { outcome: "refused", url, role, ...defined({ anonymous }), attempts: 0, reason };
        return store?.keep(late) ?? late;
      }
    },

    /** The document as it is read: cut off when the time limit is reached; throws when the caller's signal is aborted. */
    read(fetched: FetchedDocument): FetchedDocument & { readonly isCut: () => boolean } {
      const { body } = fetched;
      const { end } = body;
      const isCut = () => {
        signal?.throwIfAborted();
        const late = over();
        end.problem ??= late;
        return late !== undefined;
      };
      async function* bytes() {
        try {
          yield* body;
        } catch (error) {
          end.problem ??= unlessFailed(error);
        }
      }
      return { ...fetched, body: { ...body, [Symbol.asyncIterator]: bytes }, isCut };
    },
  };
}
