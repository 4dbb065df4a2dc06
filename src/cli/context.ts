// What the program has from its process: streams, environment, signals, clock and exit. It is passed to commands, so that tests run them
// inside of their own process. And how the program stops.
import type { Readable, Writable } from "node:stream";
import { Stopped, type StopSignal } from "./exit-codes.ts";

/** Standard output or standard error; of a terminal, its width. */
export type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly bytesWritten?: number };

export interface Context {
  readonly stdin: Readable;
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly environment: NodeJS.ProcessEnv;
  /** Tells of signals by their names. */
  readonly signals: Pick<NodeJS.EventEmitter, "on" | "off">;
  /** The path of the program, to start it again. */
  readonly program: string;
  /** In milliseconds. */
  readonly now: () => number;
  readonly exit: (code: number) => void;
  /** Files that are neither complete nor removed yet. */
  readonly unfinished: Set<{ discard(): void }>;
}

/** Takes the exit code of a command. */
export type Done = (exitCode: number) => void;

export function processContext(): Context {
  return {
    // Opened by those who read it.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    signals: process,
    program: process.argv[1] ?? "",
    now: Date.now,
    exit: (code) => process.exit(code),
    unfinished: new Set(),
  };
}

export function discardUnfinished({ unfinished }: Context): void {
  for (const file of unfinished) file.discard();
}

export interface StopOptions {
  readonly names?: readonly StopSignal[];
  /** Signals that mean the last step, whatever was done before. */
  readonly urgent?: readonly StopSignal[];
  /** If the run does not end by itself: calls `leave` when it has waited enough. */
  readonly wait?: (leave: () => void) => NodeJS.Timeout;
}

/**
 * What Ctrl-C and SIGTERM do: each signal takes one of the steps; after the last one, the program exits if it does not end by itself, and the
 * next signal does not wait. Returns a function that ends that.
 */
export function onStop(
  context: Pick<Context, "signals" | "exit">,
  steps: readonly ((stopped: Stopped) => void)[],
  { names = ["SIGINT", "SIGTERM"], urgent = [], wait = (leave) => setTimeout(leave, 3000) }: StopOptions = {},
): () => void {
  let next = 0;
  let lastMoment: NodeJS.Timeout | undefined;
  const onSignal = (name: StopSignal) => {
    const stopped = new Stopped(name);
    const leave = () => context.exit(stopped.exitCode);
    if (urgent.includes(name)) next = Math.max(next, steps.length - 1);
    steps[next]?.(stopped);
    next += 1;
    if (next === steps.length) lastMoment = wait(leave).unref();
    else if (next > steps.length) leave();
  };
  for (const name of names) context.signals.on(name, onSignal);
  return () => {
    for (const name of names) context.signals.off(name, onSignal);
    clearTimeout(lastMoment);
  };
}

/**
 * Aborted with a `Stopped` when the program is asked to stop. If the run does not end by itself within half a second, `beforeExit` is called and the
 * program exits. Only a reader that is still reading the output is waited for, up to two seconds, so that its output is complete.
 */
export function stopSignal(context: Context, beforeExit: () => void): AbortSignal {
  const { stdout } = context;
  const controller = new AbortController();
  const wait = (leave: () => void) => {
    let [before, looks] = [Number.NaN, 0];
    const timer = setInterval(() => {
      // Changes while somebody reads.
      const taken = (stdout.bytesWritten ?? 0) - stdout.writableLength;
      looks += 1;
      if (stdout.writableLength > 0 && taken !== before && looks < 5) {
        before = taken;
        return;
      }
      clearInterval(timer);
      leave();
    }, 400);
    return timer;
  };
  const exit = (code: number) => {
    beforeExit();
    context.exit(code);
  };
  // SIGHUP: the terminal is closed. Node.js ends there even under nohup; like this, temporary files are removed first.
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  onStop({ signals: context.signals, exit }, [(stopped) => controller.abort(stopped)], { names, wait });
  return controller.signal;
}
