// Options about where sitemaps are looked for, which are followed and how they are parsed.
import { functionValue, oneOf, paths } from "../option-checks.ts";
import { rewrite } from "../rewrite.ts";
import type { OptionRow } from "./row.ts";

export const discoveryOptions: readonly OptionRow[] = [
  {
    name: "useRobots",
    default: true,
    shapesTree: true,
    text: "Read robots.txt for the sitemaps that it names.",
    flags: [{ flags: "-r, --no-robots", text: "do not read robots.txt", sets: false }],
  },
  {
    name: "useKnownPaths",
    type: 'boolean | "if-needed"',
    default: true,
    check: oneOf([true, false, "if-needed"]),
    shapesTree: true,
    text: "Try the well-known paths. `if-needed` skips them where robots.txt names a sitemap that can be read.",
    more: "See [Well-known paths](#well-known-paths).",
    flags: [
      {
        flags: "--known <when>",
        text: "when to try well-known paths; if-needed: unless robots.txt names a readable sitemap",
        value: { always: true, never: false, "if-needed": "if-needed" },
      },
      { flags: "-k, --no-known", text: "do not try well-known paths", sets: false },
    ],
  },
  {
    name: "useHomepage",
    default: true,
    shapesTree: true,
    text: 'Read the homepage\'s `Link` header and its `<link rel="sitemap">`.',
    flags: [{ flags: "--no-homepage", text: "do not look for sitemap links in the homepage", sets: false }],
  },
  {
    name: "extraKnownPaths",
    type: "readonly string[]",
    default: [],
    check: paths,
    shapesTree: true,
    text: "Further paths to try after the well-known ones, relative to the homepage.",
    example: '["sitemaps/all.xml"]',
    flags: [{ flags: "--known-path <path>", text: "also try this path (repeatable)", value: "texts" }],
  },
  {
    name: "useFeeds",
    default: false,
    shapesTree: true,
    text: 'Read feeds, too: those that the homepage names by `<link rel="alternate">`, and those at usual paths such as `feed` and `feed.json`.',
    flags: [{ flags: "--feeds", text: "also read the feeds of the website", sets: true }],
  },
  {
    name: "useLlms",
    default: false,
    shapesTree: true,
    text: "Read llms.txt, too: the pages that it links to, with title and section.",
    flags: [{ flags: "--llms", text: "also read llms.txt", sets: true }],
  },
  {
    name: "keepPath",
    default: false,
    shapesTree: true,
    text: "Look for robots.txt and the well-known paths below the path of the homepage first, and then at the root of its host. Otherwise the path is left out.",
    more: "For a website that lives under `/docs/`.",
    flags: [
      { flags: "--keep-path", text: "look below the path of the homepage, and at the root of its host", sets: true },
    ],
  },
  {
    name: "onlyPath",
    default: false,
    shapesTree: true,
    text: "Look below the path of the homepage alone.",
    flags: [
      {
        flags: "--only-path",
        text: "look below the path of the homepage, not at the root of its host",
        sets: true,
        conflicts: "keepPath",
      },
    ],
  },
  {
    name: "strictRobots",
    default: false,
    shapesTree: true,
    text: "Stop if robots.txt cannot be reached, as RFC 9309 asks of crawlers. Otherwise discovery goes on, and the tree is not complete.",
    flags: [{ flags: "--strict-robots", text: "stop if robots.txt cannot be reached", sets: true }],
  },
  {
    name: "rewrite",
    type: "readonly (readonly [from: string | URL, to: string | URL])[]",
    settingType: "Rewrite",
    default: [],
    check: rewrite,
    shapesTree: true,
    text: "Pages and alternates below the first URL of a pair are listed below the second; the first pair that fits counts. Where the crawl starts below the second, sitemaps below the first are fetched there, too.",
    more: "For a local server whose sitemaps name production: production is not asked. Images and videos stay as they are declared, and problems name the URL that was declared.",
    example: '[["https://example.org/", "http://localhost:3000/"]]',
    flags: [
      {
        flags: "--rewrite <from=to>",
        group: "Discovery",
        text: "list pages below FROM at TO; on a website at TO, fetch sitemaps there, too (repeatable)",
        value: "pairs",
      },
    ],
  },
];

export const filterOptions: readonly OptionRow[] = [
  {
    name: "recurse",
    type: "(child: SitemapReference, context: RecurseContext) => boolean",
    check: functionValue,
    text: "Whether to follow one child of an index. Called before anything is fetched. A child that is not followed is not in the tree.",
    example: '(child) => !child.url.includes("archive")',
  },
  {
    name: "recurseList",
    type: "(children: readonly SitemapReference[], context: RecurseContext) => readonly SitemapReference[]",
    check: functionValue,
    text: "Which children of an index to follow, and in which order. Called before `recurse`, with all of them.",
  },
];

export const parsingOptions: readonly OptionRow[] = [
  {
    name: "strict",
    default: false,
    shapesTree: true,
    text: "Stop reading an XML document at the first thing that is not well-formed. What came before is kept.",
    flags: [
      { flags: "--strict", text: "stop reading a document at the first thing that is not well-formed", sets: true },
    ],
  },
];
