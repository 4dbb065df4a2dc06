// The flags and help of `sitegrove parse`. Their implementation is in parse.ts, which is imported when the command
// runs.
import { Command, Option } from "commander";
import { addCrawlFlags } from "./crawl-flags.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import { raised } from "./flag-values.ts";
import { documentFormats, formatInWords } from "./formats.ts";
import { addPageFlags } from "./page-flags.ts";
import type { ParseFlags } from "./parse.ts";

export function parseCommand(done: (exitCode: number) => void): Command {
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
    .option("-o, --output <file>", "file to write the result to, whole or not at all; an existing one needs --force")
    .option("--force", "let --output replace a file");
  addPageFlags(command, "each page once").option(
    "--no-csv-safe",
    "keep cells that spreadsheets take for formulas as they are (csv)",
  );

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
      const { parse } = await import("./parse.ts");
      done(await parse(file, flags));
    });
  return command.addHelpText("after", examples);
}

const examples = `
Examples:
  sitegrove parse sitemap.xml.gz
  sitegrove parse https://example.org/sitemap.xml -f pages
  curl -s https://example.org/feed | sitegrove parse - -f json
${exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "notFound", "interrupted"], {
  incomplete: "the file could not be fully read",
  notFound: "the file is not a sitemap",
})}`;
