// Several processes work on one journal, to use all cores of a machine: one has the journal and hands out websites, the others read them. If a
// process dies, its websites are given to another one, and a new process replaces it; if the parent dies, the others end, because another one may
// use the folder.
import type { ChildProcess } from "node:child_process";
import { setMaxListeners } from "node:events";
import { waitFor } from "../fetch/abort.ts";
import type { FleetEvent } from "./fleet-options.ts";
import type { JournalQueue, SitesInProcess } from "./journal-queue.ts";
import type { SiteSummary } from "./site-job.ts";
import type { Lease, QueueCounts, SiteQueue } from "./site-queue.ts";

/** From the child to its parent. `id`: an answer is expected. */
export type ToParent =
  | { readonly type: "take"; readonly id: number }
  | { readonly type: "done"; readonly id: number; readonly attemptId: string; readonly summary: SiteSummary }
  | { readonly type: "retry"; readonly id: number; readonly attemptId: string }
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
type GivenLease = Pick<Lease, "job" | "starts" | "attemptId">;

/** The queue of a child: its parent. */
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
    return waitFor(signal, (resolve, reject) => {
      const asked = this.#ask<GivenLease | null>((id) => ({ type: "take", id }));
      asked.then((given) => resolve(given === null ? undefined : this.#lease(given)), reject);
      // It may still arrive: it goes back, because nothing was started.
      return () => asked.then((late) => late && this.#lease(late).retry()).catch(() => undefined);
    });
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
      done: (summary) => this.#ask((id) => ({ type: "done", id, attemptId, summary })),
      retry: () => this.#ask((id) => ({ type: "retry", id, attemptId })),
    };
  }

  #ask<T>(make: (id: number) => ToParent): Promise<T> {
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send(make(id));
    });
  }
}

// Without a parent, the process ends.
const never = new AbortController().signal;
setMaxListeners(0, never);

export interface ChildProcessesOptions {
  readonly queue: JournalQueue;
  readonly count: number;
  /** Starts a process with a channel (`stdio: ["…", "ipc"]`) that runs a fleet with a `ParentQueue`. */
  readonly start: () => ChildProcess;
  /** Start no more websites. */
  readonly drain: AbortSignal;
  /** End everything now. */
  readonly stop: AbortSignal;
  readonly onEvent: (event: FleetEvent) => void;
  /** A process died, by a signal or with an exit code. */
  readonly onDeath: (how: string) => void;
}

/** Resolves when nothing is left, or after `drain`; rejects with the first error, and with the reason of `stop`. */
export async function runChildProcesses(options: ChildProcessesOptions): Promise<void> {
  const { count, stop } = options;
  const all = new AbortController();
  // Every process adds a listener.
  setMaxListeners(0, all.signal, options.drain);
  const onStop = () => all.abort(stop.reason);
  stop.addEventListener("abort", onStop, { once: true });
  if (stop.aborted) onStop();
  const deaths = { inRow: 0, done: -1 };
  const places = Array.from({ length: count }, async () => {
    try {
      for (;;) {
        const end = await new Child(options, all.signal).end;
        if (end.type === "failed") throw end.error;
        if (end.type === "finished" || all.signal.aborted) return;
        options.onDeath(end.how);
        const { done } = await options.queue.counts();
        deaths.inRow = done > deaths.done ? 1 : deaths.inRow + 1;
        deaths.done = done;
        if (deaths.inRow > mostInRow + count)
          throw new Error(`The processes of the fleet die before they get anything done (${end.how})`);
      }
    } catch (error) {
      all.abort(error);
      throw error;
    }
  });
  const ends = await Promise.allSettled(places);
  stop.removeEventListener("abort", onStop);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  stop.throwIfAborted();
}

// A website that kills at once is alone after as many deaths as the number of websites in a process can be halved.
const mostInRow = 20;

type End =
  | { readonly type: "finished" }
  | { readonly type: "died"; readonly how: string }
  | { readonly type: "failed"; readonly error: unknown };

class Child {
  readonly end: Promise<End>;
  readonly #options: ChildProcessesOptions;
  readonly #process: ChildProcess;
  readonly #leases = new Map<string, Lease>();
  readonly #reading: SitesInProcess = new Set();
  /** Aborted when the process has ended, or no more websites are started. */
  readonly #taking = new AbortController();
  readonly #stop: AbortSignal;
  #last: End | undefined;

  constructor(options: ChildProcessesOptions, stop: AbortSignal) {
    const { drain } = options;
    this.#options = options;
    this.#stop = stop;
    this.#process = options.start();
    // Every pending website adds a listener.
    setMaxListeners(0, this.#taking.signal);
    const pass = (signal: AbortSignal, type: "drain" | "stop") => {
      const onAbort = () => {
        this.#taking.abort(signal.reason);
        this.#send({ type });
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      return () => signal.removeEventListener("abort", onAbort);
    };
    const over = [pass(stop, "stop"), pass(drain, "drain")];
    this.#process.on("message", (message: ToParent) => void this.#receive(message));
    this.#process.on("error", () => undefined);
    this.end = this.#ended().finally(() => {
      for (const unlink of over) unlink();
    });
  }

  async #ended(): Promise<End> {
    const child = this.#process;
    const how = await new Promise<string>((resolve) => {
      // Messages that it sent before its end arrive before the channel is closed.
      let left = 2;
      let word = "it could not be started";
      const settle = () => {
        left -= 1;
        if (left === 0) resolve(word);
      };
      child.once("disconnect", settle);
      child.once("exit", (code, signal) => {
        word = signal ?? `exit code ${code}`;
        settle();
      });
      child.once("error", () => {
        if (child.pid === undefined) resolve(word);
      });
    });
    this.#taking.abort(gone);
    const isOwnEnd = this.#last !== undefined || this.#stop.aborted;
    if (isOwnEnd) for (const lease of this.#leases.values()) await lease.retry();
    else await this.#options.queue.died(this.#reading);
    this.#leases.clear();
    return this.#last ?? { type: "died", how };
  }

  async #receive(message: ToParent): Promise<void> {
    if (message.type === "event") this.#options.onEvent(message.event);
    else if (message.type === "finished") this.#last = { type: "finished" };
    else if (message.type === "failed")
      this.#last = { type: "failed", error: Object.assign(new Error(message.message), { code: message.code }) };
    else {
      const { id } = message;
      try {
        const value = message.type === "take" ? await this.#take() : await this.#settle(message);
        this.#send({ type: "answer", id, value });
      } catch (error) {
        // The journal cannot be written: that ends everything. Where nothing more is to be begun, the process knows.
        if (message.type !== "take" || !this.#taking.signal.aborted) this.#last = { type: "failed", error };
        this.#send({ type: "refused", id, message: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  async #take(): Promise<GivenLease | null> {
    const lease = await this.#options.queue.take(this.#taking.signal, this.#reading);
    if (lease === undefined) return null;
    const { job, starts, attemptId } = lease;
    if (this.#taking.signal.reason === gone) await lease.retry();
    else this.#leases.set(attemptId, lease);
    return { job, starts, attemptId };
  }

  async #settle(message: Extract<ToParent, { readonly type: "done" | "retry" }>): Promise<unknown> {
    const lease = this.#leases.get(message.attemptId);
    this.#leases.delete(message.attemptId);
    if (message.type === "done") return (await lease?.done(message.summary)) ?? "superseded";
    await lease?.retry();
    return null;
  }

  #send(message: FromParent): void {
    // It may have ended: then nobody waits for the answer.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }
}

const gone = new Error("The process is gone");
