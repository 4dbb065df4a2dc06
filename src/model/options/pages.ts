// Options about which pages are listed: the same for a crawl, a tree and the program.
import { since } from "../instant.ts";
import { oneOf, text } from "../option-checks.ts";
import { patterns } from "../pattern.ts";
import type { OptionRow } from "./row.ts";

const pattern = {
  type: "Pattern | readonly Pattern[]",
  settingType: "readonly Pattern[]",
  default: [],
  check: patterns,
};

export const pageOptions: readonly OptionRow[] = [
  {
    ...pattern,
    name: "include",
    text: "Only pages whose URL matches one of these patterns.",
    more: "See [patterns](command-line.md#filters); a `RegExp` is one, too.",
    example: '["https://example.org/blog/*", /news/i]',
    flags: [
      {
        flags: "--include <pattern>",
        text: "only pages whose URL matches (repeatable)",
        value: "texts",
      },
    ],
  },
  {
    ...pattern,
    name: "exclude",
    text: "No pages whose URL matches one of these patterns.",
    flags: [
      {
        flags: "--exclude <pattern>",
        text: "skip pages whose URL matches (repeatable)",
        value: "texts",
      },
    ],
  },
  {
    name: "since",
    type: "string | Date",
    settingType: "number | undefined",
    check: since,
    text: "Only pages modified since then: a date, or a time span such as `36h`, `7d` or `2w`. Where a page has no `lastModified`, the date of its news story or feed item counts.",
    example: '"7d"',
    flags: [
      {
        flags: "--since <date>",
        text: "only pages modified since then: 2024-05-31, 36h, 7d, 2w",
        value: "text",
      },
    ],
  },
  {
    name: "undated",
    type: '"drop" | "keep"',
    default: "drop",
    check: oneOf(["drop", "keep"]),
    text: "With `since`: what happens to pages without a date.",
    flags: [
      {
        flags: "--undated <what>",
        text: "with --since: pages without a date (default: drop)",
        value: { keep: "keep", drop: "drop" },
      },
    ],
  },
  {
    name: "sameHost",
    default: false,
    text: "Only pages on the host of the homepage; `www.` makes no difference.",
    flags: [{ flags: "--same-host", text: "only pages on the host of the homepage", sets: true }],
  },
  {
    name: "sameSite",
    default: false,
    text: "Only pages below the registrable domain of the homepage, by the Public Suffix List: `shop.example.co.uk` for `www.example.co.uk`.",
    flags: [
      {
        flags: "--same-site",
        text: "only pages on the domain of the homepage, with its subdomains",
        sets: true,
      },
    ],
  },
  {
    name: "allowedFor",
    type: "string",
    check: text,
    text: "Only pages that robots.txt allows this crawler to fetch. Each host has its own, requested once. As RFC 9309 says, a missing one (4xx) allows everything; one that cannot be reached allows nothing, and is reported.",
    more: "A tree from an archive has the files of its run, and asks nobody.",
    example: '"Googlebot"',
    flags: [
      {
        flags: "--allowed-for <agent>",
        text: "only pages that robots.txt of their host allows this crawler, such as Googlebot",
        value: "text",
      },
    ],
  },
  {
    name: "unique",
    default: false,
    text: "Each URL once, however many sitemaps declare it.",
    flags: [
      {
        flags: "--unique",
        text: "each page once, however many sitemaps declare it",
        sets: true,
      },
    ],
  },
  {
    name: "limit",
    default: Number.POSITIVE_INFINITY,
    text: "Stop after this many pages: the crawl ends.",
    flags: [{ flags: "--limit <n>", text: "stop after this many pages", value: "number" }],
  },
  {
    ...pattern,
    name: "includeSitemap",
    text: "Of the children of indexes, follow only those that match. Sitemaps that discovery found are read, because they may be indexes; their own pages are listed if they match.",
    flags: [
      {
        flags: "--include-sitemap <pattern>",
        text: "only read child sitemaps that match (repeatable)",
        value: "texts",
      },
    ],
  },
  {
    ...pattern,
    name: "excludeSitemap",
    text: "Do not follow sitemaps that match.",
    flags: [
      {
        flags: "--exclude-sitemap <pattern>",
        text: "do not read sitemaps that match (repeatable)",
        value: "texts",
      },
    ],
  },
  {
    name: "skipOldSitemaps",
    default: false,
    text: "With `since`: do not follow sitemaps that are older according to their index.",
    flags: [
      {
        flags: "--skip-old-sitemaps",
        text: "with --since: do not read sitemaps that are older according to their index",
        sets: true,
      },
    ],
  },
];
