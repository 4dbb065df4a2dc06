// The flags and help of `sitegrove ls`; those that set options of the library come from the table of options. Their
// implementation is in ls.ts, which is imported when the command runs: its network code takes longer to load than the
// help takes to print.
import { Command, Option } from "commander";
import { addCrawlFlagGroups, addCrawlFlags } from "./crawl-flags.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import { collected } from "./flag-values.ts";
import { formatInWords, formats } from "./formats.ts";
import type { LsFlags } from "./ls.ts";
import { addMessageFlags } from "./message-flags.ts";
import { addPageFlags } from "./page-flags.ts";

export function lsCommand(done: (exitCode: number) => void): Command {
  const command = new Command("ls")
    .summary("list the sitemaps and pages of a website")
    .description("Lists the sitemaps of a website and the pages they declare.")
    .argument("[websites...]", "homepages (https:// is assumed), or archives written by --save");

  command
    .optionsGroup("Output:")
    .addOption(new Option("-f, --format <format>", formatInWords).choices(formats).default("tabtree"))
    .option("-o, --output <file>", "file to write the result to, whole or not at all; an existing one needs --force")
    .option("-u, --strip-url", "show URLs relative to the homepage (tabtree, pages, sitemaps)");
  addPageFlags(command, "each page once, however many sitemaps declare it")
    .option("--trailer", "end with a line that says whether the listing is complete (ndjson)")
    .option("--summary", "count the pages by sitemap and by section at the end, on standard error")
    .option("--no-csv-safe", "keep cells that spreadsheets take for formulas as they are (csv)");

  command
    .optionsGroup("Discovery:")
    .option("--sitemap <url>", "start from this sitemap, without discovery (repeatable)", collected);
  addCrawlFlags(command, "Discovery");
  command
    .option(
      "--include-sitemap <pattern>",
      "of the children of indexes, follow only those that match (repeatable)",
      collected,
    )
    .option("--exclude-sitemap <pattern>", "do not follow sitemaps that match (repeatable)", collected)
    .option("--skip-old-sitemaps", "with --since: do not follow sitemaps that are older according to their index");

  addCrawlFlagGroups(command, "Parsing", "Archive");
  command.option("--force", "let --save and --output replace a file");

  addCrawlFlagGroups(command, "Network", "Limits");

  addMessageFlags(command).action(async (websites: readonly string[], flags: LsFlags) => {
    const { ls } = await import("./ls.ts");
    done(await ls(websites, flags));
  });
  return command.addHelpText("after", examples);
}

const examples = `
A pattern is text that occurs anywhere in the URL (blog), a wildcard pattern for the whole URL
('*/blog/*', '*.pdf'), or a regular expression between slashes.

Examples:
  sitegrove ls example.org                                  the tree, indented with tabs
  sitegrove ls example.org -f pages > urls.txt              page URLs, one per line
  sitegrove ls example.org -f ndjson | jq .lastModified     all fields of each page
  sitegrove ls example.org -f csv --since 7d                what changed this week, for a spreadsheet
  sitegrove ls example.org --include '*/blog/*' --limit 100 the first 100 pages of the blog
  sitegrove ls --sitemap https://example.org/a.xml          from given sitemaps, without discovery
  sitegrove ls example.org --save site.warc.gz              and save everything received
  sitegrove ls site.warc.gz -f json                         from an archive, offline
${exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "notFound", "unreachable", "interrupted"], {
  notFound: "the website answered, and no sitemap was found",
})}`;
