// `sitegrove fleet --processes N`: this process has the journal and the list; N others (child.ts), running the
// same program, read websites.
import { type ChildProcess, fork } from "node:child_process";
import { defaultConcurrency, defaultPerAddress, type FleetEvent } from "../../fleet/fleet-options.ts";
import type { JournalQueue } from "../../fleet/journal-queue.ts";
import { runChildProcesses } from "../../fleet/processes.ts";
import type { FleetFlags } from "./fleet.ts";
import type { SiteList } from "./sites.ts";

/** The first message to a process. */
export interface ChildSetup {
  readonly type: "setup";
  readonly flags: FleetFlags;
  readonly out: string;
  /** Of this process. */
  readonly concurrency: number;
  readonly perAddress: number;
}

export interface ProcessesOptions {
  /** The path of the program. */
  readonly program: string;
  readonly queue: JournalQueue;
  readonly list: SiteList | undefined;
  readonly flags: FleetFlags;
  readonly out: string;
  readonly drain: AbortSignal;
  readonly signal: AbortSignal;
  readonly onEvent: (event: FleetEvent) => void;
  readonly onDeath: (how: string) => void;
}

export async function runProcesses(options: ProcessesOptions): Promise<void> {
  const { program, queue, list, flags, out, drain, signal, onEvent, onDeath } = options;
  const { processes: count = 1, perAddress = defaultPerAddress } = flags;
  const { concurrency = defaultConcurrency(undefined, undefined, count) } = flags;
  const setup: ChildSetup = {
    type: "setup",
    flags,
    out,
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
  const child = fork(program, ["fleet", "child"], {
    // Only its errors are shown.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.send(setup, () => undefined);
  return child;
}

async function* until<T>(list: AsyncIterable<T>, signals: readonly AbortSignal[]): AsyncGenerator<T, void> {
  for await (const item of list) {
    if (signals.some(({ aborted }) => aborted)) return;
    yield item;
  }
}
