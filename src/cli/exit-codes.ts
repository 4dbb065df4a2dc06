// The exit codes of the program, for scripts. The lists of them in the help and in docs/command-line.md come from here.
import { systemReason } from "../model/errors.ts";

export const exitCodes = {
  complete: 0,
  unexpected: 1,
  usage: 2,
  incomplete: 3,
  notFound: 4,
  unreachable: 5,
  findings: 6,
  // As in shells, these are 128 plus the number of the signal.
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCodeName = keyof typeof exitCodes;
export type ExitCode = (typeof exitCodes)[ExitCodeName];

export const exitCodeTexts: Readonly<Record<ExitCodeName, string>> = {
  complete: "complete, or the pipe was closed early (| head)",
  unexpected: "unexpected failure: a full disk, or a bug",
  usage: "usage error: an unknown flag, an invalid value, a file that is missing or already exists",
  incomplete: "incomplete: robots.txt, or something that the website declares, could not be fully read",
  notFound: "no sitemap found, although the website responded; for parse: the file is not a sitemap",
  unreachable: "the website could not be reached, or refused all requests",
  findings: "the condition of --fail-on (check, diff), --exit-code (diff) or --fail-above (fleet) is met",
  hungUp: "stopped by SIGHUP: the terminal was closed (on Linux)",
  interrupted: "stopped by Ctrl-C",
  terminated: "stopped by SIGTERM",
};

const notForAllWebsites: ReadonlySet<ExitCodeName> = new Set(["findings", "hungUp", "terminated"]);
/** Exit codes that the help of `ls`, `check`, `diff`, `changes` and `report` lists. */
export const websiteExitCodes: readonly ExitCodeName[] = (Object.keys(exitCodes) as ExitCodeName[]).filter(
  (name) => !notForAllWebsites.has(name),
);

/** The part of a command's help that lists its exit codes. */
export function exitCodeHelp(
  names: readonly ExitCodeName[],
  texts: Partial<Record<ExitCodeName, string>> = {},
): string {
  const sorted = [...names].sort((a, b) => exitCodes[a] - exitCodes[b]);
  const lines = sorted.map((name) => `  ${String(exitCodes[name]).padEnd(5)}${texts[name] ?? exitCodeTexts[name]}`);
  return `\nExit codes:\n${lines.join("\n")}\n`;
}

/** A mistake on the command line: one line for the person who typed it, and exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Turns an error, such as that of a missing file, into a `UsageError` that begins with `what`, unless it is a `UsageError` already. */
export function orUsageError<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${what}: ${systemReason(error)}`);
  }
}

export type StopSignal = "SIGHUP" | "SIGINT" | "SIGTERM";

/** The user, or the system, asked the program to stop. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly exitCode: ExitCode;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    const { hungUp, interrupted, terminated } = exitCodes;
    this.exitCode = { SIGHUP: hungUp, SIGINT: interrupted, SIGTERM: terminated }[signal];
  }
}
