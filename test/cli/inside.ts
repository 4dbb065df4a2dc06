// Runs the program inside the process of the tests: its own streams, arguments, exit, signal handlers, environment and folder. Starting a
// process takes a hundred times as long as most command lines take to run. What only a process has (real signals, descriptors, a terminal,
// memory, flags of Node.js) is not here.
//
// Several may run at a time: what belongs to the process is found by the run that asks for it. The environment and the current folder
// cannot be divided: who waits for the end of a run has them alone, and a run in the background sees those of the moment.
import { AsyncLocalStorage } from "node:async_hooks";
import { PassThrough, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Ended, RunOptions, Started } from "./program.ts";

type Listener = (...words: unknown[]) => void;

interface Run {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly stdin: PassThrough;
  readonly argv: readonly string[];
  readonly listeners: [name: string, listener: Listener][];
  readonly exit: (code: number) => void;
  isSignaled: boolean;
  isOver: boolean;
}

const runs = new AsyncLocalStorage<Run>();
/** What runs in the background adds to the environment. */
const background = new Map<Run, Record<string, string>>();
/** The environment before the first of them. */
let foreground: NodeJS.ProcessEnv = {};
/** What is left to do at the exit of a process, once nobody needs what it removes. */
const atExit: Listener[] = [];

// One at a time: they share the environment and the folder.
let before: Promise<unknown> = Promise.resolve();

/** Runs one command line as if `program` were started with `environment`, and waits for its end. */
export function runInside(
  program: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  options: RunOptions,
): Promise<Ended> {
  const turn = before.then(() => runAlone(program, words, environment, options));
  before = turn.catch(() => undefined);
  return turn;
}

async function runAlone(
  program: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  { input = "", env = {}, cwd }: RunOptions,
): Promise<Ended> {
  // In its place: what is not JavaScript, such as the folder for temporary files, reads the same.
  const restore = setEnvironment({ ...environment, ...Object.assign({}, ...background.values()), ...env });
  const folder = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const { run, end } = begin(program, words);
    run.stdin.end(input);
    return await end;
  } finally {
    if (cwd !== undefined) process.chdir(folder);
    restore();
  }
}

/** Starts one command line, which runs until it ends or hears a signal. Its environment is that of the tests, and `env`. */
export function startInside(program: string, words: readonly string[], { env = {} }: RunOptions): Started {
  const { run, end } = begin(program, words);
  if (background.size === 0) foreground = { ...process.env };
  background.set(run, env);
  Object.assign(process.env, env);
  const kill = (signal: string) => {
    if (run.isOver) return;
    run.isSignaled = true;
    runs.run(run, () => call(run, signal));
  };
  const over = end.finally(() => {
    background.delete(run);
    if (background.size === 0) setEnvironment(foreground);
  });
  return {
    stdin: run.stdin,
    stderr: run.stderr,
    end: over,
    kill,
    stop() {
      // The second one does not wait.
      for (const signal of ["SIGTERM", "SIGTERM"]) kill(signal);
      return over;
    },
  };
}

function begin(program: string, words: readonly string[]): { run: Run; end: Promise<Ended> } {
  divideProcess();
  let leave: (code: number) => void = () => {};
  const left = new Promise<number>((resolve) => (leave = resolve));
  const run: Run = {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    stdin: new PassThrough(),
    argv: [process.execPath, program, ...words],
    listeners: [],
    exit: leave,
    isSignaled: false,
    isOver: false,
  };
  return { run, end: runs.run(run, () => ended(run, words, left)) };
}

async function ended(run: Run, words: readonly string[], left: Promise<number>): Promise<Ended> {
  const written = [buffer(run.stdout), buffer(run.stderr)] as const;
  try {
    const { run: main } = await import("../../src/cli/program.ts");
    const code = await Promise.race([main(words), left]);
    run.stdout.end();
    run.stderr.end();
    const [stdout, stderr] = await Promise.all(written);
    return { code, stdout: stdout.toString(), stderr: stderr.toString() };
  } finally {
    run.isOver = true;
    atExit.push(...run.listeners.flatMap(([name, listener]) => (name === "exit" ? [listener] : [])));
    // Temporary files have one handler for all runs: not while another one has some.
    if (background.size <= 1) for (const listener of atExit.splice(0)) listener(0);
  }
}

function call(run: Run, event: string): void {
  for (const [name, listener] of [...run.listeners]) if (name === event) listener(event);
}

let isDivided = false;

// Once and for good: a run that was told to stop may have timers that would end the process later.
function divideProcess(): void {
  if (isDivided) return;
  isDivided = true;
  const own = { ...pick(process) };
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  for (const name of ["stdout", "stderr", "stdin", "argv"] as const) {
    const descriptor = Object.getOwnPropertyDescriptor(process, name) ?? {};
    const real = () => (descriptor.get === undefined ? descriptor.value : descriptor.get.call(process));
    const get = () => {
      const run = runs.getStore();
      if (run === undefined) return real();
      return run.isOver && (name === "stdout" || name === "stderr") ? nowhere() : run[name];
    };
    Object.defineProperty(process, name, { get, configurable: true, enumerable: true });
  }
  const exit = ((code: number) => {
    const run = runs.getStore();
    if (run === undefined) return own.exit.call(process, code);
    // A timer that a process would not have lived to see.
    if (run.isOver) return;
    run.exit(code);
    if (run.isSignaled) return;
    throw new Error("process.exit() was called: what does so before its end is to be tested in a process of its own");
  }) as typeof process.exit;
  // For each file of tests, Vitest puts its own in its place, and between them the real one, which a late timer must not find.
  Object.defineProperty(process, "exit", {
    get: () => (runs.getStore() === undefined ? own.exit : exit),
    set: (next: typeof process.exit) => {
      own.exit = next;
    },
    configurable: true,
    enumerable: true,
  });
  const isDividedEvent = (name: unknown): name is string => /^(?:exit|SIGHUP|SIGINT|SIGTERM)$/.test(String(name));
  const add = (method: typeof process.on) =>
    ((name: string, listener: Listener) => {
      const run = runs.getStore();
      if (run === undefined || !isDividedEvent(name)) return method.call(process, name, listener);
      run.listeners.push([name, listener]);
      return process;
    }) as typeof process.on;
  process.on = add(own.on);
  process.once = add(own.once);
  process.off = ((name: string, listener: Listener) => {
    const list = runs.getStore()?.listeners ?? [];
    const at = list.findIndex(([otherName, other]) => otherName === name && other === listener);
    if (at >= 0) list.splice(at, 1);
    return own.off.call(process, name, listener);
  }) as typeof process.off;
}

function pick({ exit, on, once, off }: NodeJS.Process) {
  return { exit, on, once, off };
}

function setEnvironment(environment: NodeJS.ProcessEnv): () => void {
  const own = { ...process.env };
  const become = (next: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(process.env)) if (next[name] === undefined) delete process.env[name];
    Object.assign(process.env, next);
  };
  become(environment);
  return () => become(own);
}
