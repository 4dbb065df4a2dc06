// Runs the program, usually inside the process of the tests. Tests about processes start it the way a person or a script would.
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { runInside, startInside } from "./inside.ts";

// Tests decide about colors, not the machine they run on.
const { SITEGROVE_PROGRAM, SITEGROVE_PROCESSES, NO_COLOR: _, FORCE_COLOR: __, ...environment } = process.env;

/** The built program; another build can be named by the environment. */
export const program: string = SITEGROVE_PROGRAM ?? path.join(import.meta.dirname, "../../dist/cli/main.js");

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Flags for Node.js itself. */
  readonly node?: readonly string[];
  /** Both outputs are a terminal; what it shows is in `stdout`. */
  readonly terminal?: { readonly columns: number; readonly onOutput?: (all: string) => void };
}

/**
 * Runs a command line, given as words or as a line of words without spaces, and waits for its end. If SITEGROVE_PROCESSES or
 * SITEGROVE_PROGRAM is set, it always runs as a process.
 */
export function sitegrove(line: readonly string[] | string, options: RunOptions = {}): Promise<Ended> {
  const words = typeof line === "string" ? line.split(" ") : line;
  // Node.js reads its own variables when it starts.
  const isOfNode = Object.keys(options.env ?? {}).some((name) => name.startsWith("NODE_"));
  const needsProcess =
    options.node !== undefined || isOfNode || SITEGROVE_PROGRAM !== undefined || SITEGROVE_PROCESSES !== undefined;
  return needsProcess ? sitegroveProcess(words, options) : runInside(words, environment, options);
}

/** A run that was started. */
export interface Started {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly end: Promise<Ended>;
  kill(signal: "SIGHUP" | "SIGINT" | "SIGTERM"): void;
  /** Ends the run, whatever it waits for. */
  stop(): Promise<unknown>;
}

/** Starts a command line without waiting for its end. Inside the tests, it gets signals like a process. */
export function launch(words: readonly string[], options: Pick<RunOptions, "env"> = {}): Started {
  if (SITEGROVE_PROGRAM === undefined && SITEGROVE_PROCESSES === undefined) return startInside(words, options);
  const child = start(words, options);
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("A process without streams");
  const end = ended(child);
  const stop = () => {
    child.kill("SIGKILL");
    return end;
  };
  return { stdin, stdout, stderr, end, stop, kill: (signal) => void child.kill(signal) };
}

/** Parses lines of JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was printed.
export function jsonLines(text: string): any[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Runs it as a process and waits for its end. */
export function sitegroveProcess(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = start(words, options);
  child.stdin?.end(options.input ?? "");
  return ended(child);
}

export function start(words: readonly string[], { env = {}, cwd, node = [] }: RunOptions = {}): ChildProcess {
  return spawn(process.execPath, [...node, program, ...words], {
    env: { ...environment, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

export function ended(child: ChildProcess): Promise<Ended> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      resolve({
        code: code ?? signal ?? "",
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      }),
    );
  });
}

/** Runs a line of shell in which `$SITEGROVE` is the program. */
export function shell(line: string, env: Record<string, string> = {}): Promise<Ended> {
  const quoted = [process.execPath, program].map((word) => `'${word}'`).join(" ");
  const child = spawn("bash", ["-c", line], { env: { ...environment, ...env, SITEGROVE: quoted } });
  child.stdin.end();
  return ended(child);
}

/** Runs it in a terminal of 100 columns, and returns what it shows, with escape sequences. */
export function onTerminal(
  line: string,
  { env = {}, columns = 100, onOutput }: { env?: object; columns?: number; onOutput?: (all: string) => void } = {},
): Promise<Ended> {
  if (SITEGROVE_PROGRAM !== undefined || SITEGROVE_PROCESSES !== undefined)
    return terminal(`stty cols ${columns}; $SITEGROVE ${line}`, { ...env }, onOutput);
  const look = { columns, ...(onOutput && { onOutput }) };
  return sitegrove(line, { env: { TERM: "xterm", ...env }, terminal: look });
}

/** Runs a line of shell in a terminal of 100 columns, and returns what it prints, with escape sequences. */
export async function terminal(
  line: string,
  env: Record<string, string> = {},
  onOutput: (all: string) => void = () => {},
): Promise<Ended> {
  const quoted = [process.execPath, program].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", `stty cols 100; ${line.replaceAll("$SITEGROVE", quoted)}`, "/dev/null"], {
    env: { ...environment, TERM: "xterm", ...env },
  });
  let all = "";
  child.stdout.on("data", (chunk: Buffer) => onOutput((all += chunk.toString())));
  child.stdin.end();
  return ended(child);
}
