// The page about very many websites shows what its simulation prints.
// Needs processes.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const script = path.join(root, "scripts/simulate-fleet.mjs");
const run = (...flags: string[]) => spawnSync(process.execPath, [script, ...flags], { encoding: "utf8" }).stdout;

test("the table of docs/at-scale.md is what the simulation prints", () => {
  const page = readFileSync(path.join(root, "docs/at-scale.md"), "utf8");
  expect(/<!-- simulation -->\n\n([\s\S]*?)\n<!-- end -->/.exec(page)?.[1]).toBe(run());
});

test("it can be run with other figures, and more of anything takes less time", () => {
  const minutes = (text: string) => {
    const [, number, unit] = /\| ([\d.]+) (min|h) \|/.exec(text) ?? [];
    return Number(number) * (unit === "h" ? 60 : 1);
  };
  const one = minutes(run("--sites", "20000"));
  expect(one).toBeGreaterThan(5);
  expect(minutes(run("--sites", "20000", "--machines", "4"))).toBeLessThan(one / 2);
  expect(minutes(run("--sites", "20000", "--concurrency", "32"))).toBeGreaterThan(one * 2);
  expect(minutes(run("--sites", "20000", "--cpu", "300"))).toBeGreaterThan(one * 3);
});
