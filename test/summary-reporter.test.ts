// What the tests print about themselves, and where they write.
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import type { TestCase } from "vitest/node";
import { failed, triedAgain } from "./support/summary-reporter.ts";

const made = (fullName: string, flaky: boolean) =>
  ({ fullName, module: { relativeModuleId: "test/a.test.ts" }, diagnostic: () => ({ flaky }) }) as unknown as TestCase;

test("a test that passed only when it was tried again is named at the end", () => {
  expect(triedAgain([made("one", false), made("two", true)])).toEqual([
    "1 passed only when tried again, which is a defect of the test or of the code:",
    "  test/a.test.ts > two",
  ]);
  expect(triedAgain([made("one", false)])).toEqual([]);
});

test("a test that failed has a line at the end: where, which and why", () => {
  const file = "test/a.test.ts";
  const errors = [{ message: "expected 1 to be 2\n- 2\n+ 1", stacks: [{ file: `/clone/${file}`, line: 7 }] }];
  const test = { ...made("a sum", false), result: () => ({ state: "failed", errors }) } as unknown as TestCase;
  const passed = { ...made("another", false), result: () => ({ state: "passed" }) } as unknown as TestCase;
  expect(failed([test, passed])).toEqual(["test/a.test.ts:7 a sum: expected 1 to be 2"]);
});

test.skipIf(process.platform === "win32")("temporary files are in a folder of this run", () => {
  expect(path.basename(tmpdir())).toMatch(/^sitegrove-tests-/);
});
