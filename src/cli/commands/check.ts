import { Command, InvalidArgumentError, Option } from "commander";
import type { CheckOptions } from "../../check/options.ts";
import { type CheckResult, failedInWords } from "../../check/result.ts";
import { severities } from "../../check/rule.ts";
import { timeLeft } from "../../crawl/time-budget.ts";
import { counted } from "../../model/figures.ts";
import type { Options } from "../../model/options.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import type { Context, Done } from "../context.ts";
import { checkingExitCodes, exitCodeHelp, exitCodes, UsageError } from "../exit-codes.ts";
import {
  addCrawlFlagGroups,
  addMessageFlags,
  type CrawlFlags,
  collected,
  crawlOptions,
  wholeNumber,
} from "../flags.ts";
import { checkOptions, type RuleFlags, readBaseline, withoutKnown, writeBaseline } from "../input/check-files.ts";
import { type CheckTarget, chooseCheckTarget, type LocalFlags, Places, withFileName } from "../input/local-files.ts";
import { CrawlEnding } from "../output/ending.ts";
import { OutputFile } from "../output/file.ts";
import { type CheckFormat, checkFormats, type FailLevel, failLevels } from "../output/findings.ts";
import type { Messages } from "../output/messages.ts";
import { type Run, type RunFlags, withTargets } from "../run.ts";

export function checkCommand(context: Context, done: Done): Command {
  const outputs = new OutputFlags();
  const command = new Command("check")
    .summary("show what search engines would say about the sitemaps of a website")
    .description(
      "Shows what is wrong with the sitemaps of a website, what search engines do about it, and how to fix it, in the words\n" +
        "of Search Console. docs/rules.md lists all rules.",
    )
    .argument("<target>", "website, archive, sitemap file, folder of a built website, or - for standard input");

  command
    .optionsGroup("Output:")
    .addOption(outputs.format)
    .addOption(outputs.output)
    .option("--force", "let --output replace a file")
    .option("--all", "show all examples and sitemaps (text, markdown)")
    .addOption(
      new Option("--fail-on <severity>", "lowest severity that makes the exit code 6 (default: error)").choices(
        failLevels,
      ),
    );

  command
    .optionsGroup("Rules:")
    .option("--config <file>", "configuration, instead of the sitegrove.json here or in a folder above")
    .option("--baseline <file>", "file of known findings: only findings whose counts increased are shown")
    .option("--update-baseline", "write the findings to the file of --baseline")
    .option("--off <rules>", "rules to leave out (repeatable)", collected)
    .option("--sample <n>", "number of pages to fetch, to check their responses", wholeNumber(1))
    .option("--now <date>", "judge dates as if the documents were received then: 2026-05-31");

  command
    .optionsGroup("Local files:")
    .option("--url <url>", "URL that a sitemap file has on the website")
    .option(
      "--map <url=folder>",
      "read URLs that begin with this from a folder, without a network (repeatable)",
      collected,
    );

  addCrawlFlagGroups(command, "Discovery", "Network", "Limits");

  addMessageFlags(command).action(async (target: string, flags: CheckFlags) => {
    done(await check(target, { ...flags, outputs: outputs.chosen() }, context));
  });
  return command.addHelpText("after", examples + exitCodeHelp(checkingExitCodes, exitCodeWords));
}

const exitCodeWords = { findings: "findings at or above --fail-on" };

const examples = `
Examples:
  sitegrove check example.org                                    for people
  sitegrove check site.warc.gz -f json                           an archive, as data
  sitegrove check public/ --map https://example.org/=public/     a website that was built here
  sitegrove check sitemap.xml --url https://example.org/sitemap.xml
  sitegrove check example.org -f text -f sarif -o findings.sarif --fail-on never
`;

export interface ChosenOutput {
  readonly format: CheckFormat;
  /** Absent for standard output. */
  readonly file?: string | undefined;
}

type Word = { readonly format: CheckFormat } | { readonly file: string };

/** The flags -f and -o, in the order in which they were given. */
export class OutputFlags {
  readonly #words: Word[] = [];

  get format(): Option {
    return new Option("-f, --format <format>", "text for people, data, or annotations; repeatable (default: text)")
      .choices(checkFormats)
      .argParser((value: string) => {
        if (!checkFormats.includes(value as CheckFormat)) {
          throw new InvalidArgumentError(`Allowed choices are ${checkFormats.join(", ")}.`);
        }
        this.#words.push({ format: value as CheckFormat });
        return value;
      });
  }

  get output(): Option {
    return new Option(
      "-o, --output <file>",
      "file for the format that is named next to it, whole or not at all; an existing one needs --force (repeatable)",
    ).argParser((value: string) => {
      this.#words.push({ file: value });
      return value;
    });
  }

  chosen(): readonly ChosenOutput[] {
    return pairsOf(this.#words);
  }
}

/** Throws a `UsageError` if a file has no format, or two results would go to standard output. */
export function pairsOf(words: readonly Word[]): readonly ChosenOutput[] {
  const chosen: ChosenOutput[] = [];
  let format: CheckFormat | undefined;
  let file: string | undefined;
  const end = () => {
    if (format !== undefined || file !== undefined) chosen.push({ format: format ?? "text", file });
    [format, file] = [undefined, undefined];
  };
  for (const word of words) {
    if ("format" in word) {
      if (format !== undefined) end();
      format = word.format;
    } else {
      if (file !== undefined) end();
      file = word.file;
    }
    // One of each: they belong together in either order.
    if (format !== undefined && file !== undefined) end();
  }
  end();
  const loose = words.filter((word) => "file" in word).length - words.filter((word) => "format" in word).length;
  if (chosen.length > 1 && loose > 0)
    throw new UsageError("every -o needs the -f of its own: -f json -o findings.json");
  if (chosen.filter((output) => output.file === undefined).length > 1) {
    throw new UsageError(
      "only one format can go to standard output: name a file for the others, -f json -o findings.json",
    );
  }
  return chosen.length === 0 ? [{ format: "text" }] : chosen;
}

export interface CheckFlags extends CrawlFlags, Omit<RunFlags, "output">, LocalFlags, RuleFlags {
  readonly outputs: readonly ChosenOutput[];
  readonly all?: true | undefined;
  readonly failOn?: FailLevel | undefined;
  readonly baseline?: string | undefined;
  readonly updateBaseline?: true | undefined;
  readonly sample?: number | undefined;
  readonly insecure?: true | undefined;
}

/** Returns the exit code. */
async function check(name: string, flags: CheckFlags, context: Context): Promise<number> {
  const crawl = crawlOptions(flags);
  const chosen = chooseCheckTarget(name, flags, context);
  if (chosen.named.kind !== "website" && flags.sample !== undefined)
    throw new UsageError("--sample fetches pages: name a website");
  const { options, failOn, note } = checkOptions(flags, { location: chosen.hasLocation, sample: flags.sample });
  expectBaseline(flags);
  const outputs = flags.outputs.flatMap(({ file }, index) => (file === undefined ? [] : [[`-o (${index + 1})`, file]]));
  const ending = new CheckEnding(flags.failOn ?? failOn ?? "error");
  const run = await withTargets({
    context,
    doing: { verb: "checking", command: "sitegrove check" },
    targets: [chosen.named],
    flags: { ...flags, output: undefined },
    crawl,
    inputs: [...chosen.folders.map((folder) => folder.path), flags.config],
    outputs: { "--baseline": flags.baseline, ...Object.fromEntries(outputs) },
    offline: ["limits", "rewrite"],
    ending: () => ending,
  });
  const files = flags.outputs.map(({ file }) => file && run.owns(new OutputFile(file, flags, context)));
  if (note !== undefined) run.messages.say(note, "quiet");
  let listed = 0;
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    const result = await findings(name, chosen, { ...crawl, ...chosen.options }, options, flags, run);
    listed = result.pageCount;
    ending.finish(result);
    for (const [index, { format }] of flags.outputs.entries()) {
      const file = files[index];
      const text = await written(result, format, chosen, flags, run);
      if (file) file.write(text);
      else yield text;
    }
  }
  return run.write(pieces(), () => ({ listed, isWhole: true, notes: [] }));
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
  const { checkTree } = await import("../../check/check-tree.ts");
  const tree = await run.tree(target, crawl);
  try {
    const found = await checkTree(tree, {
      ...options,
      crawl: pageOptions(crawl),
      time: timeLeft(crawl.limits?.time ?? Number.POSITIVE_INFINITY, run.startedAt),
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
  { context, messages }: Run,
): CheckResult {
  if (updateBaseline && reachable) writeBaseline(file, result, context);
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
  const { writeCheck } = await import("../output/reporters.ts");
  const { GITHUB_STEP_SUMMARY: summary } = run.context.environment;
  const all = flags.all ?? false;
  const output = { all, places: new Places(folders), color: run.isShown && run.hasColor };
  if (format === "github" && summary) {
    const { appendSummary } = await import("../output/github.ts");
    const fault = appendSummary(summary, writeCheck(result, { ...output, format: "markdown" }));
    if (fault !== undefined) run.messages.say(fault, "warning");
  }
  return writeCheck(result, { ...output, format });
}

/** Findings decide the exit code first; standard error reports both. */
export class CheckEnding extends CrawlEnding {
  readonly #failOn: FailLevel;
  // What failed, in words.
  #failing: string | undefined;
  #isLate = false;
  /** The findings about a website without sitemaps are worth keeping. */
  readonly tellsFailures = true;

  constructor(failOn: FailLevel) {
    super();
    this.#failOn = failOn;
  }

  finish(result: Pick<CheckResult, "counts" | "places" | "complete">): void {
    this.#isLate = !result.complete && super.isComplete;
    const level = this.#failOn;
    if (level === "never") return;
    const fails = severities.slice(0, severities.indexOf(level) + 1);
    if (fails.some((severity) => result.counts[severity] > 0)) this.#failing = failedInWords(result, fails);
  }

  override get isComplete(): boolean {
    return super.isComplete && !this.#isLate;
  }

  override get exitCode(): number {
    const code = super.exitCode;
    return this.#failing !== undefined && code !== exitCodes.unreachable ? exitCodes.findings : code;
  }

  override print(messages: Messages, listed: number, notes: readonly string[]): void {
    super.print(messages, listed, notes);
    if (this.#isLate) messages.say("not complete: checking ended at --max-time", "warning");
    if (this.#failing !== undefined) messages.say(`${this.#failing}, at or above --fail-on ${this.#failOn}`, "bad");
  }
}
