// The flags of `sitegrove ls`, in words. What they do is in ls.ts, which is loaded when it is needed: the network code behind
// it takes longer to load than the help takes to print.
import type { Command as TypedCommand } from "@commander-js/extra-typings";
import { Command, Option } from "commander";
import { explodedLists } from "../write/csv-columns.ts";
import { byteCount, collected, raised, seconds, wholeNumber } from "./flag-values.ts";
import { explodeInWords, formatInWords, formats } from "./formats.ts";

export function lsCommand(done: (exitCode: number) => void): Command {
  const command = (new Command("ls") as unknown as TypedCommand)
    .summary("list the sitemaps and pages of a website")
    .description("Lists the sitemaps of a website and the pages they declare.")
    .argument("[website]", "the homepage (https:// is assumed), or an archive that --save wrote")

    .optionsGroup("What is printed:")
    .addOption(
      option("-f, --format <format>", formatInWords)
        .choices(formats)
        .default("tabtree" as const),
    )
    .option("-o, --output <file>", "write the result to a file, which is replaced only once it is whole")
    .option("-u, --strip-url", "show URLs relative to the homepage (tabtree, pages, sitemaps)")
    .option("--include <pattern>", "only pages whose URL matches (repeatable)", collected)
    .option("--exclude <pattern>", "no pages whose URL matches (repeatable)", collected)
    .option("--since <date>", "only pages modified since then: 2024-05-31, 36h, 7d, 2w")
    .option("--unique", "each page once, however many sitemaps declare it")
    .option("--limit <n>", "stop after n pages", wholeNumber(0))
    .option("--columns <names>", "columns of the table, such as url,lastModified,news.title (csv)")
    .addOption(option("--explode <list>", explodeInWords).choices(explodedLists))
    .option("--excel", "start with a byte order mark, which Excel needs to see UTF-8 (csv)")
    .option("--trailer", "end with a line that says whether the listing is complete (ndjson)")
    .option("--summary", "count the pages by sitemap and by section at the end, on standard error")
    .option("--no-csv-safe", "keep cells that spreadsheets take for formulas as they are (csv)")

    .optionsGroup("Where sitemaps are looked for:")
    .option("--sitemap <url>", "start from this sitemap, without looking for others (repeatable)", collected)
    .option("-r, --no-robots", "do not read robots.txt")
    .option("-k, --no-known", "do not try the well-known paths")
    .option("--no-homepage", "do not look for links in the homepage")
    .option("--known-path <path>", "try this path too (repeatable)", collected)
    .option("--keep-path", "look below the path of the homepage, not at the root of its host")
    .option(
      "--include-sitemap <pattern>",
      "of the children of indexes, follow only those that match (repeatable)",
      collected,
    )
    .option("--exclude-sitemap <pattern>", "do not follow sitemaps that match (repeatable)", collected)
    .option("--skip-old-sitemaps", "with --since: do not follow sitemaps whose index says that they are older")
    .option("--strict", "stop reading a document at the first thing that is not well-formed")
    .option("--strict-robots", "stop where robots.txt cannot be reached")

    .optionsGroup("What is kept:")
    .option("--save <file>", "keep everything that was received in a WARC archive (.warc or .warc.gz)")
    .option("--force", "let --save and --output replace a file")

    .optionsGroup("Network:")
    .option("--concurrency <n>", "documents fetched from one host at a time (default: 4)", wholeNumber(1))
    .option("--delay <seconds>", "pause between two requests to one host (default: 0)", seconds)
    .option("--crawl-delay", "keep to the Crawl-delay of robots.txt, up to 60 seconds")
    .option("--timeout <seconds>", "for one attempt at a document, first to last byte (default: 120)", seconds)
    .option("--retries <n>", "after failures that may pass (default: 3)", wholeNumber(0))
    .option("--header <line>", 'send "Name: value" to the website, and to nobody else (repeatable)', collected)
    .option("--user-agent <text>", "how to introduce ourselves")
    .option("--proxy <url>", 'an HTTP proxy; "environment" takes HTTP_PROXY, HTTPS_PROXY and NO_PROXY')
    .option("--allow-private", "follow websites into private networks")
    .addOption(option("--public-only", "refuse private networks, even as a start").conflicts("allowPrivate"))
    .option("--insecure", "do not check certificates")

    .optionsGroup("Limits:")
    .option("--max-bytes <n>", "of one document, decoded: 5000, 64k, 50M (default: 100M)", byteCount)
    .option("--max-sitemaps <n>", "in all (default: 50000)", wholeNumber(0))
    .option("--max-depth <n>", "of sitemaps in sitemaps (default: 11)", wholeNumber(0))
    .option("--max-time <seconds>", "for the whole website (default: none)", seconds)

    .optionsGroup("Messages:")
    .option("-v, --verbose", "say what happens, one event a line; -vv says everything", raised)
    .option("-l, --log-file <file>", "say it in this file instead; it is added to")
    .option("--no-progress", "no live view on a terminal")
    .option("--no-color", "no colours on a terminal")
    .action(async (website, flags) => {
      const { ls } = await import("./ls.ts");
      done(await ls(website, flags));
    });
  return (command as unknown as Command).addHelpText("after", examples);
}

function option<T extends string>(flags: T, description: string): TypedOption<T> {
  return new Option(flags, description) as unknown as TypedOption<T>;
}

type TypedOption<T extends string> = import("@commander-js/extra-typings").Option<T>;

const examples = `
A pattern is a text that occurs in the URL, or one with * for the whole URL ('*/blog/*', '*.pdf'),
or a regular expression between slashes.

Examples:
  sitegrove ls example.org                                  the tree, indented with tabs
  sitegrove ls example.org -f pages > urls.txt              page URLs, one a line
  sitegrove ls example.org -f ndjson | jq .lastModified     everything about each page
  sitegrove ls example.org -f csv --since 7d                what changed this week, for a spreadsheet
  sitegrove ls example.org --include '*/blog/*' --limit 100 a part of it
  sitegrove ls --sitemap https://example.org/a.xml          from given sitemaps
  sitegrove ls example.org --save site.warc.gz              and keep it
  sitegrove ls site.warc.gz -f json                         from an archive, offline

Exit codes:
  0  complete                           3  finished, but something declared could not be fully read
  1  something unexpected               4  no sitemap found
  2  the command line is wrong          130  stopped by Ctrl-C
`;
