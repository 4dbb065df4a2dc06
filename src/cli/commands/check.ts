// `sitegrove check`: flags, the findings about a target, and what they mean for the exit code.
import { Command, InvalidArgumentError, Option } from "commander";
import { type CheckResult, failedInWords, tally } from "../../check/result.ts";
import { severities } from "../../check/rule.ts";
import type { SiteFilesOptions } from "../../check/site-files.ts";
import { timeLeft } from "../../crawl/time-budget.ts";
import { counted } from "../../model/figures.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, exitCodes, UsageError, websiteExitCodes } from "../exit-codes.ts";
import {
  addCrawlFlagGroups,
  addMessageFlags,
  addRuleFlags,
  type CrawlFlags,
  collected,
  crawlOptions,
  wholeNumber,
} from "../flags.ts";
import { addHelp } from "../help.ts";
import { Baseline, checkOptions, type RuleFlags, readBaseline } from "../input/check-files.ts";
import {
  addLocalFlags,
  chooseCheckTarget,
  type LocalFlags,
  Places,
  renamed,
  withFileNames,
} from "../input/local-files.ts";
import { CrawlEnding } from "../output/ending.ts";
import { OutputFile } from "../output/file.ts";
import { type CheckFormat, checkFormats, type FailLevel, failLevels } from "../output/findings.ts";
import type { Messages } from "../output/messages.ts";
import { type Run, type RunFlags, withTargets } from "../run.ts";

export function checkCommand(context: Context, done: Done): Command {
  // -f and -o, in the order in which they were given.
  const words: Word[] = [];
  const format = new Option("-f, --format <format>", "text for people, data, or annotations (repeatable)")
    .choices(checkFormats)
    .argParser((value) => {
      if (!checkFormats.includes(value as CheckFormat))
        throw new InvalidArgumentError(`Allowed choices are ${checkFormats.join(", ")}.`);
      words.push({ format: value as CheckFormat });
      return value;
    });
  const failOn = new Option("--fail-on <severity>", "lowest severity that makes the exit code 6");
  const command = new Command("check")
    .summary("show what search engines would say about the sitemaps of a website")
    .description(
      "Shows what is wrong with the sitemaps of a website, what search engines do about it, and how to fix it, in the words\n" +
        "of Search Console. docs/check.md lists all rules.",
    )
    .argument("<target>", "website, archive, sitemap file, folder of a built website, or - for standard input")
    .optionsGroup("Output:")
    .addOption(format)
    .option(
      "-o, --output <file>",
      "write the format before it to FILE (repeatable)",
      (file: string) => void words.push({ file }),
    )
    .option("--force", "replace existing files")
    .option("--all", "show all examples and sitemaps (text, markdown)")
    .addOption(failOn.choices(failLevels).default(undefined, "error"));
  addRuleFlags(command)
    .option("--baseline <file>", "file of known findings; only new ones are shown and fail")
    .option("--update-baseline", "write the findings to the baseline")
    .option("--sample <n>", "number of pages to fetch and check", wholeNumber(1));
  const pages = "files that are pages: 'blog/**' (repeatable; default: all HTML files)";
  addLocalFlags(command)
    .option("--pages <glob>", pages, collected)
    .option("--ignore <glob>", "files to leave out: 'drafts/' (repeatable)", collected);
  addCrawlFlagGroups(command, "Discovery", "Network", "Limits");
  addMessageFlags(command).action(async (target: string, flags: CheckFlags) => {
    done(await check(target, { ...flags, outputs: pairsOf(words) }, context));
  });
  return addHelp(command, { flags, examples, more });
}

const flags = `--format --output --force --all --fail-on --config --off --baseline --update-baseline --sample --url --map --user-agent
  --verbose`;

const examples = `
Examples:
  sitegrove check example.org
  sitegrove check site.warc.gz -f json
  sitegrove check public/ --url https://example.org/
  sitegrove check sitemap.xml --url https://example.org/sitemap.xml
  sitegrove check example.org -f text -f sarif -o findings.sarif --fail-on never
`;

const more = exitCodeHelp([...websiteExitCodes, "findings"], { findings: "findings at or above --fail-on" });

interface ChosenOutput {
  readonly format: CheckFormat;
  /** Absent for standard output. */
  readonly file?: string | undefined;
}

type Word = { readonly format: CheckFormat } | { readonly file: string };

/** Each -f with the -o next to it, in either order. Throws a `UsageError` if a file has no format, or two results would go to standard output. */
export function pairsOf(words: readonly Word[]): readonly ChosenOutput[] {
  const pairs: { format?: CheckFormat; file?: string }[] = [];
  for (const word of words) {
    const last = pairs.at(-1);
    if (last === undefined || Object.keys(word).some((kind) => kind in last)) pairs.push({ ...word });
    else Object.assign(last, word);
  }
  const loose = words.filter((word) => "file" in word).length - words.filter((word) => "format" in word).length;
  if (pairs.length > 1 && loose > 0) throw new UsageError("every -o needs the -f of its own: -f json -o findings.json");
  const named = "name a file for the others, -f json -o findings.json";
  if (pairs.filter(({ file }) => file === undefined).length > 1)
    throw new UsageError(`only one format can go to standard output: ${named}`);
  return pairs.length === 0 ? [{ format: "text" }] : pairs.map((pair) => ({ format: "text", ...pair }));
}

interface CheckFlags extends CrawlFlags, Omit<RunFlags, "output">, LocalFlags, RuleFlags {
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
  const { baseline: file, updateBaseline, sample } = flags;
  const { named, target, hasLocation: location, folders, files, ...chosen } = chooseCheckTarget(name, flags, context);
  const crawl = crawlOptions(flags);
  if (named.kind !== "website" && sample !== undefined) throw new UsageError("--sample fetches pages: name a website");
  if (files !== undefined) await expectPages(files);
  const { options, failOn, note } = checkOptions(flags, { location, sample, files });
  if (updateBaseline && file === undefined) throw new UsageError("--update-baseline needs --baseline FILE");
  if (file !== undefined && !updateBaseline && readBaseline(file) === undefined)
    throw new UsageError(`${file} does not exist; --update-baseline writes it`);
  const outputs = flags.outputs.map((output, index) => [`-o (${index + 1})`, output.file] as const);
  const ending = new CheckEnding(flags.failOn ?? failOn ?? "error");
  const run = await withTargets({
    context,
    doing: { verb: "checking", command: "sitegrove check" },
    targets: [named],
    flags: { ...flags, output: undefined },
    crawl,
    inputs: [...folders.map((folder) => folder.path), flags.config],
    outputs: { "--baseline": file, ...Object.fromEntries(outputs) },
    offline: ["limits", "rewrite"],
    ending: () => ending,
  });
  const written = flags.outputs.map((output) => output.file && run.owns(new OutputFile(output.file, flags, context)));
  if (note !== undefined) run.messages.say(note, "quiet");
  let listed = 0;

  async function findings(): Promise<CheckResult> {
    const { checkTreeWhile } = await import("../../check/check-tree.ts");
    const nameOf = withFileNames(name === "-" ? "standard input" : name);
    const baseline = file === undefined ? undefined : new Baseline(readBaseline(file) ?? {}, nameOf);
    const online = { ...crawl, ...chosen.options };
    const tree = await run.tree(target, online);
    try {
      const time = timeLeft(crawl.limits?.time ?? Number.POSITIVE_INFINITY, run.startedAt);
      const local = files && { ...files, onFile: run.sawFile };
      const all = { ...options, files: local, crawl: online, time, signal: run.signal };
      const found = await checkTreeWhile(tree, all, undefined, baseline);
      const result = location ? found : renamed(found, nameOf);
      return baseline === undefined ? result : compared(result, baseline, tree, nameOf, flags, run);
    } finally {
      await tree.close();
    }
  }

  async function* pieces(): AsyncGenerator<string, void, undefined> {
    const result = await findings();
    listed = result.pageCount;
    ending.finish(result);
    const { appendSummary, writeCheck } = await import("../output/reporters.ts");
    const look = { all: flags.all === true, color: run.isShown && run.hasColor };
    const text = (format: CheckFormat) => writeCheck(result, { format, ...look, places: new Places(folders) });
    const { GITHUB_STEP_SUMMARY: summary } = context.environment;
    for (const [index, { format }] of flags.outputs.entries()) {
      const fault = format === "github" && summary ? appendSummary(summary, text("markdown")) : undefined;
      if (fault !== undefined) run.messages.say(fault, "warning");
      const output = written[index];
      if (output) output.write(text(format));
      else yield text(format);
    }
  }
  return run.write(pieces(), () => ({ listed, isWhole: true }));
}

// A pattern with a typing error would let everything pass.
async function expectPages({ folders, pages, ignore }: SiteFilesOptions): Promise<void> {
  if (pages === undefined && ignore === undefined) return;
  const { SiteFiles } = await import("../../check/site-files.ts");
  const hasNone = (more: object) => new SiteFiles({ folders, ...more }).pages().next().done;
  if (!hasNone({ pages, ignore }) || hasNone({})) return;
  const [words, globs = []] = hasNone({ pages }) ? ["matches --pages", pages] : ["remains after --ignore", ignore];
  const all = counted([...new SiteFiles({ folders }).pages()].length, "HTML file");
  throw new UsageError(`no file ${words} ${globs.map((each) => `'${each}'`).join(" or ")} (${all} in the folder)`);
}

// Without known findings. Findings in what could not be read do not count as fixed.
function compared(
  result: CheckResult,
  baseline: Baseline,
  tree: SitemapTree,
  nameOf: (sitemap: string) => string,
  { updateBaseline, baseline: file = "" }: CheckFlags,
  { context, messages }: Run,
): CheckResult {
  const { complete, reachable } = tree;
  const pages = new Map(
    [...tree.sitemaps()].map((each) => [nameOf(each.url), each.kind === "pages" ? each.pageCount : 1]),
  );
  const pagesOf = (sitemap: string) => (sitemap === result.homepage ? tree.pageCount : (pages.get(sitemap) ?? 1));
  if (updateBaseline && reachable) {
    baseline.write(file, result, pagesOf, context);
    if (!complete)
      messages.say(`${file} holds what was found in the part of the website that could be read`, "warning");
    messages.say(`${counted(result.findings.length, "finding")} known from ${file}`, "quiet");
    return { ...result, findings: [], ...tally([]) };
  }
  if (updateBaseline) messages.say(`${file} was not changed: the website could not be reached`, "warning");
  const { result: unknown, known, gone } = baseline.compare(result, pagesOf);
  if (known > 0) messages.say(`${counted(known, "finding")} known from ${file}`, "quiet");
  if (gone > 0 && complete)
    messages.say(`${counted(gone, "finding")} fewer than in ${file}; --update-baseline lowers it`, "quiet");
  return unknown;
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
    if (this.#failOn === "never") return;
    const fails = severities.slice(0, severities.indexOf(this.#failOn) + 1);
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
