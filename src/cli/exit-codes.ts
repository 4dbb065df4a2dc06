// How the program ends, for those who call it from a script. The header of main.ts and the help say the same in words.

export const exitCodes = {
  complete: 0,
  unexpected: 1,
  usage: 2,
  incomplete: 3,
  notFound: 4,
  // 128 and the number of the signal, as shells have it.
  interrupted: 130,
  terminated: 143,
} as const;

/** What was typed cannot be done: one line for the person who typed it, and exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The person, or the system, asked the program to stop. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(`stopped by ${signal}`);
    this.exitCode = signal === "SIGINT" ? exitCodes.interrupted : exitCodes.terminated;
  }
}
