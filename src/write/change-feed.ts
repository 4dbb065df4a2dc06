// The format `rss`: new pages as a feed. https://www.rssboard.org/rss-specification
// Nothing in it depends on the time of writing: the same changes give the same bytes.
import type { TreeChange } from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import type { ChangeWriter } from "./change-lines.ts";

export interface FeedOptions {
  readonly title: string;
  /** The website. */
  readonly link: string;
  readonly description: string;
}

export function changeFeedWriter({ title, link, description }: FeedOptions): ChangeWriter {
  return {
    header: `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0">
<channel>
<title>${escaped(title)}</title>
<link>${escaped(link)}</link>
<description>${escaped(description)}</description>
`,
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

// https://www.w3.org/TR/xml/#charsets, and terminal control characters.
const notXml =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
