// `sitegrove fleet --processes N`, to use all cores of a machine: this process has the journal and the list; N others, running the same
// program, read the websites that it hands out. If one dies, its websites are given to another one, and a new process replaces it; if the
// parent dies, the others end, because another one may use the folder.
import { fork } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { FollowingController, waitFor } from "../../fetch/abort.ts";
import { defaultConcurrency, defaultPerAddress, type FleetEvent } from "../../fleet/fleet-options.ts";
import type { JournalQueue, SitesInProcess } from "../../fleet/journal-queue.ts";
import { runFleet, until } from "../../fleet/run-fleet.ts";
import type { SiteSummary } from "../../fleet/site-job.ts";
import type { Lease, SiteQueue } from "../../fleet/site-queue.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { type FleetFlags, givenCrawl, withDefaults } from "./flags.ts";
import { sinkFor } from "./outputs.ts";
import type { SiteList } from "./sites.ts";

/** The first message to a process; the limits are those of this process. */
interface ChildSetup {
  readonly type: "setup";
  readonly flags: FleetFlags;
  readonly folder: string;
  readonly concurrency: number;
  readonly perAddress: number;
}

type FromParent =
  | ChildSetup
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: string }
  | { readonly type: "drain" | "stop" };

/** What a child asks for. */
type Call =
  | { readonly call: "take" }
  | { readonly call: "done"; readonly attemptId: string; readonly summary: SiteSummary }
  | { readonly call: "retry"; readonly attemptId: string };

type FromChild =
  | ({ readonly type: "call"; readonly id: number } & Call)
  | { readonly type: "event"; readonly event: FleetEvent }
  /** Nothing is left to do, or an error that is not about a website. */
  | { readonly type: "end"; readonly error?: { readonly message: string; readonly code: string | undefined } };

/** The answer to `take`. */
type GivenLease = Pick<Lease, "job" | "starts" | "attemptId">;

export interface ProcessesOptions {
  /** The path of the program. */
  readonly program: string;
  readonly queue: JournalQueue;
  readonly list: SiteList;
  readonly flags: FleetFlags;
  readonly folder: string;
  /** Start no more websites. */
  readonly drain: AbortSignal;
  /** End everything now. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: FleetEvent) => void;
  /** A process died, by a signal or with an exit code. */
  readonly onDeath: (how: string) => void;
}

/** Resolves when nothing is left, or after `drain`; rejects with the first error, and with the reason of `signal`. */
export async function runProcesses(options: ProcessesOptions): Promise<void> {
  const { queue, list, flags, folder, drain, signal, onDeath } = options;
  const { processes: count = 1, perAddress = defaultPerAddress } = flags;
  const { concurrency = defaultConcurrency(undefined, undefined, count) } = flags;
  const setup: ChildSetup = {
    type: "setup",
    flags,
    folder,
    concurrency: Math.max(1, Math.ceil(concurrency / count)),
    // Websites on one address may be read by any of them.
    perAddress: Math.max(1, Math.floor(perAddress / count)),
  };
  const stop = new FollowingController(signal);
  const adding = queue.add("default", until(list, drain, stop.signal));
  adding.catch((error: unknown) => stop.abort(error));
  const deaths = { inRow: 0, done: -1 };
  const places = Array.from({ length: count }, async () => {
    for (;;) {
      const how = await runChild(options, setup, stop.signal);
      if (how === undefined || stop.signal.aborted) return;
      onDeath(how);
      const { done } = await queue.counts();
      deaths.inRow = done > deaths.done ? 1 : deaths.inRow + 1;
      deaths.done = done;
      if (deaths.inRow > mostInRow + count)
        throw new Error(`The processes of the fleet die before they get anything done (${how})`);
    }
  });
  for (const place of places) place.catch((error: unknown) => stop.abort(error));
  await Promise.allSettled(places);
  stop.release();
  stop.signal.throwIfAborted();
  await adding;
}

// A website that kills at once is alone after as many deaths as the number of websites in a process can be halved.
const mostInRow = 20;

/** Returns how the process died; undefined if it ended by itself. Throws its error. */
async function runChild(options: ProcessesOptions, setup: ChildSetup, stop: AbortSignal): Promise<string | undefined> {
  const { program, queue, drain, onEvent } = options;
  // Only its errors are shown.
  const child = fork(program, ["fleet", "child"], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  // It may have ended: then nobody waits for the message.
  const send = (message: FromParent) => child.connected && child.send(message, () => undefined);
  const leases = new Map<string, Lease>();
  const reading: SitesInProcess = new Set();
  const taking = new FollowingController(stop, drain);
  setMaxListeners(0, taking.signal);
  const gone = new AbortController();
  let end: { readonly error?: unknown } | undefined;

  async function answer(call: Call): Promise<unknown> {
    if (call.call === "take") {
      const lease = await queue.take(taking.signal, reading);
      if (lease === undefined) return null;
      const { job, starts, attemptId } = lease;
      if (gone.signal.aborted) await lease.retry();
      else leases.set(attemptId, lease);
      return { job, starts, attemptId } satisfies GivenLease;
    }
    const lease = leases.get(call.attemptId);
    leases.delete(call.attemptId);
    if (call.call === "done") return (await lease?.done(call.summary)) ?? "superseded";
    return lease?.retry();
  }

  child.on("message", async (message: FromChild) => {
    if (message.type === "event") onEvent(message.event);
    else if (message.type === "end")
      end = message.error === undefined ? {} : { error: Object.assign(new Error(), message.error) };
    else {
      try {
        send({ type: "answer", id: message.id, value: await answer(message) });
      } catch (error) {
        // The journal cannot be written: that ends everything. Where nothing more is to be begun, the process knows.
        if (message.call !== "take" || !taking.signal.aborted) end = { error };
        send({ type: "answer", id: message.id, error: error instanceof Error ? error.message : String(error) });
      }
    }
  });
  send(setup);
  for (const [signal, type] of [[stop, "stop"] as const, [drain, "drain"] as const]) {
    if (signal.aborted) send({ type });
    signal.addEventListener("abort", () => send({ type }), { signal: gone.signal });
  }
  // Messages that it sent before its end arrive before the channel is closed.
  const how = await Promise.all([once(child, "exit"), once(child, "disconnect")]).then(
    ([[code, name]]) => String(name ?? `exit code ${code}`),
    () => "it could not be started",
  );
  gone.abort();
  taking.abort(new Error("The process is gone"));
  taking.release();
  if (end === undefined && !stop.aborted) {
    await queue.died(reading);
    return how;
  }
  for (const lease of leases.values()) await lease.retry();
  if (end?.error !== undefined) throw end.error;
  return undefined;
}

type Answer = Extract<FromParent, { readonly type: "answer" }>;

/** The queue of a child: its parent. */
function parentQueue(send: (message: FromChild) => void): SiteQueue & { receive(answer: Answer): void } {
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  const ask = <T>(call: Call): Promise<T> => {
    lastId += 1;
    const id = lastId;
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, ({ value, error }) => (error === undefined ? resolve(value as T) : reject(new Error(error))));
      send({ type: "call", id, ...call });
    });
  };
  const leaseOf = (given: GivenLease): Lease => ({
    ...given,
    // Without a parent, the process ends.
    lost: new AbortController().signal,
    done: (summary) => ask({ call: "done", attemptId: given.attemptId, summary }),
    retry: () => ask({ call: "retry", attemptId: given.attemptId }),
  });
  return {
    receive(answer) {
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    },
    take: (signal) =>
      waitFor(signal, (resolve, reject) => {
        const asked = ask<GivenLease | null>({ call: "take" });
        asked.then((given) => resolve(given === null ? undefined : leaseOf(given)), reject);
        // It may still arrive: it goes back, because nothing was started.
        return () => asked.then((late) => late && leaseOf(late).retry()).catch(() => undefined);
      }),
    add: () => Promise.reject(new Error("Websites are added by the parent")),
    counts: async () => ({ waiting: 0, active: 0, done: 0, failed: 0 }),
    async *results() {},
    close: async () => {},
  };
}

/** What such a process does. Returns the exit code. */
export async function fleetChild(): Promise<number> {
  if (!process.connected) throw new UsageError("this command is for sitegrove fleet --processes");
  const drain = new AbortController();
  const stop = new AbortController();
  const send = (message: FromChild) => process.connected && process.send?.(message, () => undefined);
  const queue = parentQueue(send);
  // Ctrl-C reaches all processes of a terminal, and stopping a service signals all of its processes: the parent decides
  // what it means.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => undefined);
  // The parent has died: another process may use the folder by now.
  process.once("disconnect", () => process.exit());
  const { flags, folder, concurrency, perAddress } = await new Promise<ChildSetup>((resolve) => {
    process.on("message", (message: FromParent) => {
      if (message.type === "setup") resolve(message);
      else if (message.type === "answer") queue.receive(message);
      else if (message.type === "drain") drain.abort(new Error("Nothing further is to be begun"));
      else stop.abort(new Error("Stopped"));
    });
  });
  try {
    await runFleet({
      queue,
      sink: await sinkFor(flags, folder),
      concurrency,
      perAddress,
      crawl: withDefaults(givenCrawl(flags)),
      drain: drain.signal,
      signal: stop.signal,
      onEvent: (event) => send({ type: "event", event }),
    });
    send({ type: "end" });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    send({ type: "end", ...(stop.signal.aborted ? {} : { error: { message, code } }) });
  }
  process.removeAllListeners("disconnect");
  process.disconnect();
  return exitCodes.complete;
}
