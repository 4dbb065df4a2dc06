// `sitegrove fleet --processes N`: this process has the journal and the list; N others, running the same program, read the websites that it
// sends. They end when their parent says so or has died.
import { type ChildProcess, fork } from "node:child_process";
import { defaultConcurrency, defaultPerAddress } from "../../fleet/fleet-options.ts";
import {
  type ChildProcessesOptions,
  type FromParent,
  ParentQueue,
  runChildProcesses,
  type ToParent,
} from "../../fleet/processes.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { givenCrawl, withDefaults } from "./flags.ts";
import type { FleetFlags } from "./fleet.ts";
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

export interface ProcessesOptions extends Pick<ChildProcessesOptions, "queue" | "drain" | "onEvent" | "onDeath"> {
  /** The path of the program. */
  readonly program: string;
  readonly list: SiteList | undefined;
  readonly flags: FleetFlags;
  readonly folder: string;
  readonly signal: AbortSignal;
}

export async function runProcesses(options: ProcessesOptions): Promise<void> {
  const { program, queue, list, flags, folder, drain, signal, onEvent, onDeath } = options;
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
  const failure = new AbortController();
  const onStop = () => failure.abort(signal.reason);
  signal.addEventListener("abort", onStop, { once: true });
  const adding = list === undefined ? undefined : queue.add("default", until(list, [drain, failure.signal]));
  adding?.catch((error: unknown) => failure.abort(error));
  try {
    const start = () => startChild(program, setup);
    await runChildProcesses({ queue, count, start, drain, stop: failure.signal, onEvent, onDeath });
    await adding;
  } finally {
    signal.removeEventListener("abort", onStop);
  }
}

function startChild(program: string, setup: ChildSetup): ChildProcess {
  // Only its errors are shown.
  const child = fork(program, ["fleet", "child"], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  child.send(setup, () => undefined);
  return child;
}

async function* until<T>(list: AsyncIterable<T>, signals: readonly AbortSignal[]): AsyncGenerator<T, void> {
  for await (const item of list) {
    if (signals.some(({ aborted }) => aborted)) return;
    yield item;
  }
}

/** What such a process does. Returns the exit code. */
export async function fleetChild(): Promise<number> {
  if (!process.connected) throw new UsageError("this command is for sitegrove fleet --processes");
  const drain = new AbortController();
  const stop = new AbortController();
  const send = (message: ToParent) => process.connected && process.send?.(message, () => undefined);
  const queue = new ParentQueue(send);
  // Ctrl-C reaches all processes of a terminal, and stopping a service signals all of its processes: the parent decides
  // what it means.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => undefined);
  // The parent has died: another process may use the folder by now.
  process.once("disconnect", () => process.exit());
  const { flags, folder, concurrency, perAddress } = await new Promise<ChildSetup>((resolve) => {
    process.on("message", (message: FromParent | ChildSetup) => {
      if (message.type === "setup") resolve(message);
      else if (message.type === "drain") drain.abort(new Error("Nothing further is to be begun"));
      else if (message.type === "stop") stop.abort(new Error("Stopped"));
      else queue.receive(message);
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
    send({ type: "finished" });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    send(stop.signal.aborted ? { type: "finished" } : { type: "failed", message, code });
  }
  process.removeAllListeners("disconnect");
  process.disconnect();
  return exitCodes.complete;
}
