// Runs the program inside the process of the tests, with streams, signals and an exit of its own. Starting a process takes a hundred times as
// long as most command lines take to run. What only a process has (real signals, descriptors, a terminal, memory, flags of Node.js) is not here.
//
// Several may run at a time. The environment and the current folder cannot be divided: who waits for the end of a run has them alone, and a run
// in the background sees those of the moment.
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Context, discardUnfinished } from "../../src/cli/context.ts";
import { run } from "../../src/cli/program.ts";
import type { Ended, RunOptions, Started } from "./program.ts";

/** What the runs in the background have added to the environment. */
const background = new Map<Inside, Record<string, string>>();
/** The environment before the first background run. */
let foreground: NodeJS.ProcessEnv = {};

// Runs wait for each other, because they share the environment and the current folder.
let before: Promise<unknown> = Promise.resolve();

/** Runs one command line as if the program were started with `environment`, and waits for its end. */
export function runInside(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  options: RunOptions,
): Promise<Ended> {
  const turn = before.then(() => runAlone(words, environment, options));
  before = turn.catch(() => undefined);
  return turn;
}

async function runAlone(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  { input = "", env = {}, cwd, terminal }: RunOptions,
): Promise<Ended> {
  // Sets the variables of this process, because native code, such as the lookup of the temporary folder, reads them.
  const restore = setEnvironment({ ...environment, ...Object.assign({}, ...background.values()), ...env });
  const folder = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const { stdin, stderr, end } = begin(words, terminal?.columns);
    let shown = "";
    if (terminal?.onOutput) stderr.on("data", (chunk: Buffer) => terminal.onOutput?.((shown += chunk)));
    stdin.end(input);
    return await end;
  } finally {
    if (cwd !== undefined) process.chdir(folder);
    restore();
  }
}

/** Starts one command line, which runs until it ends or hears a signal. Its environment is that of the tests, and `env`. */
export function startInside(words: readonly string[], { env = {} }: RunOptions): Started {
  const inside = begin(words);
  const { stdin, stdout, stderr, signals } = inside;
  if (background.size === 0) foreground = { ...process.env };
  background.set(inside, env);
  Object.assign(process.env, env);
  const end = inside.end.finally(() => {
    background.delete(inside);
    if (background.size === 0) setEnvironment(foreground);
  });
  const kill = (signal: string) => void signals.emit(signal, signal);
  const stop = () => {
    // The last one does not wait.
    for (const signal of ["SIGTERM", "SIGTERM", "SIGTERM"]) kill(signal);
    return end;
  };
  return { stdin, stdout, stderr, end, kill, stop };
}

interface Inside {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly signals: EventEmitter;
  readonly end: Promise<Ended>;
}

// With `columns`, both outputs are the same terminal.
function begin(words: readonly string[], columns?: number): Inside {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const stderr = columns === undefined ? new PassThrough() : Object.assign(stdout, { isTTY: true, columns });
  const signals = new EventEmitter();
  let exit: (code: number) => void = () => {};
  const left = new Promise<number>((resolve) => (exit = resolve));
  const { env: environment } = process;
  const unfinished: Context["unfinished"] = new Set();
  const context = { stdin, stdout, stderr, environment, signals, exit, unfinished };
  return { stdin, stdout, stderr, signals, end: ended(words, context, left) };
}

async function ended(words: readonly string[], context: Context, left: Promise<number>): Promise<Ended> {
  const streams = [...new Set([context.stdout, context.stderr])];
  const written = streams.map((stream) => buffer(stream as PassThrough));
  const code = await Promise.race([run(words, context), left]);
  discardUnfinished(context);
  // A run that was stopped may still write, although a process would be gone.
  for (const stream of streams) stream.end().write = () => true;
  const [stdout, stderr = ""] = await Promise.all(written);
  return { code, stdout: String(stdout), stderr: String(stderr) };
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
