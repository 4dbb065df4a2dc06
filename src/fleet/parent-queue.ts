// The queue of a child process: its parent has the journal, and hands out websites one by one. If the parent has died,
// this process ends, because another one may use the folder.
import { setMaxListeners } from "node:events";
import type { Problem } from "../model/problem.ts";
import type { FleetEvent } from "./fleet-options.ts";
import type { SiteJob, SiteSummary } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

/** From the child to its parent. `id`: if an answer is expected. */
export type ToParent =
  | { readonly type: "take"; readonly id: number }
  | { readonly type: "done"; readonly id: number; readonly attemptId: string; readonly summary: SiteSummary }
  | {
      readonly type: "retry";
      readonly id: number;
      readonly attemptId: string;
      readonly reason: Problem | undefined;
      readonly afterMs: number;
    }
  | { readonly type: "event"; readonly event: FleetEvent }
  /** Nothing is left to do. */
  | { readonly type: "finished" }
  /** An error that is not about a website. */
  | { readonly type: "failed"; readonly message: string; readonly code: string | undefined };

export type FromParent =
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "refused"; readonly id: number; readonly message: string }
  | { readonly type: "drain" }
  | { readonly type: "stop" };

/** The answer to `take`. */
export interface GivenLease {
  readonly job: SiteJob;
  readonly starts: number;
  readonly attemptId: string;
}

export class ParentQueue implements SiteQueue {
  readonly #send: (message: ToParent) => void;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  #nextId = 1;

  constructor(send: (message: ToParent) => void) {
    this.#send = send;
  }

  /** To be called with the messages of the parent. */
  receive(message: FromParent): void {
    if (message.type !== "answer" && message.type !== "refused") return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "answer") waiting?.resolve(message.value);
    else waiting?.reject(new Error(message.message));
  }

  async take(signal: AbortSignal): Promise<Lease | undefined> {
    signal.throwIfAborted();
    let onAbort = () => {};
    const stopped = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    const asked = this.#ask((id) => ({ type: "take", id })) as Promise<GivenLease | null>;
    try {
      const given = await Promise.race([asked, stopped]);
      return given === null ? undefined : this.#lease(given);
    } catch (error) {
      // It may still arrive: it goes back, because nothing was started.
      asked.then(
        (late) => (late === null ? undefined : this.#lease(late).retry(undefined, 0)),
        () => undefined,
      );
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async add(): Promise<never> {
    throw new Error("Websites are added by the parent");
  }

  async counts(): Promise<QueueCounts> {
    return { waiting: 0, active: 0, done: 0, failed: 0 };
  }

  async *results(): AsyncGenerator<never, void> {}

  async close(): Promise<void> {}

  #lease({ job, starts, attemptId }: GivenLease): Lease {
    return {
      job,
      starts,
      attemptId,
      lost: never,
      done: async (summary) =>
        (await this.#ask((id) => ({ type: "done", id, attemptId, summary }))) as "accepted" | "superseded",
      retry: async (reason, afterMs) => {
        await this.#ask((id) => ({ type: "retry", id, attemptId, reason, afterMs }));
      },
    };
  }

  #ask(make: (id: number) => ToParent): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send(make(id));
    });
  }
}

// Without a parent, the process ends.
const never = new AbortController().signal;
setMaxListeners(0, never);
