// The end of a check: what could not be read, as for every command, and whether findings make it fail. Findings decide
// the exit code first; standard error reports both.
import type { CheckResult } from "../check/result.ts";
import { severities } from "../check/rule.ts";
import type { CrawlEvent } from "../model/event.ts";
import { counted } from "../model/figures.ts";
import type { FailLevel } from "./check-formats.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Messages } from "./messages.ts";
import { Report } from "./report.ts";
import type { RunReport } from "./run.ts";

export class CheckReport implements RunReport {
  readonly #report = new Report();
  readonly #failOn: FailLevel;
  #failing = 0;
  #isLate = false;

  constructor(failOn: FailLevel) {
    this.#failOn = failOn;
  }

  see(event: CrawlEvent): void {
    this.#report.see(event);
  }

  finish({ findings, complete }: Pick<CheckResult, "findings" | "complete">): void {
    this.#isLate = !complete && this.#report.isComplete;
    const level = this.#failOn;
    if (level === "never") return;
    const fails = severities.slice(0, severities.indexOf(level) + 1);
    this.#failing = findings.filter(({ severity }) => fails.includes(severity)).length;
  }

  get isComplete(): boolean {
    return this.#report.isComplete && !this.#isLate;
  }

  // The findings about a website without sitemaps are worth keeping.
  get readNothing(): boolean {
    return false;
  }

  get exitCode(): number {
    const { exitCode } = this.#report;
    if (this.#failing > 0 && exitCode !== exitCodes.unreachable) return exitCodes.findings;
    return this.#isLate && exitCode === exitCodes.complete ? exitCodes.incomplete : exitCode;
  }

  print(messages: Messages, listed: number, notes: readonly string[]): void {
    this.#report.print(messages, listed, notes);
    if (this.#isLate) messages.say("not complete: checking ended at --max-time", "warning");
    if (this.#failing > 0)
      messages.say(`${counted(this.#failing, "finding")} at or above --fail-on ${this.#failOn}`, "bad");
  }
}
