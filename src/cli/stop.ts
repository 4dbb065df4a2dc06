// Ctrl-C and its like. The first asks the run to end, which closes what was written; whatever still holds it up after that is
// left behind, so that the program is gone within half a second. Only a reader that is still taking what was written is waited
// for, up to two seconds: its output shall be whole. The second does not wait.
import { Stopped } from "./exit-codes.ts";

/** Aborted with a `Stopped` when the program is asked to stop. `beforeExit` runs where the run does not end by itself. */
export function stopSignal(beforeExit: () => void): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      const stopped = new Stopped(name);
      const leave = () => {
        beforeExit();
        process.exit(stopped.exitCode);
      };
      if (controller.signal.aborted) leave();
      controller.abort(stopped);
      exitOnceFlushed(leave);
    });
  }
  return controller.signal;
}

function exitOnceFlushed(leave: () => void): void {
  const { stdout } = process;
  const begin = performance.now();
  // What the system has not taken yet; `written` moves while somebody reads.
  const written = () => ("bytesWritten" in stdout ? Number(stdout.bytesWritten) : 0) - stdout.writableLength;
  const look = (before: number) => {
    const now = written();
    if (now === before || performance.now() - begin > longestGrace) leave();
    else setTimeout(look, grace / 2, now).unref();
  };
  setTimeout(() => (stdout.writableLength === 0 ? leave() : look(Number.NaN)), grace).unref();
}

// In milliseconds.
const grace = 400;
const longestGrace = 2000;
