// Waits for what other processes write: lines of a journal, by the events of its folder; websites on a queue, by the events of BullMQ.
import { mkdirSync, readFileSync, watch } from "node:fs";
import path from "node:path";
import { QueueEvents } from "bullmq";
import { redisPassword } from "./redis-server.ts";

/** Resolves when `count` lines of the file contain the text, or when the signal is aborted. */
export async function linesIn(file: string, text: string, count: number, signal?: AbortSignal): Promise<void> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  await new Promise<void>((resolve) => {
    const look = () => {
      if (signal?.aborted !== true && occurrences(file, text) < count) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(path.dirname(file), look);
    signal?.addEventListener("abort", look);
    look();
  });
}

export function occurrences(file: string, text: string): number {
  try {
    return readFileSync(file, "utf8").split(text).length - 1;
  } catch {
    return 0;
  }
}

/** Resolves when a condition holds for a run. Checks it whenever one of its websites begins, ends or is added. */
export async function onQueue(url: string, run: string, isSo: () => Promise<boolean>): Promise<void> {
  const { hostname: host, port, pathname } = new URL(url);
  const connection = { host, port: Number(port), db: Number(pathname.slice(1)), password: redisPassword };
  const events = new QueueEvents(`sitegrove.${run}`, { connection });
  events.on("error", () => undefined);
  await events.waitUntilReady();
  let wake = () => {};
  for (const name of ["added", "active", "completed", "failed"] as const) events.on(name, () => wake());
  try {
    while (!(await isSo()))
      await new Promise<void>((resolve) => {
        wake = resolve;
        // Changes since the last check may have no further event.
        void isSo().then((isTrue) => isTrue && resolve());
      });
  } finally {
    await events.close();
  }
}
