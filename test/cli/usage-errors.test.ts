// Every sentence about a mistake on the command line, in one table: other tests assert the exit code, 2, so that rewording touches only this file.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { urlset } from "../support/documents.ts";
import { newFolder } from "../support/test-folder.ts";
import { sitegrove } from "./program.ts";

const folder = newFolder();
mkdirSync(path.join(folder, "public"));
mkdirSync(path.join(folder, "www.example.org"));
mkdirSync(path.join(folder, "full"));
for (const [name, content] of Object.entries({
  "good.xml": urlset("https://example.org/1"),
  "page.html": "<html><title>Hello</title></html>",
  "none.warc.gz": gzipSync("nothing"),
  "table.csv": "Title,Clicks\nOne,5\n",
  "cut.ndjson": '{"url":"https://example.org/1","sitemap":"https://example.org/a.xml"}\n{"url":"htt',
  "other.ndjson": '{"url":"https://example.org/1","sitemap":"https://example.org/a.xml"}\n{"url":5}\n',
  "full/other.txt": "",
  "example.org": "",
  "example.com": "https://example.com/\n",
}))
  writeFileSync(path.join(folder, name), content);
// No mistake leaves a file behind.
const names = readdirSync(folder);
afterAll(() => expect(readdirSync(folder)).toEqual(names));

const gone = "no such file or folder:";
const address = "give its URL with --url https://example.org/";
const queue = "--queue redis://127.0.0.1:1/0";

const mistakes: Record<string, string> = {
  // Headers are only for websites that the user names.
  "mcp --header X-Key:1": "--header needs --allow SITE: an agent could have it sent to any website",
  "fleet worker --queue redis://127.0.0.1:1/0 --out x --header X-Key:1":
    "--header cannot be used with a queue: whoever adds a website to it would receive the header",
  // Flags and their values
  "ls a.example --fromat json": "unknown flag '--fromat'; did you mean --format?",
  "ls a.example --lang de": "unknown flag '--lang'; see --help-all",
  "ls a.example --max-pages 5": "unknown flag '--max-pages'; did you mean --limit?",
  "mcp -n 5": "unknown flag '-n'; see --help-all",
  "audit a.example": "unknown command 'audit'; see --help",
  "ls a.example --retries x": 'Expected --retries to be a whole number, 0 or greater, got "x"',
  "ls a.example --limit many": 'Expected --limit to be a whole number, 0 or greater, got "many"',
  "ls a.example --concurrency 0": 'Expected --concurrency to be a whole number, 1 or greater, got "0"',
  "check a.example --pages some": 'Expected --pages to be all or a whole number, 1 or greater, got "some"',
  "ls a.example --max-bytes 5X": 'Expected --max-bytes to be a number of bytes, such as 5000, 64k, 50M or 1G, got "5X"',
  "ls a.example --timeout -1": 'Expected --timeout to be a time such as 500ms, 30s, 5m, 12h or 1d, got "-1"',
  "ls a.example --timeout 0": 'Expected --timeout to be a time greater than zero, such as 500ms, 30s or 5m, got "0"',
  "fleet a.example --out x --timeout 0ms":
    'Expected --timeout to be a time greater than zero, such as 500ms, 30s or 5m, got "0ms"',
  "ls a.example --since yesterday":
    'Expected --since to be a date such as 2024-05-31, or a time span such as 36h, 7d or 2w, got "yesterday"',
  "ls a.example --include /(/":
    "Expected --include to be a valid pattern: Invalid regular expression: /(/: Unterminated group",
  "ls a.example --known-path https://b.example/x":
    'Expected --known-path to be a list of paths on the website, got "https://b.example/x"',
  "ls a.example -f yaml":
    'Expected --format to be one of tabtree, pages, pages-json, json, ndjson, csv, sitemaps, sitemaps-csv, parquet, got "yaml"',
  "diff good.xml good.xml -f json":
    'Expected --format to be one of summary, ndjson, csv, pages, rss, markdown, got "json"',
  "ls a.example -f csv --separator x": "Expected --separator to be a comma, ';' or tab, got \"x\"",
  "completion tcsh": 'Expected shell to be one of bash, zsh, fish, got "tcsh"',
  "diff good.xml good.xml --only new":
    "--only: unknown name new; choose from added, removed, changed, moved, unknown, sitemap, expired",
  "diff good.xml good.xml --ignore lastmodified": "--ignore: unknown name lastmodified; did you mean `lastModified`?",
  "check good.xml --now x": 'Expected --now to be a date, such as 2026-05-31, got "x"',
  "check good.xml --off url-fragmnt": "Unknown rule `url-fragmnt`; did you mean `url-fragment`?",
  "check good.xml --off page-missing": "Unknown rule `page-missing`; did you mean `page-missing-file`?",
  "check good.xml --url ftp://example.org/": "--url takes an http or https URL, not ftp://example.org/",
  "check good.xml --map nothing": "--map takes URL=FOLDER, such as https://example.org/=public/, not nothing",
  "diff good.xml good.xml --follow --fail-on lost":
    "--fail-on: unknown name lost; choose from moved, moved-unlisted, gone, soft-404, loop, still-there, unknown",

  // Flags without an effect
  "ls a.example -f json -u": "--strip-url works only with -f tabtree, pages, pages-json and sitemaps",
  "ls a.example -f pages --separator ;": "--separator works only with -f csv",
  "ls a.example -f sitemaps-csv --columns url": "--columns works only with -f csv",
  "ls a.example -f pages --all": "--all works only with -f tabtree",
  "ls a.example -f sitemaps --since 7d": "--since filters pages, but -f sitemaps lists sitemaps",
  "ls a.example --seed 1": "--seed needs --sample",
  "ls a.example --force": "--force needs --save or --output",
  "ls a.example b.example --save x.warc": "--save works with one website: name only one",
  "ls a.example --allow-private --public-only": "--public-only cannot be used with --allow-private",
  "parse good.xml --retries 0": "--retries has no effect on files: nothing is fetched",
  "changes https://a.example/ --state x.warc --no-csv-safe": "--no-csv-safe works only with -f csv",
  "diff good.xml good.xml -f rss --only removed": "-f rss lists only new pages: use --only added",
  "diff good.xml good.xml --save x.warc.gz": "--save needs --follow",
  "diff good.xml good.xml --fail-on gone": "--fail-on needs --follow",
  "diff good.xml good.xml --follow -f rss": "--follow works only with -f summary, csv and ndjson",
  "diff good.xml good.xml --by content": "--by needs two folders of static sites",
  "check good.xml --pages 2": "--pages needs a website, because it requests pages",

  // Fleets
  [`fleet worker ${queue} -f csv`]: "-f needs --out",
  [`fleet worker ${queue} --archives`]: "--archives needs --out",
  [`fleet worker ${queue} --check`]: "--check needs --out",
  [`fleet worker ${queue} --previous x`]: "--previous needs --out",
  [`fleet worker ${queue} --out x --previous-run x`]: "--previous-run needs --previous",
  [`fleet worker ${queue} --out x --archives -f changes`]: "-f changes needs --previous",
  [`fleet worker ${queue} -f changes`]: "-f changes needs --archives, for the next run",
  "fleet a.example --out x --archives -f changes": "-f changes needs --previous",
  "fleet a.example --out x --previous x -f changes": "-f changes needs --archives, for the next run",
  "fleet worker --queue redis://:secret@127.0.0.1/0":
    "A password in the queue's URL is visible to others: set SITEGROVE_QUEUE_PASSWORD instead",
  "fleet status --queue http://127.0.0.1/": "A queue is redis://HOST/0 or rediss://HOST/0, not http://127.0.0.1/",
  [`fleet a.example ${queue} --header A:b`]: "--header is for workers: sitegrove fleet worker --queue … --header …",
  [`fleet a.example ${queue} --run a:b`]:
    "The name of a run has at most 100 letters, digits, dots, hyphens and underscores, and begins with a letter or digit",
  [`fleet ${queue}`]: "no homepages given; use --from FILE for a list, or see the examples in --help",
  "fleet --out x": "no homepages given; use --from FILE for a list, or see the examples in --help",
  "fleet a.example": "no output folder given; use --out DIR",
  "fleet --out  a.example": "missing value: --out <dir>; see --help",
  "fleet a.example --out table.csv": "table.csv is not a folder",
  "fleet a.example --out x --run a": "--run needs --queue",
  "fleet a.example --out x --undated keep": "--undated needs --since",
  "fleet a.example --out x -f yaml": 'Expected --format to be one of ndjson, csv, changes, none, got "yaml"',
  "fleet a.example --out x --retry slow":
    "--retry: unknown name slow; choose from failed, unreachable, blocked, incomplete, none, quarantined",
  "fleet a.example --out x --fail-above many": 'Expected --fail-above to be a percentage, such as 20%, got "many"',
  "fleet --from missing.txt --out x": "no such file: missing.txt",
  "fleet a.example --column a --out x": "--column needs --from",
  "fleet --from table.csv --column 0 --out x": "--column counts from 1",
  "fleet --from table.csv --column 9 --out x": "table.csv has no column 9; its columns are 2: Title, Clicks",
  "fleet --from table.csv --column site --out x": "table.csv has no column site; its columns are Title, Clicks",
  "fleet results": "give the folder of a fleet, or --queue",
  "fleet results x --run y": "--run needs --queue",
  "fleet status x": "x is not the folder of a fleet: it has no sites.ndjson",
  "fleet dataset missing --out x": "missing has no results: neither sites.ndjson nor summaries",
  "fleet dataset public --out public": "--out would overwrite the input: public",
  "fleet dataset missing": "missing flag: --out <set>; see --help",

  // Commands and what they are for
  "ls a.example -f": "missing value: -f, --format <format>; see --help",
  "ls a.example -o ": "missing value: -o, --output <file>; see --help",
  "changes a.example --state ": "missing value: --state <file>; see --help",
  "check good.xml --config ": "missing value: --config <file>; see --help",
  "lss a.example": "unknown command 'lss'; did you mean ls?",
  "fleet stauts public": "unknown command 'stauts'; did you mean status?",
  "fleet workr --stay": "unknown command 'workr'; did you mean worker?",
  ls: "no website given; --help shows examples",
  "ls --resume x.warc": "no website given; --help shows examples",
  diff: "missing argument: old; see --help",
  "diff good.xml": "missing argument: new; see --help",
  "changes https://a.example/": "missing flag: --state <file>; see --help",
  "changes https://a.example/ --sate x.warc": "unknown flag '--sate'; did you mean --state?",
  "fleet worker --qeue redis://127.0.0.1:1/0 --out x": "unknown flag '--qeue'; did you mean --queue?",
  "ls https://a.example/ --sitemap https://a.example/a.xml": "give either a website or --sitemap, not both",

  // Names
  "ls ftp://example.org/": "not an http or https URL: ftp://example.org/",
  "diff ftp://example.org/ good.xml": "not an http or https URL: ftp://example.org/",
  "ls missing.warc.gz": `${gone} missing.warc.gz`,
  "parse missing.xml": `${gone} missing.xml`,
  "parse a.example/feed": `${gone} a.example/feed; for a URL: https://a.example/feed`,
  "diff missing.xml good.xml": `${gone} missing.xml`,
  "report -- -x": `${gone} -x`,
  "report missing": `${gone} missing; for a website: https://missing/`,
  "check missing.example --url https://example.org/": `${gone} missing.example; --url and --map need a local file or folder`,
  "ls missing.example --map https://example.org/=.": `${gone} missing.example; --url and --map need a folder`,
  "check https://example.org/ --url https://example.org/": "--url and --map need a local file or folder",
  "diff good.xml good.xml --url https://example.org/": "--url and --map need a folder",
  "ls -": "standard input is not an archive; to read one sitemap from it: sitegrove parse -",
  "diff - -": "standard input can be one of the sides, not both",

  // Local files and folders
  "ls example.org":
    "example.org is an empty local file, not an archive; for the website: sitegrove ls https://example.org",
  "ls example.com":
    "example.com is a local file, but not an archive; for the website: sitegrove ls https://example.com",
  "ls good.xml": "good.xml is a local file, but not an archive; to read a local sitemap: sitegrove parse good.xml",
  "ls www.example.org": `www.example.org is a local folder, and no file in it contains its address; ${address}; for the website: sitegrove ls https://www.example.org`,
  "diff public good.xml": `public is a local folder, and no file in it contains its address; ${address}`,
  "parse public": "public is a local folder; to list it: sitegrove ls public",
  "diff good.xml page.html": "page.html is neither an archive nor a sitemap: Got an HTML page, not a sitemap",
  "diff good.xml none.warc.gz": "none.warc.gz is not a readable archive: it has no records",
  "diff table.csv good.xml":
    "table.csv is a table, and none of its columns is known to contain URLs (Title, Clicks); name one with --column",
  "diff good.xml cut.ndjson": "cut.ndjson cannot be compared: its last line is cut off",
  "diff good.xml other.ndjson": "other.ndjson cannot be compared: a line is not a page in the format of `ls -f ndjson`",

  // Outputs
  "diff good.xml good.xml -o good.xml --force": "--output would overwrite the input: good.xml",
  "parse good.xml -f pages -o page.html": "page.html exists; replace it with --force",
  "ls a.example -f csv -o pages.csv.gz": "--output does not compress: name a file without .gz, or use a pipe",
  "check good.xml -o findings.xlsx": "--output writes no .xlsx files: use -f csv and .csv",
  "parse good.xml -o missing/x": "missing/x cannot be written: no such file or directory",
  "parse good.xml -o new/": "new/ cannot be written: is a folder",
  "parse good.xml -o public --force": "public cannot be written: is a folder",
  "ls https://a.example/ --save pages.csv":
    "--save writes an archive: its name must end in .warc or .warc.gz, not pages.csv",
  "check good.xml -f json -o b -f sarif -o ./b": "-o ./b and -o b are the same file",
  "check good.xml -f json -o b -f sarif -o b": "two results would be written to b",
  "check good.xml -f parquet": "-f parquet needs a file: -o findings.parquet",
  "ls https://127.0.0.1:1/ --proxy nonsense":
    "Expected --proxy to be the URL of an http or https proxy, or `host:port`",
  "ls https://127.0.0.1:1/ --ca none.pem": "none.pem: no such file or directory",
  "ls https://127.0.0.1:1/ --ca page.html": "Expected --ca to be certificates in PEM form",
  "ls https://127.0.0.1:1/ -f parquet -o full": "full contains other files, such as other.txt; name a new folder",
  "ls a.example -f parquet": "-f parquet writes several files: name their folder with -o DIR",
  "changes https://a.example/ --state x.warc -o x.warc": "--output would overwrite the input: x.warc",
};

test.concurrent.each(Object.entries(mistakes))("2: %s", async (line, sentence) => {
  expect(await sitegrove(line, { cwd: folder })).toEqual({ code: 2, stdout: "", stderr: `sitegrove: ${sentence}\n` });
});

test("an invalid header or proxy is not repeated in the error, because it may be a secret", async () => {
  for (const words of [
    ["--header", "Bearer s3cret"],
    ["--proxy", "s3cret"],
    ["--header", "X: s3cret\u0001"],
  ]) {
    const { code, stderr } = await sitegrove(["ls", "example.org", ...words]);
    expect(code).toBe(2);
    expect(stderr).not.toContain("s3cret");
  }
});
