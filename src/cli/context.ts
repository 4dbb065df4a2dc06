// The parts of the process that commands get as an argument: streams, environment, signals and exit. Tests replace them, to run commands
// inside their own process. This file also decides how the program stops.
import type { Readable, Writable } from "node:stream";
import { type ExitCode, Stopped, type StopSignal } from "./exit-codes.ts";

/** Standard output or standard error. If it is a terminal, it has a width. */
export type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** A result that `keep` makes final. `discard` cleans up, and has no effect on a result that was kept. */
export interface Unfinished {
  /** The file to report as not changed if the result is not kept. */
  readonly replaces?: string | undefined;
  /** What to tell the user about the result if the run ends early. */
  readonly ifStopped?: string | undefined;
  keep(): void;
  discard(): void;
}

export interface Context {
  readonly stdin: Readable;
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly environment: NodeJS.ProcessEnv;
  /** Reports signals by name. */
  readonly signals: Pick<NodeJS.EventEmitter, "on" | "off">;
  readonly exit: (code: number) => void;
  readonly unfinished: Set<Unfinished>;
}

/** Commands pass their exit code to this function, because commander ignores what an action returns. */
export type Done = (exitCode: ExitCode) => void;

export function processContext(): Context {
  return {
    // This is a getter, because Node.js opens standard input on first use.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    signals: process,
    exit: (code) => process.exit(code),
    unfinished: new Set(),
  };
}

export function discardUnfinished({ unfinished }: Context): void {
  for (const result of unfinished) result.discard();
  unfinished.clear();
}

interface StopOptions {
  readonly names?: readonly StopSignal[];
  /** Signals that skip to the last step. */
  readonly urgent?: readonly StopSignal[];
  /** How long the run may take to end by itself after the last step, in milliseconds. */
  readonly patience?: number;
}

/**
 * Handles signals, by default Ctrl-C and SIGTERM: each runs the next step. After the last step, the program exits after `patience`
 * milliseconds, or at the next signal. Returns a function that removes the handlers.
 */
export function onStop(
  context: Pick<Context, "signals" | "exit">,
  steps: readonly ((stopped: Stopped) => void)[],
  { names = ["SIGINT", "SIGTERM"], urgent = [], patience = 3000 }: StopOptions = {},
): () => void {
  let next = 0;
  let exitTimer: NodeJS.Timeout | undefined;
  const onSignal = (name: StopSignal) => {
    const stopped = new Stopped(name);
    const leave = () => context.exit(stopped.exitCode);
    if (urgent.includes(name)) next = Math.max(next, steps.length - 1);
    steps[next]?.(stopped);
    next += 1;
    if (next === steps.length) exitTimer = setTimeout(leave, patience).unref();
    else if (next > steps.length) leave();
  };
  for (const name of names) context.signals.on(name, onSignal);
  return () => {
    for (const name of names) context.signals.off(name, onSignal);
    clearTimeout(exitTimer);
  };
}
