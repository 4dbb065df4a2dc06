// The end of a diff: what could not be read on which side, and whether there are differences.
import type { DiffTotals, TreeChange } from "../model/change.ts";
import type { CrawlEvent } from "../model/event.ts";
import { counted } from "../model/figures.ts";
import { isLossy, type Problem } from "../model/problem.ts";
import type { SideTarget } from "./diff-side.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Messages } from "./messages.ts";
import { Report } from "./report.ts";
import type { RunReport } from "./run.ts";

/** One side, while it is read. */
export class SideReport {
  readonly target: SideTarget;
  readonly report: Report = new Report();
  readonly #problems: Problem[] = [];
  /** For a website or an archive. */
  homepage: string | undefined;

  constructor(target: SideTarget) {
    this.target = target;
  }

  see(event: CrawlEvent): void {
    if (event.type === "start" && event.depth === 0) this.homepage = event.url;
    this.report.see(event);
  }

  readonly seeProblems = (problems: readonly Problem[]): void => {
    this.#problems.push(...problems.filter(({ code }) => isLossy(code) || code === "empty"));
  };

  print(messages: Messages, side: string, pages: number): void {
    const { name } = this.target;
    for (const { message } of this.#problems) messages.say(`${name}: ${message}`, "warning");
    // The rest is in the summary.
    if (this.homepage === undefined || this.report.exitCode === exitCodes.complete) return;
    messages.say(`${side}: ${name}`, "quiet");
    this.report.print(messages, pages, []);
  }
}

export class DiffReport implements RunReport {
  readonly #sides: Record<"before" | "after", SideReport>;
  readonly #usesExitCode: boolean;
  #differences = 0;
  #totals: DiffTotals | undefined;
  /** How many changes were reported. */
  told = 0;

  constructor([before, after]: readonly [SideTarget, SideTarget], usesExitCode: boolean) {
    this.#sides = { before: new SideReport(before), after: new SideReport(after) };
    this.#usesExitCode = usesExitCode;
  }

  side(name: "before" | "after"): SideReport {
    return this.#sides[name];
  }

  count(changes: readonly TreeChange[]): void {
    this.told += changes.length;
    for (const change of changes) if (isDifference(change)) this.#differences += 1;
  }

  finish(totals: DiffTotals): void {
    this.#totals = totals;
  }

  // Each side has its own.
  see(): void {}

  get isComplete(): boolean {
    const { before, after } = this.#totals ?? {};
    return before?.complete === true && after?.complete === true;
  }

  /** Whether one of the sides is a website of which nothing could be read: then there is nothing to compare. */
  get readNothing(): boolean {
    return Object.values(this.#sides).some(({ report }) => report.readNothing);
  }

  get exitCode(): number {
    const failed = Object.values(this.#sides).map(({ report }) => report.exitCode);
    const worst = Math.max(...failed.filter((code) => code > exitCodes.incomplete), exitCodes.complete);
    if (worst !== exitCodes.complete) return worst;
    if (this.#usesExitCode && this.#differences > 0) return exitCodes.findings;
    return this.isComplete ? exitCodes.complete : exitCodes.incomplete;
  }

  print(messages: Messages): void {
    const totals = this.#totals;
    if (totals === undefined) return;
    this.#sides.before.print(messages, "before", totals.before.pages);
    this.#sides.after.print(messages, "after", totals.after.pages);
    if (totals.unknown > 0) {
      const pages = counted(totals.unknown, "page");
      const verb = totals.unknown === 1 ? "is" : "are";
      messages.say(`${pages} ${verb} unknown: missing on a side that is not complete`, "warning");
    } else if (!this.isComplete) {
      messages.say("one side is not complete", "warning");
    }
    if (this.#usesExitCode && this.#differences > 0) messages.say(counted(this.#differences, "difference"), "warning");
  }
}

// An unknown page does not count as a difference.
function isDifference(change: TreeChange): boolean {
  return change.kind === "sitemap" ? change.change !== "unknown" : change.kind !== "unknown";
}
