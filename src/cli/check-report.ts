// The end of a check: what could not be read, as for every command, and whether findings make it fail. Findings decide
// the exit code first; standard error reports both.
import { type CheckResult, failedInWords } from "../check/result.ts";
import { severities } from "../check/rule.ts";
import type { CrawlEvent } from "../model/event.ts";
import type { FailLevel } from "./check-formats.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Messages } from "./messages.ts";
import { Report } from "./report.ts";
import type { RunReport } from "./run.ts";

export class CheckReport implements RunReport {
  readonly #report = new Report();
  readonly #failOn: FailLevel;
  // What failed, in words.
  #failing: string | undefined;
  #isLate = false;

  constructor(failOn: FailLevel) {
    this.#failOn = failOn;
  }

  see(event: CrawlEvent): void {
    this.#report.see(event);
  }

  finish(result: Pick<CheckResult, "counts" | "places" | "complete">): void {
    this.#isLate = !result.complete && this.#report.isComplete;
    const level = this.#failOn;
    if (level === "never") return;
    const fails = severities.slice(0, severities.indexOf(level) + 1);
    if (fails.some((severity) => result.counts[severity] > 0)) this.#failing = failedInWords(result, fails);
  }

  get isComplete(): boolean {
    return this.#report.isComplete && !this.#isLate;
  }

  get readNothing(): boolean {
    return this.#report.readNothing;
  }

  // The findings about a website without sitemaps are worth keeping.
  readonly tellsFailures = true;

  get exitCode(): number {
    const { exitCode } = this.#report;
    if (this.#failing !== undefined && exitCode !== exitCodes.unreachable) return exitCodes.findings;
    return this.#isLate && exitCode === exitCodes.complete ? exitCodes.incomplete : exitCode;
  }

  print(messages: Messages, listed: number, notes: readonly string[]): void {
    this.#report.print(messages, listed, notes);
    if (this.#isLate) messages.say("not complete: checking ended at --max-time", "warning");
    if (this.#failing !== undefined) messages.say(`${this.#failing}, at or above --fail-on ${this.#failOn}`, "bad");
  }
}
