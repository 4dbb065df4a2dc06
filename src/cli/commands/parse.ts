// `sitegrove parse`: one document, from a local file, standard input or a URL. The sitemaps of an index are not fetched.
import path from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { Command } from "commander";
import { PageFilter } from "../../crawl/page-filter.ts";
import { type Document, type Reading, read } from "../../crawl/read.ts";
import { withStart } from "../../diff/archive-magic.ts";
import { pageFilterNames, resolveOptions, resolvePageFilters } from "../../model/options.ts";
import { isLossy, messageWithHint, type Problem } from "../../model/problem.ts";
import { isOnOwnMachine, isRobotsPath, withoutCredentials } from "../../model/url.ts";
import type { Entries } from "../../parse/entries.ts";
import { printable } from "../../write/printable.ts";
import { ParsedJsonWriter } from "../../write/trees.ts";
import type { Context, Done } from "../context.ts";
import { type ExitCode, exitCodeHelp, exitCodes, UsageError } from "../exit-codes.ts";
import { addCrawlFlags, addFlags, checkSince, type Flags, pageFilters, raised } from "../flags.ts";
import { addHelp, patternHelp } from "../help.ts";
import { contentOf, isRobotsText, parseTarget } from "../input/target.ts";
import { filterNotes, SkippedEntries } from "../output/ending.ts";
import type { Messages } from "../output/messages.ts";
import {
  checkCsvFlags,
  documentFormats,
  type Format,
  formatByName,
  formatOption,
  isPageFormat,
  pageWriter,
} from "../output/pages.ts";
import { beginRun, type Ending } from "../run.ts";

export function parseCommand(context: Context, done: Done): Command {
  const command = new Command("parse")
    .summary("read one sitemap: a local file, standard input or a URL")
    .description(
      "Reads one sitemap from a local file, standard input or a URL, in any format, compression and character set. For an\n" +
        "index, lists its sitemaps without fetching them.",
    )
    .argument("<file>", "local file, - for standard input, or a URL")
    .optionsGroup("Output:")
    .addOption(formatOption(documentFormats));
  addFlags(command, "output", "csv");
  const filters = ["--include", "--exclude", "--since", "--undated", "--unique", "--limit"];
  addCrawlFlags(command.optionsGroup("Filters:"), "Filters", filters);
  command.optionsGroup("Parsing:").option("--url <url>", "URL of the document, to resolve relative URLs");
  addCrawlFlags(command, "Parsing");
  addCrawlFlags(command, "Limits", ["--max-bytes"]);
  addCrawlFlags(command.optionsGroup("Network, for a URL:"), "Network");
  command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "also list minor problems", raised)
    .option("-q, --quiet", "print only errors")
    .option("--no-color", "no colors on a terminal")
    .action(async (file: string, flags: Flags<Format>) => {
      const format = formatByName(flags.format, flags.output, documentFormats);
      done(await parse(file, { ...flags, format }, context));
    });
  return addHelp(command, {
    flags: "--format --output --force --include --exclude --since --limit --url --user-agent --verbose",
    examples: `
Examples:
  sitegrove parse sitemap.xml.gz
  sitegrove parse https://example.org/sitemap.xml -f pages
  curl -s https://example.org/feed | sitegrove parse - -f json
`,
    more:
      patternHelp +
      exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "notFound", "interrupted"], {
        incomplete: "the file could not be fully read",
        notFound: "the file is not a sitemap",
      }),
  });
}

async function parse(source: string, flags: Flags<Format>, context: Context): Promise<ExitCode> {
  const { format } = flags;
  checkCsvFlags(format, flags);
  checkSince(flags);
  const filter = new PageFilter(resolvePageFilters(pageFilters(flags)));
  const target = chooseDocument(source);
  const ending = new DocumentEnding(flags.verbose !== undefined);
  const run = await beginRun({
    context,
    flags: { ...flags, verbose: 0, progress: false },
    targets: [{ target }],
    offline: [...pageFilterNames, "strict", "limits"],
    ending,
  });
  const { messages, signal, options } = run;
  const opened =
    target.kind === "website"
      ? await (await import("../../crawl/fetch-one.ts")).fetchDocument(target.homepage, options)
      : { document: { url: flags.url, headers: [], body: contentOf(target, context), isRobots: isRobotsPath(source) } };
  if (!("document" in opened)) {
    messages.say(`${withoutCredentials(source)}: not read: ${opened.reason.message}`, "bad");
    return opened.outcome === "absent" ? exitCodes.notFound : exitCodes.unreachable;
  }
  const { document: received } = opened;
  const { url } = received;
  const local = source === "-" ? "standard input" : path.basename(source);
  const name = flags.url ?? (target.kind === "website" ? (url ?? source) : local);
  const writer = writerOf(format, flags, name);
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    yield writer.header;
    const document = target.kind === "stream" ? await recognizedStream(received, signal) : received;
    const reading = read(document, resolveOptions(options));
    let step = await reading.next();
    while (!step.done) {
      signal.throwIfAborted();
      const { pages, sitemaps } = step.value;
      yield writer.write({ pages: [...(await filter.pages(pages))], sitemaps });
      step = await reading.next(!filter.isLimitReached);
    }
    const problems = [...("problems" in opened ? opened.problems : []), ...step.value.problems];
    ending.read = { ...step.value, problems, name, hasUrl: url !== undefined };
    yield writer.end(step.value);
  }
  try {
    return await run.write(pieces(), () => ({ listed: filter.listed, notes: filterNotes(filter, flags) }));
  } finally {
    if ("close" in opened) await opened.close();
  }
}

/** The ending of `parse`: whether the document is a sitemap, and what is wrong with it. */
class DocumentEnding implements Ending {
  readonly #isVerbose: boolean;
  /** Set once the document was read. */
  read: (Reading & { readonly name: string; readonly hasUrl: boolean }) | undefined;

  constructor(isVerbose: boolean) {
    this.#isVerbose = isVerbose;
  }

  get isComplete(): boolean {
    return this.read?.complete === true;
  }

  get readNothing(): boolean {
    return this.read?.outcome.kind === "invalid";
  }

  get exitCode(): ExitCode {
    if (this.readNothing) return exitCodes.notFound;
    return this.isComplete ? exitCodes.complete : exitCodes.incomplete;
  }

  print(messages: Messages, _: number, notes: readonly string[]): void {
    for (const note of notes) messages.say(note, "quiet");
    if (this.read === undefined) return;
    const { outcome, problems, name, hasUrl } = this.read;
    if (outcome.kind === "invalid") {
      messages.say(`${name}: not read: ${messageWithHint(outcome.reason)}`, "bad");
      return;
    }
    // If a file without a known URL has relative URLs, all of its pages may be missing.
    const isWithoutBase = ({ code }: Problem) => !hasUrl && code === "url-invalid";
    const isShown = (problem: Problem) => this.#isVerbose || isLossy(problem.code) || isWithoutBase(problem);
    for (const problem of problems.filter(isShown))
      messages.say(`${name}${lineAndCount(problem)}: ${messageWithHint(problem)}`, "warning");
    const skipped = new SkippedEntries();
    for (const problem of problems) if (!isLossy(problem.code)) skipped.see(problem);
    if (problems.some(isWithoutBase))
      messages.say("to resolve relative URLs, give the URL of the file with --url", "warning");
    skipped.print(messages, this.#isVerbose || problems.some(isWithoutBase));
    if (!this.isComplete) messages.say(`${name}: incomplete`, "warning");
  }
}

// A name without a scheme is a file, unless it is a host on this machine.
function chooseDocument(source: string): ReturnType<typeof parseTarget> {
  const target = parseTarget(source);
  if (target.kind === "website" && target.isAssumed && !isOnOwnMachine(source))
    throw new UsageError(`no such file or folder: ${source}; for a URL: ${target.homepage}`);
  if (target.kind === "archive") throw new UsageError(`${source} is an archive; to list it: sitegrove ls ${source}`);
  if (target.kind === "folder") throw new UsageError(`${source} is a local folder; to list it: sitegrove ls ${source}`);
  return target;
}

// Also recognizes robots.txt by its content, because standard input has no name.
async function recognizedStream(document: Document, signal: AbortSignal): Promise<Document> {
  addAbortSignal(signal, document.body as Readable);
  const { start, bytes } = await withStart(document.body);
  return { ...document, body: bytes, isRobots: document.isRobots === true || isRobotsText(start.toString("latin1")) };
}

interface DocumentWriter {
  readonly header: string;
  write(entries: Entries): string;
  end(reading: Reading): string;
}

function writerOf(format: Format, flags: Flags, name: string): DocumentWriter {
  if (isPageFormat(format)) {
    const writer = pageWriter(format, flags);
    const write = ({ pages, sitemaps }: Entries) =>
      writer.writeReferences(name, sitemaps) + writer.write({ sitemap: name, pages });
    return { header: writer.header, write, end: () => writer.footer ?? "" };
  }
  if (format === "json") {
    const writer = new ParsedJsonWriter();
    return {
      header: "",
      write: ({ pages, sitemaps }) => writer.write(pages, sitemaps),
      end: ({ outcome, complete, problems }) =>
        writer.end(outcome.kind === "invalid" ? outcome : { ...outcome, complete, problems }),
    };
  }
  // Only a sitemap gets a title line.
  let title = `${printable(name)}\n`;
  const once = (text = "") => {
    const before = title;
    title = "";
    return before + text;
  };
  return {
    header: "",
    write: ({ pages, sitemaps }) => once([...sitemaps, ...pages].map(({ url }) => `\t${printable(url)}\n`).join("")),
    end: ({ outcome }) => (outcome.kind === "invalid" ? "" : once()),
  };
}

function lineAndCount({ line, count }: Problem): string {
  return `${line === undefined ? "" : `:${line}`}${count === undefined ? "" : ` (${count} times)`}`;
}
