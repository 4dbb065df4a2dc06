// Options about which pages are listed: the same for a crawl, a tree and the program.
import { since } from "../instant.ts";
import { oneOf, text } from "../option-checks.ts";
import { patterns } from "../pattern.ts";
import type { FlagRow, OptionRow } from "./row.ts";

const pattern = {
  type: "Pattern | readonly Pattern[]",
  settingType: "readonly Pattern[]",
  default: [],
  check: patterns,
};
const taking = (value: Exclude<FlagRow["value"], undefined>, flags: string, text: string) => ({
  flags: [{ flags, text, value }],
});
const setting = (flags: string, text: string) => ({ default: false, flags: [{ flags, text, sets: true }] });

export const pageOptions: readonly OptionRow[] = [
  {
    ...pattern,
    name: "include",
    text: "Only pages whose URL matches one of these patterns.",
    more: "See [patterns](command-line.md#filters); a `RegExp` is one, too.",
    example: '["https://example.org/blog/*", /news/i]',
    ...taking("texts", "--include <pattern>", "only pages whose URL matches (repeatable)"),
  },
  {
    ...pattern,
    name: "exclude",
    text: "No pages whose URL matches one of these patterns.",
    ...taking("texts", "--exclude <pattern>", "skip pages whose URL matches (repeatable)"),
  },
  {
    name: "since",
    type: "string | Date",
    settingType: "number | undefined",
    check: since,
    text: "Only pages modified since then: a date, or a time span such as `36h`, `7d` or `2w`. Where a page has no `lastModified`, the date of its news story or feed item counts.",
    example: '"7d"',
    ...taking("text", "--since <date>", "only pages modified since then: 2024-05-31, 36h, 7d, 2w"),
  },
  {
    name: "undated",
    type: '"drop" | "keep"',
    default: "drop",
    check: oneOf(["drop", "keep"]),
    text: "With `since`: what happens to pages without a date.",
    ...taking({ keep: "keep", drop: "drop" }, "--undated <what>", "with --since: pages without a date (default: drop)"),
  },
  {
    name: "sameHost",
    text: "Only pages on the host of the homepage; `www.` makes no difference.",
    ...setting("--same-host", "only pages on the host of the homepage"),
  },
  {
    name: "sameSite",
    text: "Only pages below the registrable domain of the homepage, by the Public Suffix List: `shop.example.co.uk` for `www.example.co.uk`.",
    ...setting("--same-site", "only pages on the domain of the homepage, with its subdomains"),
  },
  {
    name: "allowedFor",
    type: "string",
    check: text,
    text: "Only pages that robots.txt allows this crawler to fetch. Each host has its own, requested once. As RFC 9309 says, a missing one (4xx) allows everything; one that cannot be reached allows nothing, and is reported.",
    more: "A tree from an archive has the files of its run, and asks nobody.",
    example: '"Googlebot"',
    ...taking(
      "text",
      "--allowed-for <agent>",
      "only pages that robots.txt of their host allows this crawler, such as Googlebot",
    ),
  },
  {
    name: "unique",
    text: "Each URL once, however many sitemaps declare it.",
    ...setting("--unique", "each page once, however many sitemaps declare it"),
  },
  {
    name: "limit",
    default: Number.POSITIVE_INFINITY,
    text: "Stop after this many pages: the crawl ends.",
    ...taking("number", "--limit <n>", "stop after this many pages"),
  },
  {
    ...pattern,
    name: "includeSitemap",
    text: "Of the children of indexes, follow only those that match. Sitemaps that discovery found are read, because they may be indexes; their own pages are listed if they match.",
    ...taking("texts", "--include-sitemap <pattern>", "only read child sitemaps that match (repeatable)"),
  },
  {
    ...pattern,
    name: "excludeSitemap",
    text: "Do not follow sitemaps that match.",
    ...taking("texts", "--exclude-sitemap <pattern>", "do not read sitemaps that match (repeatable)"),
  },
  {
    name: "skipOldSitemaps",
    text: "With `since`: do not follow sitemaps that are older according to their index.",
    ...setting("--skip-old-sitemaps", "with --since: do not read sitemaps that are older according to their index"),
  },
];
