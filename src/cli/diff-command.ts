// The flags and help of `sitegrove diff`. Their implementation is in diff.ts, which is imported when the command runs.
import { Command } from "commander";
import { addCrawlFlagGroups } from "./crawl-flags.ts";
import type { DiffFlags } from "./diff.ts";
import { addDiffFlags } from "./diff-flags.ts";
import { checkingExitCodes, exitCodeHelp } from "./exit-codes.ts";
import { addMessageFlags } from "./message-flags.ts";

export function diffCommand(done: (exitCode: number) => void): Command {
  const command = new Command("diff")
    .summary("show what changed between two archives, sitemaps or websites")
    .description(
      "Shows what is different between two sides: pages that were added, removed, changed or moved to another sitemap, and\n" +
        "sitemaps that are new, gone, or can or cannot be read any more. Where a side is incomplete, a page that is missing\n" +
        'there is "unknown", never "removed".',
    )
    .argument("<old>", "archive, sitemap file, text file with one URL a line, website, or - for standard input")
    .argument("<new>", "the same");

  addDiffFlags(command.optionsGroup("Output:")).option(
    "--no-csv-safe",
    "keep cells that spreadsheets take for formulas as they are (csv)",
  );
  addCrawlFlagGroups(command, "Discovery", "Parsing", "Network", "Limits");

  addMessageFlags(command).action(async (before: string, after: string, flags: DiffFlags) => {
    const { diff } = await import("./diff.ts");
    done(await diff(before, after, flags));
  });
  return command.addHelpText("after", examples + exitCodeHelp(checkingExitCodes, exitCodeWords));
}

const exitCodeWords = {
  incomplete: "finished, but a side could not be fully read",
  notFound: "a website answered, and no sitemap was found",
  unreachable: "a website could not be reached, or refused everything",
  findings: "--exit-code: there are differences",
};

const examples = `
A pattern is a text that occurs in the URL, or one with * for the whole URL ('*/blog/*', '*.pdf'),
or a regular expression between slashes.

Examples:
  sitegrove diff monday.warc.gz tuesday.warc.gz             counts, where, and examples
  sitegrove diff monday.warc.gz example.org -f ndjson       what changed since, as data
  sitegrove diff old.xml new.xml.gz --ignore lastModified   two sitemaps
  sitegrove diff old.txt new.txt -f pages --only added      new URLs of two lists
  sitegrove diff old.warc.gz new.warc.gz -f rss -o new.xml  a feed of new pages
`;
