// Closes servers, so that no test has to remember it.
import { afterAll, onTestFinished, TestRunner } from "vitest";

/** Runs `close` when the current test ends; for what a file starts before its tests, after the last of them. A hook has to do that itself. */
export function atEnd(close: () => unknown): void {
  const run = async () => void (await close());
  if (TestRunner.getCurrentTest() === undefined) afterAll(run);
  else onTestFinished(run);
}
