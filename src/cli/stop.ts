// Ctrl-C and its like. The first asks the run to end, which closes what was written; whatever still holds it up after that is
// left behind, so that the program is gone within half a second. The second does not wait.
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
      setTimeout(leave, patience).unref();
    });
  }
  return controller.signal;
}

// In milliseconds.
const patience = 400;
