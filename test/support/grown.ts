// Waits until a file has so many lines of a kind, by the events of its folder.
import { mkdirSync, readFileSync, watch } from "node:fs";
import path from "node:path";

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
