// What the program has from its process: streams, environment, signals, clock and exit. It is passed to commands, so that tests run them
// inside of their own process. And how the program stops.
import { readFileSync } from "node:fs";
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
  /** Where the run does not end by itself: calls `leave` when it has waited enough. */
  readonly wait?: (leave: () => void) => NodeJS.Timeout;
  readonly beforeExit?: () => void;
}

/**
 * What Ctrl-C and SIGTERM do: each signal takes one of the steps; after the last one, the program exits where it does not end by itself, and the
 * next signal does not wait. Returns a function that ends that.
 */
export function onStop(
  context: Context,
  steps: readonly ((stopped: Stopped) => void)[],
  options: StopOptions = {},
): () => void {
  const { names = ["SIGINT", "SIGTERM"], urgent = [], beforeExit } = options;
  const { wait = (leave) => setTimeout(leave, longestStop) } = options;
  let next = 0;
  let lastMoment: NodeJS.Timeout | undefined;
  const onSignal = (name: StopSignal) => {
    const stopped = new Stopped(name);
    const leave = () => {
      beforeExit?.();
      context.exit(stopped.exitCode);
    };
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
  // The output that the system has not taken yet; `written` changes while somebody reads.
  const written = () => (stdout.bytesWritten ?? 0) - stdout.writableLength;
  const wait = (leave: () => void) => {
    const begin = performance.now();
    const look = (before: number) => {
      const now = written();
      if (now === before || performance.now() - begin > longestGrace) leave();
      else setTimeout(look, grace / 2, now).unref();
    };
    return setTimeout(() => (stdout.writableLength === 0 ? leave() : look(Number.NaN)), grace);
  };
  const names = ["SIGINT", "SIGTERM", ...(hearsHangup() ? (["SIGHUP"] as const) : [])] as const;
  onStop(context, [(stopped) => controller.abort(stopped)], { names, wait, beforeExit });
  return controller.signal;
}

// A terminal that is closed. Whoever ignores that before the program starts (nohup) means to go on. Node.js itself undoes that, up to 26, so that
// the signal ends the process with or without a handler; other engines may keep it. Where the system does not tell, nothing is changed.
function hearsHangup(): boolean {
  try {
    const [, ignored = ""] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    // The signal is the first one.
    return ignored !== "" && (Number.parseInt(ignored.slice(-1), 16) & 1) === 0;
  } catch {
    return false;
  }
}

// In milliseconds.
const grace = 400;
const longestGrace = 2000;
const longestStop = 3000;
