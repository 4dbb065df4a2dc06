// `sitegrove check`: builds the tree of the target, checks it, and writes the findings.
import type { CheckOptions, RuleSeverities } from "../check/options.ts";
import type { CheckResult } from "../check/result.ts";
import { timeLeft } from "../crawl/time-budget.ts";
import { counted } from "../model/figures.ts";
import type { Options } from "../model/options.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { readBaseline, withoutKnown, writeBaseline } from "./check-baseline.ts";
import { readCheckConfig } from "./check-config.ts";
import type { CheckFormat, FailLevel } from "./check-formats.ts";
import type { ChosenOutput } from "./check-outputs.ts";
import { Places } from "./check-places.ts";
import { CheckReport } from "./check-report.ts";
import { type CheckTarget, chooseCheckTarget, type LocalFlags, withFileName } from "./check-target.ts";
import { type CrawlFlags, crawlOptions } from "./crawl-flags.ts";
import { UsageError } from "./exit-codes.ts";
import { OutputFile } from "./output-file.ts";
import type { Run, RunFlags } from "./run.ts";
import { begin } from "./target-run.ts";
import { treeOf } from "./target-tree.ts";

export interface CheckFlags extends CrawlFlags, Omit<RunFlags, "output">, LocalFlags {
  readonly outputs: readonly ChosenOutput[];
  readonly all?: true | undefined;
  readonly failOn?: FailLevel | undefined;
  readonly config?: string | undefined;
  readonly baseline?: string | undefined;
  readonly updateBaseline?: true | undefined;
  readonly off?: readonly string[] | undefined;
  readonly now?: string | undefined;
  readonly sample?: number | undefined;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
export async function check(name: string, flags: CheckFlags): Promise<number> {
  const crawl = crawlOptions(flags);
  const chosen = chooseCheckTarget(name, flags);
  if (chosen.named.kind !== "website" && flags.sample !== undefined)
    throw new UsageError("--sample fetches pages: name a website");
  const { options, failOn, note } = await checkOptions(flags, chosen);
  expectBaseline(flags);
  const outputs = flags.outputs.flatMap(({ file }, index) => (file === undefined ? [] : [[`-o (${index + 1})`, file]]));
  const report = new CheckReport(failOn);
  const { run } = await begin({
    targets: [chosen.named],
    flags: { ...flags, output: undefined },
    crawl,
    inputs: [...chosen.folders.map((folder) => folder.path), flags.config],
    outputs: { "--baseline": flags.baseline, ...Object.fromEntries(outputs) },
    offline: ["limits"],
    report: () => report,
  });
  const files = flags.outputs.map(({ file }) => file && run.owns(new OutputFile(file, flags)));
  if (note !== undefined) run.messages.say(note, "quiet");
  let listed = 0;
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    const result = await findings(name, chosen, { ...crawl, ...chosen.options }, options, flags, run);
    listed = result.pageCount;
    report.finish(result);
    for (const [index, { format }] of flags.outputs.entries()) {
      const file = files[index];
      const text = await written(result, format, chosen, flags, run);
      if (file) file.write(text);
      else yield text;
    }
  }
  return run.write(pieces(), () => ({ listed, isWhole: true, notes: [] }));
}

async function checkOptions(
  flags: CheckFlags,
  { hasLocation }: CheckTarget,
): Promise<{ options: CheckOptions; failOn: FailLevel; note: string | undefined }> {
  const { resolveCheckOptions } = await import("../check/options.ts");
  const config = readCheckConfig(flags.config);
  const off = (flags.off ?? []).flatMap((list) => list.split(",")).map((rule) => [rule.trim(), "off"] as const);
  const options: CheckOptions = {
    ...config.options,
    rules: [(config.options.rules ?? {}) as RuleSeverities, Object.fromEntries(off)],
    now: flags.now,
    location: hasLocation,
    sample: flags.sample,
  };
  resolveCheckOptions(options);
  return { options, failOn: flags.failOn ?? config.failOn ?? "error", note: config.note };
}

function expectBaseline({ baseline, updateBaseline }: CheckFlags): void {
  if (updateBaseline && baseline === undefined) throw new UsageError("--update-baseline needs --baseline FILE");
  if (baseline === undefined || updateBaseline || readBaseline(baseline) !== undefined) return;
  throw new UsageError(`${baseline} does not exist; --update-baseline writes it`);
}

async function findings(
  name: string,
  { target, hasLocation }: CheckTarget,
  crawl: Options,
  options: CheckOptions,
  flags: CheckFlags,
  run: Run,
): Promise<CheckResult> {
  const { checkTree } = await import("../check/check-tree.ts");
  const { recognized } = await import("./sitemap-target.ts");
  const online = { ...crawl, signal: run.signal };
  const startedAt = performance.now();
  const named = await recognized(target, online, run.messages, { verb: "checking", command: "sitegrove check" });
  const tree = await treeOf(named, { ...online, onEvent: (event) => run.see(event) });
  try {
    run.crawled();
    const found = await checkTree(tree, {
      ...options,
      crawl: pageOptions(crawl),
      time: timeLeft(crawl.limits?.time ?? Number.POSITIVE_INFINITY, startedAt),
      signal: run.signal,
    });
    const result = hasLocation ? found : withFileName(found, name === "-" ? "standard input" : name);
    return flags.baseline === undefined ? result : compared(result, flags.baseline, tree, flags, run);
  } finally {
    await tree.close();
  }
}

// The archive of the crawl is not for sampled pages.
function pageOptions({ save: _, previous: __, resume: ___, store: ____, ...options }: Options): Options {
  return options;
}

// Without known findings. Findings in what could not be read do not count as fixed.
function compared(
  result: CheckResult,
  file: string,
  { complete, reachable }: SitemapTree,
  { updateBaseline }: CheckFlags,
  { messages }: Run,
): CheckResult {
  if (updateBaseline && reachable) writeBaseline(file, result);
  if (updateBaseline && !reachable)
    messages.say(`${file} was not changed: the website could not be reached`, "warning");
  if (updateBaseline && reachable && !complete) {
    messages.say(`${file} holds what was found in the part of the website that could be read`, "warning");
  }
  const { result: unknown, known, gone } = withoutKnown(result, readBaseline(file) ?? {});
  if (known > 0) messages.say(`${counted(known, "finding")} known from ${file}`, "quiet");
  if (gone > 0 && complete) {
    messages.say(`${counted(gone, "finding")} fewer than in ${file}; --update-baseline lowers it`, "quiet");
  }
  return unknown;
}

async function written(
  result: CheckResult,
  format: CheckFormat,
  { folders }: CheckTarget,
  flags: CheckFlags,
  run: Run,
): Promise<string> {
  const { writeCheck } = await import("./check-output.ts");
  const { GITHUB_STEP_SUMMARY: summary } = process.env;
  const all = flags.all ?? false;
  const output = { all, places: new Places(folders), color: run.isShown && run.hasColor };
  if (format === "github" && summary) {
    const { appendSummary } = await import("./check-annotations.ts");
    const fault = appendSummary(summary, writeCheck(result, { ...output, format: "markdown" }));
    if (fault !== undefined) run.messages.say(fault, "warning");
  }
  return writeCheck(result, { ...output, format });
}
