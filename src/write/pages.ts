// The line-based formats of pages: `pages`, one URL per line for lists and link checkers; `pages-json`, the same as a JSON array for test
// tools; and `ndjson`, one page per line as JSON with the URL of its sitemap added. https://github.com/ndjson/ndjson-spec
// All are safe for terminals; JSON is also lossless, because it can escape control characters.
import type { SitemapPage } from "../model/page.ts";
import { pageFieldRows } from "../model/page-fields.ts";
import { PageLines, type PageList } from "../model/page-list.ts";
import type { SitemapReference } from "../model/sitemap.ts";
import { hasCommands, isPrintable, jsonOf, printable } from "./printable.ts";

export interface PageBatch {
  /** The URL of the sitemap that declares the pages. */
  readonly sitemap: string;
  readonly pages: PageList;
}

/** Writes pages, and the sitemaps of an index, in one format. */
export interface PageWriter {
  /** The text before the first page. */
  readonly header: string;
  /** The text after the last one. */
  readonly footer?: string;
  write(batch: PageBatch): string;
  /** Writes the sitemaps that an index lists. */
  writeReferences(sitemap: string, references: readonly SitemapReference[]): string;
}

/**
 * Yields the header, then one chunk for each batch, so that a page is visible as soon as it is known, then the footer, even if `signal`
 * stops the writing. Splits large batches, because the text of a million pages must never be one string. `PageLines` need no splitting:
 * they come from one chunk of a document.
 */
export async function* writeBatches(
  batches: AsyncIterable<PageBatch> | Iterable<PageBatch>,
  writer: PageWriter,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { header, footer = "" } = writer;
  if (header !== "") yield header;
  try {
    for await (const { sitemap, pages } of batches) {
      const most = pages instanceof PageLines ? pages.length : batchLength;
      for (let from = 0; from < pages.length; from += most) {
        const some = pages.length <= most ? pages : pages.slice(from, from + most);
        yield writer.write({ sitemap, pages: some });
      }
    }
  } catch (error) {
    if (signal?.aborted && footer !== "") yield footer;
    throw error;
  }
  if (footer !== "") yield footer;
}

// A thousand URLs are about 64 KB.
const batchLength = 1000;

/** Returns how a URL is shown. */
export type ShowUrl = (url: string) => string;

/** Shows a URL as it is. */
export const wholeUrl: ShowUrl = (url) => url;

/** Shows URLs below the homepage as paths that start with a slash, and other URLs unchanged. */
export function stripUrl(homepage: string): ShowUrl {
  const prefix = homepage.endsWith("/") ? homepage : `${homepage}/`;
  return (url) => (url.startsWith(prefix) ? url.slice(prefix.length - 1) : url);
}

export function pagesWriter(show: ShowUrl = wholeUrl): PageWriter {
  return {
    header: "",
    write({ pages }) {
      if (pages instanceof PageLines && pages.isAscii && show === wholeUrl && !hasCommands(pages.text))
        return pages.text;
      const urls = pages.map(({ url }) => show(url));
      // Hardly any URL needs escaping, so all are checked at once.
      return `${(isPrintable(urls.join("")) ? urls : urls.map(printable)).join("\n")}\n`;
    },
    writeReferences(_, references) {
      return references.map(({ url }) => `${printable(show(url))}\n`).join("");
    },
  };
}

/** Writes a JSON array of URLs. Use it for a single list, because it remembers whether something was written. */
export function pagesJsonWriter(show: ShowUrl = wholeUrl): PageWriter {
  let separator = "\n";
  const list = (items: Iterable<{ readonly url: string }>) => {
    let lines = "";
    for (const { url } of items) {
      lines += separator + textJson(show(url));
      separator = ",\n";
    }
    return lines;
  };
  return {
    header: "[",
    footer: "\n]\n",
    write: ({ pages }) => list(pages),
    writeReferences: (_, references) => list(references),
  };
}

export function ndjsonWriter(): PageWriter {
  return {
    header: "",
    write({ sitemap, pages }) {
      const end = `,"sitemap":${textJson(sitemap)}}\n`;
      let lines = "";
      for (const page of pages) lines += openPageJson(page) + end;
      return lines;
    },
    writeReferences(sitemap, references) {
      return references.map((reference) => `${jsonOf({ kind: "sitemap", ...reference, sitemap })}\n`).join("");
    },
  };
}

/**
 * Writes a page as a JSON object without its closing brace, so that a field can be added. Most pages have only the first four fields;
 * writing these by hand takes half the time of JSON.stringify, and saves a second for a million pages.
 */
export function openPageJson(page: SitemapPage): string {
  const { url, priority, lastModified, changeFrequency } = page;
  let json = `{"url":${textJson(url)}`;
  if (priority !== undefined) json += `,"priority":${priority}`;
  if (lastModified !== undefined) json += `,"lastModified":${textJson(lastModified)}`;
  if (changeFrequency !== undefined) json += `,"changeFrequency":"${changeFrequency}"`;
  for (const name of otherFields) if (page[name] !== undefined) json += `,"${name}":${jsonOf(page[name])}`;
  return json;
}

const otherFields = pageFieldRows
  .map(({ name }) => name)
  .filter((name) => !["url", "priority", "lastModified", "changeFrequency"].includes(name));

/** Writes a text as a JSON string that is safe to print. */
export function textJson(text: string): string {
  return special.test(text) ? jsonOf(text) : `"${text}"`;
}

// Matches text that may need escaping: non-ASCII, control characters, quotes, backslashes, and the start of a command to GitHub's runner.
const special = /[^\x20-\x7e]|["\\]|##\[/;
