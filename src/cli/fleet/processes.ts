// `sitegrove fleet --processes N`, to use all cores of a machine: this process has the journal and the list; N others, running the same
// program, read the websites that it hands out. If one dies, its websites are given to another one, and a new process replaces it; if the
// parent dies, the others end, because another one may use the folder.
import { fork } from "node:child_process";
import { EventEmitter, once, setMaxListeners } from "node:events";
import { FollowingController, unlessAborted } from "../../fetch/abort.ts";
import { defaultConcurrency, defaultPerAddress, type FleetEvent } from "../../fleet/fleet-options.ts";
import type { JournalQueue, SitesInProcess } from "../../fleet/journal-queue.ts";
import { runFleet, until } from "../../fleet/run-fleet.ts";
import type { SiteSummary } from "../../fleet/site-job.ts";
import type { Lease, SiteQueue } from "../../fleet/site-queue.ts";
import { SitemapError, type SitemapErrorCode } from "../../model/errors.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { type FleetFlags, givenCrawl, withDefaults } from "./flags.ts";
import { sinkFor } from "./outputs.ts";
import type { SiteList } from "./sites.ts";

/** For a child: the flags, and its share of the limits. */
type Setup = Readonly<Record<"concurrency" | "perAddress", number>> & { flags: FleetFlags };

/** What parent and child tell each other. */
interface Message {
  readonly setup?: Setup;
  readonly stop?: true;
  readonly event?: FleetEvent;
  /** A call of the child, about one of its leases unless it takes another; the answer has the same id, and a value or an error. */
  readonly id?: number;
  readonly call?: "take" | "silent" | "done" | "retry" | undefined;
  readonly attemptId?: string | undefined;
  readonly value?: unknown;
  /** Without an id, it ended the child, and is not about a website. */
  readonly error?: { readonly message: string; readonly code?: string | undefined };
}

/** The answer to `take`. */
type GivenLease = Pick<Lease, "job" | "starts" | "attemptId">;

/** `drain`: start no more websites. `signal`: end everything now. */
export interface ProcessesOptions extends Readonly<Record<"drain" | "signal", AbortSignal>> {
  readonly onEvent: (event: FleetEvent) => void;
  /** The path of the program. */
  readonly program: string;
  readonly queue: JournalQueue;
  readonly list: SiteList;
  readonly flags: FleetFlags;
  /** A process died, by a signal or with an exit code. */
  readonly onDeath: (how: string) => void;
}

/** Resolves when nothing is left, or after `drain`; rejects with the first error, and with the reason of `signal`. */
export async function runProcesses(options: ProcessesOptions): Promise<void> {
  const { queue, list, flags, drain, signal, onDeath } = options;
  const { processes: count = 1, perAddress = defaultPerAddress } = flags;
  const { concurrency = defaultConcurrency(undefined, undefined, count) } = flags;
  // Websites on one address may be read by any of them.
  const shares = { concurrency: Math.ceil(concurrency / count), perAddress: Math.floor(perAddress / count) };
  const stop = new FollowingController(signal);
  const adding = queue.add("default", until(list, drain, stop.signal));
  adding.catch((error: unknown) => stop.abort(error));
  const deaths = { inRow: 0, done: -1 };
  const places = Array.from({ length: count }, async () => {
    for (;;) {
      const how = await runChild(options, { flags, ...shares }, stop.signal);
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
async function runChild(
  { program, queue, drain, onEvent }: ProcessesOptions,
  setup: Setup,
  stop: AbortSignal,
): Promise<string | undefined> {
  // Only its errors are shown.
  const child = fork(program, ["fleet", "child"], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  // It may have ended: then nobody waits for the message.
  const send = (message: Message) => child.connected && child.send(message, () => undefined);
  const leases = new Map<string, Lease>();
  const reading: SitesInProcess = new Set();
  const taking = new FollowingController(stop, drain);
  setMaxListeners(0, taking.signal);
  const onStop = () => send({ stop: true });
  let failure: unknown;

  async function answer({ call, attemptId = "", value }: Message): Promise<unknown> {
    const lease = call === "take" ? await queue.take(taking.signal, reading) : leases.get(attemptId);
    if (lease === undefined) return undefined;
    if (call === "silent") return lease.silent?.(value as boolean);
    leases.delete(attemptId);
    if (call === "retry") return lease.retry();
    if (call === "done") return lease.done(value as SiteSummary);
    const { job, starts, attemptId: given } = lease;
    if (child.connected) leases.set(given, lease);
    else await lease.retry();
    return { job, starts, attemptId: given } satisfies GivenLease;
  }

  child.on("message", async (message: Message) => {
    const { id, call, event, error: failed } = message;
    if (event !== undefined) return onEvent(event);
    if (id === undefined) return void (failure ??= asThrown(failed));
    try {
      send({ id, value: await answer(message) });
    } catch (error) {
      // If nothing more is to be begun, that is no error. Otherwise the journal cannot be written: that ends everything.
      if (call === "take" && taking.signal.aborted) return void send({ id });
      failure ??= error;
      onStop();
      send({ id, error: { message: String(error) } });
    }
  });
  send({ setup });
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop);
  // Messages that it sent before its end arrive before the channel is closed.
  const how = await Promise.all([once(child, "exit"), once(child, "disconnect")]).then(
    ([[code, name]]) => (code === exitCodes.complete ? undefined : String(name ?? `exit code ${code}`)),
    () => "it could not be started",
  );
  stop.removeEventListener("abort", onStop);
  taking.abort(new Error("The process is gone"));
  taking.release();
  const isDeath = how !== undefined && failure === undefined && !stop.aborted;
  if (isDeath) await queue.died(reading);
  else for (const lease of leases.values()) await lease.retry();
  if (failure !== undefined) throw failure;
  return how;
}

// An error of a child has lost its class.
function asThrown({ message, code = "" }: NonNullable<Message["error"]> = { message: "" }): Error {
  const isOurs = /^[a-z-]+$/.test(code);
  return isOurs ? new SitemapError(code as SitemapErrorCode, message) : Object.assign(new Error(message), { code });
}

/** What such a process does: its queue is its parent. Returns the exit code. */
export async function fleetChild(): Promise<number> {
  if (!process.connected) throw new UsageError("sitegrove fleet --processes runs this command; do not run it yourself");
  const stop = new AbortController();
  const send = (message: Message) => process.connected && process.send?.(message, () => undefined);
  // By the ids of calls.
  const answers = new EventEmitter().setMaxListeners(0);
  let lastId = 0;
  const ask = async <T>(call: Message["call"], attemptId?: string, value?: unknown): Promise<T> => {
    const id = ++lastId;
    send({ id, call, attemptId, value });
    const [answer] = (await once(answers, String(id))) as [Message];
    if (answer.error !== undefined) throw new Error(answer.error.message);
    return answer.value as T;
  };
  // Without a parent, the process ends.
  const lost = new AbortController().signal;
  const leaseOf = ({ attemptId, ...given }: GivenLease): Lease => ({
    ...{ ...given, attemptId, lost },
    silent: (isSilent) => void ask("silent", attemptId, isSilent).catch(() => undefined),
    done: async (summary) => (await ask("done", attemptId, summary)) ?? "superseded",
    retry: () => ask("retry", attemptId),
  });
  const queue: SiteQueue = {
    // What arrives later goes back when this process ends.
    async take(signal) {
      const given = await unlessAborted(signal, ask<GivenLease | undefined>("take"));
      return given && leaseOf(given);
    },
    add: () => Promise.reject(new Error("Websites are added by the parent")),
    counts: async () => ({ waiting: 0, active: 0, done: 0, failed: 0 }),
    async *results() {},
    close: async () => {},
  };
  // Ctrl-C reaches all processes of a terminal, and stopping a service signals all of its processes: the parent decides
  // what it means.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => undefined);
  // The parent has died: another process may use the folder by now.
  process.once("disconnect", () => process.exit());
  const { flags, ...limits } = await new Promise<Setup>((resolve) => {
    process.on("message", (message: Message) => {
      if (message.setup !== undefined) resolve(message.setup);
      else if (message.stop) stop.abort(new Error("Stopped"));
      else answers.emit(String(message.id), message);
    });
  });
  const { signal } = stop;
  try {
    const [sink, crawl] = [await sinkFor(flags), withDefaults(givenCrawl(flags))];
    await runFleet({ queue, sink, ...limits, crawl, signal, onEvent: (event) => send({ event }) });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (!signal.aborted) send({ error: { message, code } });
  }
  process.removeAllListeners("disconnect");
  process.disconnect();
  return exitCodes.complete;
}
