// Prints what `npm test` shows: a dot for each file, failures in full, the counts, what the machine lacks, and a line for each failed test.
import { DotReporter, type SerializedError, type TestCase, type TestModule, type TestRunEndReason } from "vitest/node";
import { missing } from "./installed.ts";

export class SummaryReporter extends DotReporter {
  constructor() {
    // The output is the same on a terminal and in a file: no line is overwritten.
    super({ isTTY: false });
  }

  override onTestCaseResult(): void {}

  override onTestModuleEnd(testModule: TestModule): void {
    const mark = { passed: ".", failed: "F", skipped: "-", queued: "", pending: "" }[testModule.state()];
    this.ctx.logger.outputStream.write(mark);
  }

  override onTestRunEnd(
    testModules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(testModules, unhandledErrors, reason);
    const tests = testModules.flatMap(({ children }) => [...children.allTests()]);
    const lacking = missing();
    if (lacking.length > 0) this.log(`Some tests were skipped because this machine lacks: ${lacking.join("; ")}`);
    for (const line of failed(tests)) this.log(line);
  }
}

/** One line for each failed test: its file and line, its name, and the first line of the error. */
export function failed(tests: readonly TestCase[]): string[] {
  return tests.flatMap((each) => {
    const { state, errors } = each.result();
    if (state !== "failed") return [];
    const [error] = errors ?? [];
    const file = each.module.relativeModuleId;
    const place = error?.stacks?.find((frame) => frame.file.endsWith(file)) ?? each.location;
    const why = (error?.message ?? "").split("\n")[0] ?? "";
    return `${file}${place === undefined ? "" : `:${place.line}`} ${each.fullName}: ${why.slice(0, 200)}`;
  });
}
