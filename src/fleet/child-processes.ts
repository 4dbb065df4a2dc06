// Several processes work on one journal, to use all cores of a machine: this one has the journal and hands out
// websites, the others read them. If a process dies, its websites are given to another one, and a new process replaces
// it.
import type { ChildProcess } from "node:child_process";
import { setMaxListeners } from "node:events";
import type { FleetEvent } from "./fleet-options.ts";
import type { JournalLease, JournalQueue } from "./journal-queue.ts";
import type { FromParent, GivenLease, ToParent } from "./parent-queue.ts";

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
        // A website that kills processes is quarantined in the end; if every process dies, no website is the cause.
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

type End =
  | { readonly type: "finished" }
  | { readonly type: "died"; readonly how: string }
  | { readonly type: "failed"; readonly error: unknown };

class Child {
  readonly end: Promise<End>;
  readonly #options: ChildProcessesOptions;
  readonly #process: ChildProcess;
  readonly #leases = new Map<string, JournalLease>();
  /** Aborted when the process has ended, or no more websites are started. */
  readonly #taking = new AbortController();
  readonly #stop: AbortSignal;
  #last: End | undefined;
  #isGone = false;

  constructor(options: ChildProcessesOptions, stop: AbortSignal) {
    const { drain } = options;
    this.#options = options;
    this.#stop = stop;
    this.#process = options.start();
    // Every pending website adds a listener.
    setMaxListeners(0, this.#taking.signal);
    const onDrain = () => {
      this.#taking.abort(drain.reason);
      this.#send({ type: "drain" });
    };
    const onStop = () => {
      this.#taking.abort(stop.reason);
      this.#send({ type: "stop" });
    };
    drain.addEventListener("abort", onDrain, { once: true });
    stop.addEventListener("abort", onStop, { once: true });
    this.#process.on("message", (message: ToParent) => void this.#receive(message));
    this.#process.on("error", () => undefined);
    this.end = this.#ended().finally(() => {
      drain.removeEventListener("abort", onDrain);
      stop.removeEventListener("abort", onStop);
    });
    if (stop.aborted) onStop();
    else if (drain.aborted) onDrain();
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
    this.#isGone = true;
    this.#taking.abort(new Error("The process is gone"));
    const isOwnEnd = this.#last !== undefined || this.#stop.aborted;
    for (const lease of this.#leases.values()) await (isOwnEnd ? lease.retry(undefined, 0) : lease.died());
    this.#leases.clear();
    return this.#last ?? { type: "died", how };
  }

  async #receive(message: ToParent): Promise<void> {
    switch (message.type) {
      case "event":
        this.#options.onEvent(message.event);
        return;
      case "finished":
        this.#last = { type: "finished" };
        return;
      case "failed":
        this.#last = { type: "failed", error: Object.assign(new Error(message.message), { code: message.code }) };
        return;
      default:
    }
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

  async #take(): Promise<GivenLease | null> {
    const lease = await this.#options.queue.take(this.#taking.signal);
    if (lease === undefined) return null;
    const { job, starts, attemptId } = lease;
    if (this.#isGone) await lease.retry(undefined, 0);
    else this.#leases.set(attemptId, lease);
    return { job, starts, attemptId };
  }

  async #settle(message: Extract<ToParent, { readonly type: "done" | "retry" }>): Promise<unknown> {
    const lease = this.#leases.get(message.attemptId);
    this.#leases.delete(message.attemptId);
    if (message.type === "done") return (await lease?.done(message.summary)) ?? "superseded";
    await lease?.retry(message.reason, message.afterMs);
    return null;
  }

  #send(message: FromParent): void {
    // It may have ended: then nobody waits for the answer.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }
}

const mostInRow = 10;
