// Writes the changes between two trees, in batches: as URLs, NDJSON, CSV, or a feed of new pages.
// https://www.rssboard.org/rss-specification
import type { TreeChange } from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import { homepageOf } from "../model/url.ts";
import { csvCell } from "./csv.ts";
import { openPageJson, textJson } from "./pages.ts";
import { jsonOf, printable } from "./printable.ts";

/** Writes changes as whole lines. */
export interface ChangeWriter {
  /** Returns the text before the changes. `first` is the first of them, if there is one. */
  header(first?: TreeChange): string;
  /** The text after the last change. */
  readonly footer: string;
  write(changes: readonly TreeChange[]): string;
}

/** The format `pages`: one page URL per line. */
export function changePagesWriter(): ChangeWriter {
  const line = (change: TreeChange) => (change.kind === "sitemap" ? "" : `${printable(change.page.url)}\n`);
  return { header: () => "", footer: "", write: (changes) => changes.map(line).join("") };
}

/** The format `ndjson`: one change per line, as JSON. */
export function changeNdjsonWriter(): ChangeWriter {
  return { header: () => "", footer: "", write: (changes) => changes.map((change) => `${json(change)}\n`).join("") };
}

function json(change: TreeChange): string {
  if (change.kind === "sitemap") return jsonOf(change);
  const { kind, page, sitemap, ...rest } = change;
  let line = `{"kind":"${kind}","page":${openPageJson(page)}},"sitemap":${textJson(sitemap)}`;
  for (const [name, value] of Object.entries(rest))
    line += `,"${name}":${name === "before" ? `${openPageJson(value as SitemapPage)}}` : jsonOf(value)}`;
  return `${line}}`;
}

export const changeCsvColumns: readonly string[] =
  "kind url change lastModified lastModifiedBefore sitemap sitemapBefore declaredUrl".split(" ");

/** The format `csv`: one change per row, after a fixed header. With `safe: false`, values are only quoted, not escaped. */
export function changeCsvWriter({ safe = true }: { safe?: boolean } = {}): ChangeWriter {
  const cell = csvCell(safe);
  return {
    header: () => `${changeCsvColumns.join(",")}\n`,
    footer: "",
    write: (changes) => changes.map((change) => `${row(change).map(cell).join(",")}\n`).join(""),
  };
}

function row(change: TreeChange): (string | undefined)[] {
  if (change.kind === "sitemap") return [change.kind, change.sitemap, change.change, "", "", "", "", ""];
  const { kind, page, sitemap } = change;
  const { url, lastModified } = page;
  if (change.kind === "moved") return [kind, url, "sitemap", lastModified, lastModified, sitemap, change.from, ""];
  if (change.kind === "changed") {
    const { fields, before, from } = change;
    const named = from === undefined ? fields : [...fields, "sitemap"];
    return [kind, url, named.join(", "), lastModified, before.lastModified, sitemap, from ?? sitemap, ""];
  }
  if (change.kind === "added") return [kind, url, "", lastModified, "", sitemap, "", ""];
  const what = change.kind === "unknown" ? `missing ${change.missing}` : "";
  const sides = what === "missing before" ? [lastModified, "", sitemap, ""] : ["", lastModified, "", sitemap];
  return [kind, url, what, ...sides, change.declaredUrl];
}

export interface FeedOptions {
  /** The names of the sides. */
  readonly names: { readonly before: string; readonly after: string };
  /** Returns the homepage of one of the sides, if it is known. */
  homepage(): string | undefined;
}

/** The format `rss`: a feed of the new pages. Nothing in it depends on the time of writing, so the same changes give the same bytes. */
export function changeFeedWriter({ names: { before, after }, homepage }: FeedOptions): ChangeWriter {
  return {
    header(first) {
      // A feed must link to a website: the homepage, if it is known, or the website of the first page.
      const page = first === undefined || first.kind === "sitemap" ? "about:blank" : homepageOf(first.page.url);
      const link = homepage() ?? page;
      return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0">
<channel>
<title>${escaped(`New pages of ${link === "about:blank" ? after : link}`)}</title>
<link>${escaped(link)}</link>
<description>${escaped(`Pages of ${after} that ${before} does not have`)}</description>
`;
    },
    footer: "</channel>\n</rss>\n",
    write: (changes) => changes.map((change) => (change.kind === "added" ? item(change) : "")).join(""),
  };
}

function item({ page }: Extract<TreeChange, { kind: "added" }>): string {
  const { url, newsStory } = page;
  const date = pubDate(page);
  return `<item>
<title>${escaped(newsStory?.title ?? url)}</title>
<link>${escaped(url)}</link>
<guid isPermaLink="true">${escaped(url)}</guid>
${date === undefined ? "" : `<pubDate>${date}</pubDate>\n`}</item>
`;
}

// "All date-times in RSS conform to the Date and Time Specification of RFC 822, with the exception that the year may be expressed
// with two characters or four characters (four preferred)."
function pubDate({ newsStory, lastModified }: SitemapPage): string | undefined {
  const date = new Date(newsStory?.publishDate ?? lastModified ?? Number.NaN);
  const year = date.getUTCFullYear();
  return Number.isNaN(year) || year < 0 || year > 9999 ? undefined : date.toUTCString().replace("GMT", "+0000");
}

function escaped(text: string): string {
  return text.replaceAll(notXml, "\ufffd").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

// Matches characters that XML does not allow (https://www.w3.org/TR/xml/#charsets), and those that control a terminal.
const notXml =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
