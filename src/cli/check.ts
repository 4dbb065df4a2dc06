// `sitegrove check`: builds the tree of what was named, checks it, and writes the findings.
import { buffer } from "node:stream/consumers";
import type { CheckOptions, RuleSeverities } from "../check/options.ts";
import type { CheckResult } from "../check/result.ts";
import { counted } from "../figures.ts";
import { type Options, resolveOptions } from "../options.ts";
import { readBaseline, withoutKnown, writeBaseline } from "./check-baseline.ts";
import { readCheckConfig } from "./check-config.ts";
import type { CheckFormat, FailLevel } from "./check-formats.ts";
import { CheckReport } from "./check-report.ts";
import { type CheckTarget, chooseCheckTarget, type LocalFlags } from "./check-target.ts";
import { type CrawlFlags, crawlOptions, givenFlags } from "./crawl-flags.ts";
import { UsageError } from "./exit-codes.ts";
import { Run, type RunFlags } from "./run.ts";
import { treeOf } from "./target-tree.ts";

export interface CheckFlags extends CrawlFlags, RunFlags, LocalFlags {
  readonly format: CheckFormat;
  readonly all?: true | undefined;
  readonly failOn?: FailLevel | undefined;
  readonly config?: string | undefined;
  readonly baseline?: string | undefined;
  readonly updateBaseline?: true | undefined;
  readonly off?: readonly string[] | undefined;
  readonly now?: string | undefined;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function check(name: string, flags: CheckFlags): Promise<number> {
  const crawl = crawlOptions(flags);
  resolveOptions(crawl);
  const chosen = await chooseCheckTarget(name, flags, () => buffer(process.stdin));
  const [online] = chosen.isLocal ? givenFlags(flags, ["limits"]) : [];
  if (online !== undefined) throw new UsageError(`${online} has no effect on local files`);
  const { resolveCheckOptions } = await import("../check/options.ts");
  const rules = (flags.off ?? []).flatMap((list) => list.split(",")).map((rule) => [rule.trim(), "off"] as const);
  const config = readCheckConfig(flags.config);
  if (flags.updateBaseline && flags.baseline === undefined)
    throw new UsageError("--update-baseline needs --baseline FILE");
  const baseline = flags.baseline === undefined ? undefined : readBaseline(flags.baseline);
  if (flags.baseline !== undefined && baseline === undefined && !flags.updateBaseline) {
    throw new UsageError(`${flags.baseline} does not exist; --update-baseline writes it`);
  }
  const options: CheckOptions = {
    ...config.options,
    rules: [(config.options.rules ?? {}) as RuleSeverities, Object.fromEntries(rules)],
    now: flags.now,
    location: chosen.hasLocation,
  };
  resolveCheckOptions(options);
  const report = new CheckReport(flags.failOn ?? config.failOn ?? "error");
  const run = new Run(flags, () => report);
  if (chosen.target.kind === "website" && chosen.target.isAssumed) {
    run.messages.say(`no scheme given, using ${chosen.target.homepage}`, "quiet");
  }
  if (flags.insecure) run.messages.say("--insecure: certificates are NOT checked, anybody may answer", "bad");
  let result: CheckResult | undefined;
  const pieces = findings(chosen, { ...crawl, ...chosen.options }, options, flags, run, (found) => {
    result = found;
    report.finish(found);
  });
  return run.write(pieces, () => ({ listed: result?.pageCount ?? 0, notes: [] }));
}

async function* findings(
  { target }: CheckTarget,
  crawl: Options,
  options: CheckOptions,
  flags: CheckFlags,
  run: Run,
  finish: (result: CheckResult) => void,
): AsyncGenerator<string, void, undefined> {
  const { checkTree } = await import("../check/check-tree.ts");
  const { writeCheck } = await import("./check-output.ts");
  const tree = await treeOf(target, { ...crawl, signal: run.signal, onEvent: (event) => run.see(event) });
  try {
    run.crawled();
    const whole = await checkTree(tree, { ...options, signal: run.signal });
    if (flags.updateBaseline && flags.baseline !== undefined) writeBaseline(flags.baseline, whole);
    const known = flags.baseline === undefined ? undefined : readBaseline(flags.baseline);
    const compared = known === undefined ? undefined : withoutKnown(whole, known);
    const result = compared?.result ?? whole;
    if (compared !== undefined && compared.known > 0) {
      run.messages.say(`${counted(compared.known, "finding")} known from ${flags.baseline}`, "quiet");
    }
    if (compared !== undefined && compared.gone > 0) {
      run.messages.say(
        `${counted(compared.gone, "finding")} fewer than in ${flags.baseline}; --update-baseline lowers it`,
        "quiet",
      );
    }
    finish(result);
    yield writeCheck(result, { format: flags.format, all: flags.all ?? false, color: run.isShown && run.hasColor });
  } finally {
    await tree.close();
  }
}
