// The flags of `sitegrove parse`, in words. What they do is in parse.ts, which is loaded when it is needed.
import type { Command as TypedCommand, Option as TypedOption } from "@commander-js/extra-typings";
import { Command, Option } from "commander";
import { explodedLists } from "../write/csv-columns.ts";
import { byteCount, collected, raised, wholeNumber } from "./flag-values.ts";
import { documentFormats, explodeInWords, formatInWords } from "./formats.ts";

export function parseCommand(done: (exitCode: number) => void): Command {
  const format = new Option("-f, --format <format>", formatInWords) as unknown as TypedOption<"-f, --format <format>">;
  const explode = new Option("--explode <list>", explodeInWords) as unknown as TypedOption<"--explode <list>">;
  const command = (new Command("parse") as unknown as TypedCommand)
    .summary("read one sitemap that is at hand")
    .description(
      "Reads one sitemap that is at hand, whatever its format, compression and character set. Nothing is fetched.\n" +
        "For an index, the sitemaps that it names are listed.",
    )
    .argument("<file>", "a file, or - for standard input")
    .optionsGroup("What is printed:")
    .addOption(format.choices(documentFormats).default("tabtree" as const))
    .option("-o, --output <file>", "write the result to a file, which is replaced only once it is whole")
    .option("--force", "let --output replace a file")
    .option("--include <pattern>", "only pages whose URL matches (repeatable)", collected)
    .option("--exclude <pattern>", "no pages whose URL matches (repeatable)", collected)
    .option("--since <date>", "only pages modified since then: 2024-05-31, 36h, 7d, 2w")
    .option("--unique", "each page once")
    .option("--limit <n>", "stop after n pages", wholeNumber(0))
    .option("--columns <names>", "columns of the table, such as url,lastModified,news.title (csv)")
    .addOption(explode.choices(explodedLists))
    .option("--excel", "start with a byte order mark, which Excel needs to see UTF-8 (csv)")
    .option("--no-csv-safe", "keep cells that spreadsheets take for formulas as they are (csv)")
    .optionsGroup("How it is read:")
    .option("--url <url>", "where the document comes from: relative URLs are resolved against it")
    .option("--strict", "stop at the first thing that is not well-formed")
    .option("--max-bytes <n>", "of the document, decoded: 5000, 64k, 50M (default: 100M)", byteCount)
    .optionsGroup("Messages:")
    .option("-v, --verbose", "name every problem, also those that did no harm", raised)
    .option("--no-color", "no colours on a terminal")
    .action(async (file, flags) => {
      const { parse } = await import("./parse.ts");
      done(await parse(file, flags));
    });
  return (command as unknown as Command).addHelpText("after", examples);
}

const examples = `
Examples:
  sitegrove parse sitemap.xml.gz
  curl -s https://example.org/feed | sitegrove parse - -f json

Exit codes:
  0  complete                           3  something could not be fully read
  1  something unexpected               4  not a sitemap
  2  the command line is wrong          130  stopped by Ctrl-C
`;
