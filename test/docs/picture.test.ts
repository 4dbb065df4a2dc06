// The picture of the README and the front page shows what the program shows today.
// Needs processes.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./pages.ts";

const hasTerminals = spawnSync("script", ["--version"]).status === 0;

test.skipIf(!hasTerminals)("npm run picture would draw the same", async () => {
  // By a path that is not known to the compiler: it has no types.
  const { drawing, terminalLines } = await import(path.join(root, "scripts/picture.mjs"));
  expect(drawing(await terminalLines())).toBe(readFileSync(path.join(root, "docs/public/terminal.svg"), "utf8"));
});
