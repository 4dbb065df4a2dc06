// The flags of `sitegrove parse`, in words. What they do is in parse.ts, which is loaded when it is needed.
import { Command, Option } from "commander";
import { explodedLists } from "../write/csv-columns.ts";
import { addCrawlFlags } from "./crawl-flags.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import { collected, raised, wholeNumber } from "./flag-values.ts";
import { documentFormats, explodeInWords, formatInWords } from "./formats.ts";
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
    .option("-o, --output <file>", "file to write the result to; it is replaced only once the result is whole")
    .option("--force", "let --output replace a file")
    .option("--include <pattern>", "only pages whose URL matches (repeatable)", collected)
    .option("--exclude <pattern>", "no pages whose URL matches (repeatable)", collected)
    .option("--since <date>", "only pages modified since then: 2024-05-31, 36h, 7d, 2w")
    .option("--unique", "each page once")
    .option("--limit <n>", "stop after this many pages", wholeNumber(0))
    .option("--columns <names>", "columns of the table, such as url,lastModified,news.title (csv)")
    .addOption(new Option("--explode <list>", explodeInWords).choices(explodedLists))
    .option("--excel", "start with a byte order mark, which Excel needs to recognize UTF-8 (csv)")
    .option("--no-csv-safe", "keep cells that spreadsheets take for formulas as they are (csv)");

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
