// How attempts at a website ended, as lines in the log of its job. An attempt without a line died.

/**
 * - `ended`: it ended, and gave the website back
 * - `outlived`: it lost its lease, but did not die
 * - `held`: it was not begun yet, because the website is to be read alone
 * - `alone`: it was begun, with nothing else running
 */
export type LogLine = "ended" | "outlived" | "held" | "alone";

const words: Readonly<Record<LogLine, string>> = {
  ended: "given back",
  outlived: "lost its lease, and lived on",
  held: "waits to be read alone",
  alone: "read alone",
};

export function logLine(attempt: number, line: LogLine, why?: string): string {
  return `attempt ${attempt}: ${words[line]}${why === undefined ? "" : `: ${why}`}`;
}

/** How many of the first attempts died. */
export function attemptsThatDied(attempts: number, lines: readonly string[]): number {
  const lived = new Set<number>();
  for (const line of lines) {
    const [, number = "", what = ""] = /^attempt (\d+): (.*)$/s.exec(line) ?? [];
    const attempt = Number(number);
    if (number === "" || attempt > attempts) continue;
    if (what.startsWith(words.alone)) lived.delete(attempt);
    else lived.add(attempt);
  }
  return attempts - lived.size;
}

/** Whether BullMQ refused because another worker has the job, or has finished it. */
export function isHeld(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "number" && code < 0;
}
