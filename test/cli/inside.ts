// Runs the program inside of the process of the tests: its own streams, environment and folder, the exit handlers at its end. A process of
// its own takes a hundred times as long to start as most command lines take to run. What only a process has (signals, descriptors,
// a terminal, memory, flags of Node.js) is not here.

import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Ended, RunOptions } from "./program.ts";

// One at a time: they share what belongs to the process.
let before: Promise<unknown> = Promise.resolve();

/** Runs one command line as if `program` were started with `environment`. */
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
  const { run } = await import("../../src/cli/program.ts");
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = [buffer(stdout), buffer(stderr)] as const;
  let leave: (code: number) => void = () => {};
  const left = new Promise<number>((resolve) => (leave = resolve));
  const restored = [
    replaced("stdout", stdout),
    replaced("stderr", stderr),
    replaced("stdin", Readable.from(input.length === 0 ? [] : [Buffer.from(input)], { objectMode: false })),
    replaced("argv", [process.execPath, program, ...words]),
    // In its place: what is not JavaScript, such as the folder for temporary files, reads the same.
    setEnvironment({ ...environment, ...env }),
    replaced("exit", (code: number) => {
      leave(code);
      throw new Error("process.exit() was called; what does so is to be tested in a process of its own");
    }),
  ];
  const folder = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  const heard = listeners();
  try {
    const code = await Promise.race([run(words), left]);
    stdout.end();
    stderr.end();
    const [out, error] = await Promise.all(written);
    return { code, stdout: out.toString(), stderr: error.toString() };
  } finally {
    // As at the end of a process.
    for (const [name, each] of listeners()) {
      if (heard.some(([otherName, other]) => otherName === name && other === each)) continue;
      process.off(name, each);
      if (name === "exit") each(0);
    }
    if (cwd !== undefined) process.chdir(folder);
    for (const restore of restored) restore();
  }
}

function replaced(name: "stdout" | "stderr" | "stdin" | "argv" | "exit", value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(process, name) ?? {};
  Object.defineProperty(process, name, { value, configurable: true, writable: true });
  return () => Object.defineProperty(process, name, own);
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

type Listener = (...words: unknown[]) => void;

function listeners(): (readonly [string, Listener])[] {
  return ["exit", "SIGINT", "SIGTERM"].flatMap((name) =>
    process.listeners(name as "exit").map((each) => [name, each as Listener] as const),
  );
}
