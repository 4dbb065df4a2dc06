// A string of a result must not keep alive the document it was cut from, whichever field it is in and whichever parser read it.
// Starts a process, which needs more than a second.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";

const program = path.join(import.meta.dirname, "../support/kept-strings.mjs");
// Uses the flags of this process, which optimizes later (vitest.config.ts).
const words = [...process.execArgv, "--expose-gc", program];
const measured = execFileSync(process.execPath, words, { encoding: "utf8" });

test.each(
  measured
    .trim()
    .split("\n")
    .map((line): { name: string; grown: number; documents: number } => JSON.parse(line)),
)("results do not keep the document in memory: $name", ({ grown, documents }) => {
  // The results may hold at most a tenth of the size of the documents.
  expect(grown).toBeLessThan(documents / 4);
});
