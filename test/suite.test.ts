// Tests of the suite itself: what it prints, where it writes, and how long a test may take.
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { TestCase } from "vitest/node";
import { failed } from "./support/summary-reporter.ts";

test("the summary has a line for each failed test, with its file and line, name and reason", () => {
  const file = "test/a.test.ts";
  const errors = [{ message: "expected 1 to be 2\n- 2\n+ 1", stacks: [{ file: `/clone/${file}`, line: 7 }] }];
  const made = (fullName: string, result: object) =>
    ({ fullName, module: { relativeModuleId: file }, result: () => result }) as unknown as TestCase;
  const tests = [made("a sum", { state: "failed", errors }), made("another", { state: "passed" })];
  expect(failed(tests)).toEqual(["test/a.test.ts:7 a sum: expected 1 to be 2"]);
});

test.skipIf(process.platform === "win32")("temporary files are in a folder that belongs to this run", () => {
  expect(path.basename(tmpdir())).toMatch(/^sitegrove-tests-/);
});

test("no test has a time limit that a busy machine would exceed", () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
  const short = files.filter((name) => {
    if (!name.endsWith(".test.ts")) return false;
    const text = readFileSync(path.join(import.meta.dirname, name), "utf8");
    const limits = text.matchAll(/\{\s*timeout: ([\d_]+)[^{}]*\},?\s*(?:async )?\(/g);
    const isLast = /\},\s+\d+_000\b[^\n]*\s*\);$/m.test(text);
    return isLast || [...limits].some(([, limit = ""]) => Number(limit.replaceAll("_", "")) < 180_000);
  });
  expect(short).toEqual([]);
});
