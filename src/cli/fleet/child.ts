// A process of `sitegrove fleet --processes N`: reads the websites that its parent sends. It ends when its parent says
// so or has died.
import { type FromParent, ParentQueue, type ToParent } from "../../fleet/processes.ts";
import { runFleet } from "../../fleet/run-fleet.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { crawlOf } from "./crawl.ts";
import { sinkFor } from "./outputs.ts";
import type { ChildSetup } from "./processes.ts";
import { outputsOf } from "./sink-options.ts";

/** Returns the exit code. */
export async function fleetChild(): Promise<number> {
  if (!process.connected) throw new UsageError("this command is for sitegrove fleet --processes");
  const drain = new AbortController();
  const stop = new AbortController();
  const queue = new ParentQueue(send);
  // Ctrl-C reaches all processes of a terminal, and stopping a service signals all of its processes: the parent decides
  // what it means.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => undefined);
  // The parent has died: another process may use the folder by now.
  process.once("disconnect", () => process.exit());
  const { flags, out, concurrency, perAddress } = await new Promise<ChildSetup>((resolve) => {
    process.on("message", (message: FromParent | ChildSetup) => {
      if (message.type === "setup") resolve(message);
      else if (message.type === "drain") drain.abort(new Error("Nothing further is to be begun"));
      else if (message.type === "stop") stop.abort(new Error("Stopped"));
      else queue.receive(message);
    });
  });
  try {
    await runFleet({
      queue,
      sink: await sinkFor(flags.out ?? out, await outputsOf(flags), { folder: out }),
      concurrency,
      perAddress,
      crawl: crawlOf(flags),
      drain: drain.signal,
      signal: stop.signal,
      onEvent: (event) => send({ type: "event", event }),
    });
    send({ type: "finished" });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    send(stop.signal.aborted ? { type: "finished" } : { type: "failed", message, code });
  }
  process.removeAllListeners("disconnect");
  process.disconnect();
  return exitCodes.complete;
}

function send(message: ToParent): void {
  if (process.connected) process.send?.(message, () => undefined);
}
