// `sitegrove report`: builds the tree of the target, and writes the page about it.
import type { CheckOptions, RuleSeverities } from "../check/options.ts";
import { failedInWords } from "../check/result.ts";
import { timeLeft } from "../crawl/time-budget.ts";
import { counted } from "../model/figures.ts";
import type { Options } from "../model/options.ts";
import type { ReportFacts } from "../report/facts.ts";
import type { ReportOptions } from "../report/report.ts";
import { jsonOf } from "../write/printable.ts";
import { readCheckConfig } from "./check-config.ts";
import { CheckReport } from "./check-report.ts";
import { type CrawlFlags, crawlOptions } from "./crawl-flags.ts";
import { UsageError } from "./exit-codes.ts";
import type { Run, RunFlags } from "./run.ts";
import { chooseTarget, type Target } from "./target.ts";
import { begin } from "./target-run.ts";
import { treeOf } from "./target-tree.ts";

export interface ReportFlags extends CrawlFlags, RunFlags {
  readonly previous?: string | undefined;
  readonly sitemap?: readonly string[] | undefined;
  readonly json?: true | undefined;
  readonly config?: string | undefined;
  readonly off?: readonly string[] | undefined;
  readonly now?: string | undefined;
  readonly save?: string | undefined;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function report(name: string | undefined, flags: ReportFlags): Promise<number> {
  const crawl = crawlOptions(flags);
  const target = chooseTarget(name, flags.sitemap);
  checkTogether(flags);
  const { check, note } = checkOptions(flags);
  const { resolveCheckOptions } = await import("../check/options.ts");
  resolveCheckOptions(check);
  // A page about a website that failed altogether is useful, too.
  const end = new CheckReport("never");
  const { run, save } = await begin({
    targets: [target],
    flags,
    crawl,
    inputs: [flags.previous, flags.config],
    offline: ["limits", "previous"],
    report: () => end,
  });
  if (note !== undefined) run.messages.say(note, "quiet");
  let facts: ReportFacts | undefined;
  const pieces = page(target, { ...crawl, save }, { check, previous: flags.previous }, flags, run, (made) => {
    facts = made;
    end.finish(made);
  });
  const code = await run.write(pieces, () => ({ listed: facts?.figures.pages ?? 0, isWhole: true, notes: [] }));
  if (facts !== undefined && flags.output !== undefined) {
    run.messages.say(`${flags.output}: ${counted(facts.figures.pages, "page")}, ${failedInWords(facts)}`, "quiet");
  }
  return code;
}

async function* page(
  target: Target,
  crawl: Options,
  options: ReportOptions,
  flags: ReportFlags,
  run: Run,
  finish: (facts: ReportFacts) => void,
): AsyncGenerator<string, void, undefined> {
  const { reportFacts } = await import("../report/report.ts");
  const { pageOf } = await import("../report/page/report-page.ts");
  const { signal } = run;
  const { recognized } = await import("./sitemap-target.ts");
  const doing = { verb: "reporting on", command: "sitegrove report" };
  const startedAt = performance.now();
  const named = await recognized(target, { ...crawl, signal }, run.messages, doing);
  const tree = await treeOf(named, { ...crawl, signal, onEvent: (event) => run.see(event) });
  try {
    run.crawled();
    const time = timeLeft(crawl.limits?.time ?? Number.POSITIVE_INFINITY, startedAt);
    const facts = await reportFacts(tree, { ...options, check: { ...options.check, time }, signal });
    finish(facts);
    yield flags.json ? `${jsonOf(facts, 2)}\n` : pageOf(facts);
  } finally {
    await tree.close();
  }
}

function checkOptions(flags: ReportFlags): { readonly check: CheckOptions; readonly note: string | undefined } {
  const off = (flags.off ?? []).flatMap((list) => list.split(",")).map((rule) => [rule.trim(), "off"] as const);
  const { options, note } = readCheckConfig(flags.config);
  const rules = [(options.rules ?? {}) as RuleSeverities, Object.fromEntries(off)];
  return { check: { ...options, rules, now: flags.now }, note };
}

// Flags without an effect are refused.
function checkTogether(flags: ReportFlags): void {
  if (flags.output === undefined && process.stdout.isTTY) {
    throw new UsageError("say where to write the page: -o report.html");
  }
  if (flags.force && flags.output === undefined && flags.save === undefined) {
    throw new UsageError("--force needs --output or --save");
  }
}
