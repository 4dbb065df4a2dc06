// Handles Ctrl-C, SIGTERM and a terminal that is closed (SIGHUP). The first signal asks the run to end, which closes its files; if it does not end by
// itself, the program exits within half a second. Only a reader that is still reading the output is waited for, up to
// two seconds, so that its output is complete. The second signal does not wait.
import { readFileSync } from "node:fs";
import { Stopped } from "./exit-codes.ts";

/** Aborted with a `Stopped` when the program is asked to stop. `beforeExit` is called if the run does not end by itself. */
export function stopSignal(beforeExit: () => void): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", ...(hearsHangup() ? (["SIGHUP"] as const) : [])] as const) {
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

// Whoever ignores it before the program starts (nohup) means to go on. Node.js itself undoes that, up to 26, so that the signal ends the
// process with or without a handler; other engines may keep it. Where the system does not tell, nothing is changed.
function hearsHangup(): boolean {
  try {
    const [, ignored = ""] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    // The signal is the first one.
    return ignored !== "" && (Number.parseInt(ignored.slice(-1), 16) & 1) === 0;
  } catch {
    return false;
  }
}

function exitOnceFlushed(leave: () => void): void {
  const { stdout } = process;
  const begin = performance.now();
  // The output that the system has not taken yet; `written` changes while somebody reads.
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
