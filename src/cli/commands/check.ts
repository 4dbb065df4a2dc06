// `sitegrove check`: flags, the findings about a target, and what they mean for the exit code.
import { appendFileSync } from "node:fs";
import { Command, Option } from "commander";
import { FileLocations } from "../../check/findings/file-locations.ts";
import { type CheckFormat, checkFormats, isRowFormat, rowWriter, writeCheck } from "../../check/findings/formats.ts";
import { type CheckResult, outOfTime } from "../../check/findings/result.ts";
import { failedInWords } from "../../check/findings/words.ts";
import { hosts } from "../../check/folder/folder-files.ts";
import type { SiteFilesOptions } from "../../check/folder/site-files.ts";
import { severities } from "../../check/rules/rule.ts";
import { systemReason } from "../../model/errors.ts";
import { counted } from "../../model/figures.ts";
import { mapped } from "../../model/generators.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodeHelp, exitCodes, UsageError, websiteExitCodes } from "../exit-codes.ts";
import { addCrawlFlags, addFlags, collected, type Flags, wholeNumber } from "../flags.ts";
import { addHelp } from "../help.ts";
import { BaselineFile, checkOptions, type FailLevel, failLevels } from "../input/check-files.ts";
import { chooseCheckTarget, renamed, renamedRow, withFileNames } from "../input/local-files.ts";
import { CrawlEnding, patternList } from "../output/ending.ts";
import { OutputFile } from "../output/file.ts";
import type { Messages } from "../output/messages.ts";
import { formatByName } from "../output/pages.ts";
import { beginRun } from "../run.ts";

interface CheckFlags extends Flags {
  readonly outputs: readonly ChosenOutput[];
  readonly failOn?: FailLevel | undefined;
  readonly baseline?: string | undefined;
  readonly updateBaseline?: true | undefined;
  readonly pages?: number | "all" | undefined;
}

export function checkCommand(context: Context, done: Done): Command {
  const failOn = new Option("--fail-on <severity>", "exit with 6 if there are findings of this severity or higher");
  const command = new Command("check")
    .summary("show what search engines would flag in a website's sitemaps")
    .description(
      "Shows what is wrong with a website's sitemaps, how search engines react, and how to fix it, in Search Console's terms.\n" +
        "The documentation lists all rules.",
    )
    .argument("<target>", "website, archive, sitemap file, folder of a static site, or - for standard input")
    .optionsGroup("Output:")
    .addOption(new Option("-f, --format <format>", "output format (repeatable)").choices(checkFormats))
    .option("-o, --output <file>", "write to FILE, in the format of the -f before it, or by its name (repeatable)")
    .option("--force", "replace existing files")
    .option("--all", "show all occurrences (text, markdown)")
    .addOption(failOn.choices(failLevels).default(undefined, "error"));
  addFlags(command, "csvSafe", "rules")
    .option("--baseline <file>", "file with known findings; only new ones are shown and can fail the check")
    .option("--update-baseline", "write the current findings to the baseline")
    .option("--pages <n>", "request and check this many pages, or all", countOrAll)
    .option("--previous <archive>", "archive of an earlier run, to find dates that do not change with their pages");
  addCrawlFlags(command.optionsGroup("Archive:"), "Archive", ["--save", "--resume"]);
  const files = "files to check as pages, such as 'blog/**' (repeatable; default: all HTML files)";
  addFlags(command, "local", "column")
    .option("--files <glob>", files, collected)
    .option("--ignore <glob>", "files to ignore, such as 'drafts/' (repeatable)", collected)
    .addOption(new Option("--host <name>", "host of the static site (default: detected)").choices(hosts));
  addFlags(command, "Discovery", "Network", "Limits", "messages");
  // Commander collects -f and -o separately, but their order shows which belong together.
  const outputFlags: OutputFlag[] = [];
  command.on("option:format", (format: CheckFormat) => outputFlags.push({ format }));
  command.on("option:output", (file: string) => outputFlags.push({ file }));
  command.action(async (target: string, flags: CheckFlags) =>
    done(await check(target, { ...flags, output: undefined, outputs: pairsOf(outputFlags) }, context)),
  );
  return addHelp(command, {
    flags: `--format --output --force --all --fail-on --config --off --baseline --update-baseline --pages --save --url --map --user-agent
      --verbose`,
    examples: `
Examples:
  sitegrove check example.org
  sitegrove check example.org --pages 300 --save site.warc.gz
  sitegrove check site.warc.gz -o findings.csv
  sitegrove check public/ --url https://example.org/
  sitegrove check sitemap.xml --url https://example.org/sitemap.xml
  sitegrove check example.org -f text -f sarif -o findings.sarif --fail-on never
`,
    more: exitCodeHelp([...websiteExitCodes, "findings"], {
      notFound: "no sitemap found, although the website responded",
      findings: "findings at or above --fail-on",
    }),
  });
}

function countOrAll(text: string): number | "all" {
  return text === "all" ? text : wholeNumber(1, "all or ")(text);
}

type OutputFlag = { readonly format: CheckFormat } | { readonly file: string };

interface ChosenOutput {
  readonly format: CheckFormat;
  /** Absent for standard output. */
  readonly file?: string | undefined;
}

/**
 * Pairs each -f with the -o next to it, in either order. Without -f, the name of the file decides; the default is `text`. Throws
 * a `UsageError` if one of several names shows no format, or if two results would go to one file, or two or Parquet to standard output.
 */
export function pairsOf(flags: readonly OutputFlag[]): readonly ChosenOutput[] {
  const pairs: { format?: CheckFormat; file?: string }[] = [];
  for (const flag of flags) {
    const last = pairs.at(-1);
    if (last === undefined || Object.keys(flag).some((kind) => kind in last)) pairs.push({ ...flag });
    else Object.assign(last, flag);
  }
  for (const pair of pairs) if (pair.file === "-") delete pair.file;
  const isUnknown = ({ format, file = "" }: (typeof pairs)[number]) =>
    format === undefined && formatByName(format, file, checkFormats) === "text" && !/\.txt$/i.test(file);
  if (pairs.length > 1 && pairs.some(isUnknown))
    throw new UsageError("each -o needs its own -f, or a name such as findings.json");
  const named = "write the others to files, as in -f json -o findings.json";
  if (pairs.filter(({ file }) => file === undefined).length > 1)
    throw new UsageError(`only one format can go to standard output: ${named}`);
  if (pairs.some(({ format, file }) => format === "parquet" && file === undefined))
    throw new UsageError("-f parquet needs a file: -o findings.parquet");
  const files = pairs.map(({ file }) => file);
  const twice = files.find((file, at) => file !== undefined && files.indexOf(file) < at);
  if (twice !== undefined) throw new UsageError(`two results would be written to ${twice}`);
  if (pairs.length === 0) return [{ format: "text" }];
  return pairs.map(({ format, file }) => ({ format: formatByName(format, file, checkFormats), file }));
}

async function check(name: string, flags: CheckFlags, context: Context): Promise<ExitCode> {
  const { baseline: file, updateBaseline, pages, resume } = flags;
  const chosen = chooseCheckTarget(name, flags, context);
  const { target, folders, files, hasLocation: location } = chosen;
  const isLocal = target.kind !== "archive" && chosen.path !== undefined;
  if (isLocal && pages !== undefined) throw new UsageError("--pages needs a website, because it requests pages");
  if (files !== undefined) await expectPages(files);
  const previous = flags.previous as string | undefined;
  const { options, failOn, note } = checkOptions(flags, { location, pages, previous, files });
  if (updateBaseline && file === undefined) throw new UsageError("--update-baseline needs --baseline FILE");
  const nameOf = withFileNames(name);
  const baseline = file === undefined ? undefined : new BaselineFile(file, nameOf, updateBaseline);
  const named = flags.outputs.map(({ file }) => [`-o ${file}`, file] as const);
  const ending = new CheckEnding(flags.failOn ?? failOn ?? "error");
  ending.nameOf = nameOf;
  const run = await beginRun({
    context,
    flags,
    targets: [chosen],
    notes: [note],
    inputs: [...folders.map((folder) => folder.path), previous, flags.config],
    outputs: { "--baseline": file, "--resume": resume, ...Object.fromEntries(named) },
    offline: ["limits", "rewrite", "previous"],
    ending,
  });
  const outputs = await Promise.all(
    flags.outputs.map(async ({ format, file }) => ({
      format,
      file: file === undefined ? undefined : run.owns(new OutputFile(file, flags.force)),
      rows: isRowFormat(format) ? await rowWriter(format, flags.csvSafe) : undefined,
    })),
  );
  // Writes a piece to the file of its output, or yields it for standard output.
  function* written(
    { file }: (typeof outputs)[number],
    piece: string | Uint8Array = "",
  ): Generator<string | Uint8Array> {
    if (piece.length === 0) return;
    if (file === undefined) yield piece;
    else file.write(piece);
  }
  let listed = 0;

  async function* pieces(): AsyncGenerator<string | Uint8Array, void, undefined> {
    const { occurrenceBatches } = await import("../../check/occurrences.ts");
    const { checkTreeWhile } = await import("../../check/check-tree.ts");
    const tree = await run.tree(chosen.target);
    let result: CheckResult;
    try {
      // The pages are appended to the archive of the sitemaps.
      const requests = { ...run.options, save: undefined, previous: undefined, resume: run.options.save ?? resume };
      const all = { ...requests, ...options, ...run.whileChecking(files), signal: run.signal };
      const extras = { known: baseline?.baseline, isUncapped: flags.all === true };
      if (outputs.some(({ rows }) => rows !== undefined)) {
        result = yield* mapped(occurrenceBatches(tree, all, extras), function* (batch) {
          const rows = location ? batch : batch.map((row) => renamedRow(row, nameOf));
          for (const output of outputs) yield* written(output, output.rows?.write(rows));
        });
        for (const output of outputs) yield* written(output, output.rows?.end());
      } else result = await checkTreeWhile(tree, all, extras);
      if (!location) result = renamed(result, nameOf);
      if (baseline !== undefined) {
        const applied = baseline.apply(result, tree, run.messages);
        result = applied.result;
        ending.areLossesKnown = applied.areLossesKnown;
      }
    } finally {
      await tree.close();
    }
    listed = result.pageCount;
    ending.finish(result, run.messages);
    const style = { all: flags.all === true, color: run.hasColor, places: new FileLocations(folders) };
    const { GITHUB_STEP_SUMMARY: summary } = context.environment;
    for (const output of outputs) {
      const { format } = output;
      if (format === "github" && summary)
        appendSummary(summary, writeCheck(result, { ...style, format: "markdown" }), run.messages);
      if (!isRowFormat(format)) yield* written(output, writeCheck(result, { ...style, format }));
    }
  }
  return run.write(pieces(), () => ({ listed, isSingleDocument: true }));
}

// GitHub accepts one MiB for each step.
const mostSummaryBytes = 1_000_000;

// Appends Markdown to the step summary of a GitHub workflow. A failure does not end the run.
function appendSummary(file: string, markdown: string, messages: Messages): void {
  const start = Buffer.from(markdown).subarray(0, mostSummaryBytes).toString();
  const isCut = Buffer.byteLength(markdown) > mostSummaryBytes;
  try {
    appendFileSync(file, isCut ? `${start.slice(0, start.lastIndexOf("\n") + 1)}\nAnd more.\n\n` : `${markdown}\n`);
  } catch (error) {
    messages.say(`the step summary could not be written: ${systemReason(error)}`, "warning");
  }
}

// Refuses --files and --ignore that leave no page, because a check without pages would hide a mistyped pattern.
async function expectPages({ folders, pages, ignore }: SiteFilesOptions): Promise<void> {
  if (pages === undefined && ignore === undefined) return;
  const { SiteFiles } = await import("../../check/folder/site-files.ts");
  const hasNone = (more: object) => new SiteFiles({ folders, ...more }).pages().next().done;
  if (!hasNone({ pages, ignore }) || hasNone({})) return;
  const [words, globs = []] = hasNone({ pages }) ? ["matches --files", pages] : ["remains after --ignore", ignore];
  const all = counted([...new SiteFiles({ folders }).pages()].length, "HTML file");
  throw new UsageError(`no file ${words} ${patternList(globs)} (${all} in the folder)`);
}

/** The ending of `check`: findings at or above --fail-on decide the exit code, unless the website is unreachable. */
export class CheckEnding extends CrawlEnding {
  readonly #failOn: FailLevel;
  // Says how many rules failed at or above --fail-on, if any.
  #failing: string | undefined;
  // Whether the check, not the crawl, ran out of time.
  #ranOutOfTime = false;
  /** Whether everything that could not be read is a finding in the baseline, so that it does not change the exit code. */
  areLossesKnown = false;
  // Whether the user already knows why nothing could be read.
  #isExplained = false;
  /** Keeps the output even if nothing could be read, because the findings report that. */
  override readonly reportsFailures = true;

  constructor(failOn: FailLevel) {
    super();
    this.#failOn = failOn;
  }

  /** Call this before the findings are printed, because it reports why nothing could be read. */
  finish(
    result: Pick<CheckResult, "rulesFailed" | "occurrences" | "complete" | "notChecked">,
    messages: Messages,
  ): void {
    this.#isExplained = super.exitCode === exitCodes.unreachable;
    if (this.#isExplained) super.print(messages, 0, []);
    this.#ranOutOfTime =
      !result.complete && (super.isComplete || result.notChecked.some(({ reason }) => reason === outOfTime));
    if (this.#failOn === "never") return;
    const fails = severities.slice(0, severities.indexOf(this.#failOn) + 1);
    if (fails.some((severity) => result.rulesFailed[severity] > 0)) this.#failing = failedInWords(result, fails);
  }

  override get isComplete(): boolean {
    return super.isComplete && !this.#ranOutOfTime;
  }

  override get exitCode(): ExitCode {
    const code = super.exitCode;
    const isKnown = code === exitCodes.incomplete && this.areLossesKnown && !this.#ranOutOfTime && !this.foundNothing;
    if (isKnown && this.#failing === undefined) return exitCodes.complete;
    return this.#failing !== undefined && code !== exitCodes.unreachable ? exitCodes.findings : code;
  }

  override print(messages: Messages, listed: number, notes: readonly string[]): void {
    if (!this.#isExplained) super.print(messages, listed, notes);
    if (this.#ranOutOfTime) messages.say("incomplete: checking stopped at --max-time", "warning");
    if (this.#failing !== undefined) messages.say(`failed (--fail-on ${this.#failOn}): ${this.#failing}`, "bad");
  }
}
