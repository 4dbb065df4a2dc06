// `sitegrove parse`: one document, from a local file, standard input or a URL. The sitemaps of an index are not fetched.

import { statSync } from "node:fs";
import path from "node:path";
import { Command, Option } from "commander";
import type { FollowFailure } from "../../crawl/follow.ts";
import { PageFilter } from "../../crawl/page-filter.ts";
import { type Reading, read } from "../../crawl/read.ts";
import { type Options, pageFilterNames, resolveOptions, resolvePageFilters } from "../../model/options.ts";
import { isLossy, messageWithHint, type Problem } from "../../model/problem.ts";
import { systemReason } from "../../model/system-reason.ts";
import { isHttpUrl, isRobotsPath, withoutCredentials } from "../../model/url.ts";
import type { Entries } from "../../parse/entries.ts";
import type { PageWriter } from "../../write/pages.ts";
import { printable } from "../../write/printable.ts";
import { ParsedJsonWriter } from "../../write/trees.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, exitCodes, UsageError } from "../exit-codes.ts";
import { addCrawlFlags, addCsvFlags, crawlOptions, pageFilters, raised } from "../flags.ts";
import { addHelp, patternHelp } from "../help.ts";
import { contentOf, type NamedTarget, recognize } from "../input/target.ts";
import { filterNotes } from "../output/filter-notes.ts";
import {
  type CsvFlags,
  checkCsvFlags,
  documentFormats,
  type Format,
  formatInWords,
  isPageFormat,
  pageWriter,
} from "../output/pages.ts";
import { type Run, type RunFlags, withTargets } from "../run.ts";
import { checkSince } from "./ls.ts";

export function parseCommand(context: Context, done: Done): Command {
  const command = new Command("parse")
    .summary("read one sitemap: a local file, standard input or a URL")
    .description(
      "Reads one sitemap from a local file, standard input or a URL, whatever its format, compression and character set.\n" +
        "Of an index, the sitemaps that it names are listed; they are not fetched.",
    )
    .argument("<file>", "local file, - for standard input, or a URL");

  command
    .optionsGroup("Output:")
    .addOption(new Option("-f, --format <format>", formatInWords).choices(documentFormats).default("tabtree"))
    .option("-o, --output <file>", "write to FILE, only if the run succeeds")
    .option("--force", "let --output replace a file");
  addCsvFlags(command).option("--no-csv-safe", "keep cells that spreadsheets take for formulas as they are (csv)");

  command.optionsGroup("Filters:");
  addCrawlFlags(command, "Filters", ["--include", "--exclude", "--since", "--undated", "--unique", "--limit"]);

  command.optionsGroup("Parsing:").option("--url <url>", "URL of the document: relative URLs are resolved against it");
  addCrawlFlags(command, "Parsing");
  addCrawlFlags(command, "Limits", ["--max-bytes"]);

  command.optionsGroup("Network, for a URL:");
  addCrawlFlags(command, "Network");

  command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "list minor problems, too", raised)
    .option("--no-color", "no colors on a terminal")
    .action(async (file: string, flags: ParseFlags) => {
      done(await parse(file, flags, context));
    });
  return addHelp(command, { flags, examples, more });
}

const flags = "--format --output --force --include --exclude --since --limit --url --user-agent --verbose";

const examples = `
Examples:
  sitegrove parse sitemap.xml.gz
  sitegrove parse https://example.org/sitemap.xml -f pages
  curl -s https://example.org/feed | sitegrove parse - -f json
`;

const more =
  patternHelp +
  exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "notFound", "interrupted"], {
    incomplete: "the file could not be fully read",
    notFound: "the file is not a sitemap",
  });

export interface ParseFlags extends CsvFlags, Omit<RunFlags, "progress" | "logFile"> {
  readonly format: Format;
  readonly url?: string | undefined;
  readonly since?: string | undefined;
  readonly strict?: true | undefined;
  readonly maxBytes?: number | undefined;
}

/** Returns the exit code. */
async function parse(source: string, flags: ParseFlags, context: Context): Promise<number> {
  checkCsvFlags(flags.format, flags);
  checkSince({ ...flags });
  const filter = new PageFilter(resolvePageFilters(pageFilters({ ...flags })));
  const target = chooseDocument(source);
  const isRemote = target.kind === "website";
  const crawl = crawlOptions({ ...flags });
  const run = await withTargets({
    context,
    targets: [target],
    flags: { ...flags, verbose: 0, progress: false },
    crawl,
    offline: [...pageFilterNames, "strict", "limits"],
  });
  const body = isRemote ? undefined : contentOf(target, context);
  const options: Options = { ...crawl, signal: run.signal };
  const { limits, strict } = resolveOptions(options);
  const opened =
    body === undefined
      ? await (await import("../../crawl/fetch-one.ts")).fetchDocument(source, options)
      : { document: { url: flags.url, headers: [], body, isRobots: isRobotsPath(source) }, problems: [] };
  if (!("document" in opened)) return failed(withoutCredentials(source), opened, run);
  const { document: found, problems } = opened;
  const reading = entries(read(found, { limits, strict }), filter, run.signal);
  const name =
    flags.url ?? (isRemote ? (found.url ?? source) : source === "-" ? "standard input" : path.basename(source));
  let end: Reading | undefined;
  const keep = (reading: Reading) => {
    end = { ...reading, problems: [...problems, ...reading.problems] };
  };
  const pieces = isPageFormat(flags.format)
    ? lines(reading, pageWriter(flags.format, flags), name, keep)
    : flags.format === "json"
      ? document(reading, keep)
      : outline(reading, name, keep);
  try {
    const code = await run.write(pieces, () => ({ listed: filter.listed, notes: filterNotes(filter, flags) }));
    if (code !== exitCodes.complete || end === undefined) return code;
    return report(end, name, { isVerbose: flags.verbose !== undefined, hasUrl: found.url !== undefined }, run);
  } finally {
    if ("close" in opened) await opened.close();
  }
}

// One document: a website is only what is written as a URL.
function chooseDocument(source: string) {
  const target = source === "-" || isHttpUrl(source) ? recognize(source) : localDocument(source);
  switch (target.kind) {
    case "archive":
      throw new UsageError(`${source} is an archive: sitegrove ls ${source}`);
    case "folder":
      throw new UsageError(`${source} cannot be read: it is a directory`);
    default:
      return target;
  }
}

function localDocument(source: string): NamedTarget {
  try {
    statSync(source);
  } catch (error) {
    throw new UsageError(`${source} cannot be read: ${systemReason(error)}`);
  }
  return recognize(source);
}

function failed(url: string, { outcome, reason }: FollowFailure, { messages }: Run): number {
  messages.say(`${url}: not read: ${reason.message}`, "bad");
  return outcome === "absent" ? exitCodes.notFound : exitCodes.unreachable;
}

// The entries that are to be listed; the reading itself at the end.
async function* entries(
  source: AsyncGenerator<Entries, Reading, boolean | undefined>,
  filter: PageFilter,
  signal: AbortSignal,
): AsyncGenerator<Entries, Reading, undefined> {
  let step = await source.next();
  while (!step.done) {
    signal.throwIfAborted();
    const { pages, sitemaps } = step.value;
    yield { pages: [...(await filter.pages(pages))], sitemaps };
    step = await source.next(!filter.reached);
  }
  return step.value;
}

type Parsed = AsyncGenerator<Entries, Reading, undefined>;
type Keep = (reading: Reading) => void;

async function* lines(
  reading: Parsed,
  writer: PageWriter,
  name: string,
  keep: Keep,
): AsyncGenerator<string, void, undefined> {
  if (writer.header !== "") yield writer.header;
  let step = await reading.next();
  for (; !step.done; step = await reading.next()) {
    yield writer.writeReferences(name, step.value.sitemaps) + writer.write({ sitemap: name, pages: step.value.pages });
  }
  if (writer.footer !== undefined) yield writer.footer;
  keep(step.value);
}

async function* document(reading: Parsed, keep: Keep): AsyncGenerator<string, void, undefined> {
  const writer = new ParsedJsonWriter();
  let step = await reading.next();
  for (; !step.done; step = await reading.next()) {
    yield writer.sitemaps(step.value.sitemaps) + writer.pages(step.value.pages);
  }
  const { outcome, complete, problems } = step.value;
  yield writer.end(outcome.kind === "invalid" ? outcome : { ...outcome, complete, problems });
  keep(step.value);
}

async function* outline(reading: Parsed, name: string, keep: Keep): AsyncGenerator<string, void, undefined> {
  let title = `${printable(name)}\n`;
  let step = await reading.next();
  for (; !step.done; step = await reading.next()) {
    const { sitemaps, pages } = step.value;
    yield title + [...sitemaps, ...pages].map(({ url }) => `\t${printable(url)}\n`).join("");
    title = "";
  }
  keep(step.value);
  if (step.value.outcome.kind !== "invalid") yield title;
}

function report(
  { outcome, complete, problems }: Reading,
  name: string,
  { isVerbose, hasUrl }: { readonly isVerbose: boolean; readonly hasUrl: boolean },
  { messages }: Run,
): number {
  if (outcome.kind === "invalid") {
    messages.say(`${name}: not read: ${messageWithHint(outcome.reason)}`, "bad");
    return exitCodes.notFound;
  }
  // Relative URLs of a file that nobody says the place of: all of its pages may be missing.
  const isWithoutBase = ({ code }: Problem) => !hasUrl && code === "url-invalid";
  const shown = isVerbose ? problems : problems.filter((each) => isLossy(each.code) || isWithoutBase(each));
  for (const problem of shown) messages.say(`${name}${place(problem)}: ${messageWithHint(problem)}`, "warning");
  if (shown.some(isWithoutBase)) messages.say("relative URLs need --url: where the file is on its website", "warning");
  if (!complete) messages.say(`${name}: not complete`, "warning");
  return complete ? exitCodes.complete : exitCodes.incomplete;
}

function place({ line, count }: Problem): string {
  return `${line === undefined ? "" : `:${line}`}${count === undefined ? "" : ` (${count} times)`}`;
}
