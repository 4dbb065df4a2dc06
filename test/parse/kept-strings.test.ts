// A string that somebody keeps must not keep the document alive that it was cut from: whichever field of an entry it is, and whoever
// read it.
// Starts a process, which needs more than a second.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";

const program = path.join(import.meta.dirname, "../support/kept-strings.mjs");
// With the flags of this process, which optimizes later (vitest.config.ts).
const words = [...process.execArgv, "--expose-gc", program];
const measured = execFileSync(process.execPath, words, { encoding: "utf8" });

test.each(
  measured
    .trim()
    .split("\n")
    .map((line): { name: string; grown: number; documents: number } => JSON.parse(line)),
)("$name", ({ grown, documents }) => {
  // What is kept is a tenth of the documents, at most.
  expect(grown).toBeLessThan(documents / 4);
});
