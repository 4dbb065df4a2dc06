// Text sitemaps: one URL per line.
// https://www.sitemaps.org/protocol.html#otherformats
//   "The text file must have one URL per line."
//   Lenient: blank lines, white space around a URL and any line ending are accepted.
//   Lenient: quotes or angle brackets around a URL are removed; reported.
//   Lenient: a bullet or number before a URL is ignored; reported.
//   Lenient: other columns are ignored; reported. A URL in quotes ends with them; others end at a tab, or at a comma, semicolon or bar before
//   a date or a quote. A single word after a tab may be the rest of a URL, which is invalid: a URL parser would drop the tab, which would
//   change the URL.
//   Lenient: several URLs separated by spaces, tabs, commas, semicolons, bars, `<br>` or Unicode line separators are several pages; a trailing
//   comma is ignored, and so is a date, number or change frequency after a space, and words after a space if the URL ends like a folder or a
//   file; reported. Any other space is part of the URL.
//   Lenient: a line that is not an http(s) URL is reported and skipped.
// Relative URLs are not accepted: every word would be one.
import { documentProblem, notSitemap } from "../model/problem-log.ts";
import { trimUrl } from "../model/url.ts";
import { unwrapUrl, urlStarts } from "../model/url-forms.ts";
import { parseDate } from "./dates.ts";
import type { ParseOutcome } from "./entries.ts";
import { LineParser, listItem } from "./lines.ts";
import { parseChangeFrequency, parseNumber } from "./values.ts";

export class TextParser extends LineParser {
  #hasText = false;

  get outcome(): ParseOutcome {
    if (this.sink.count("page") > 0) return { kind: "pages", format: "text" };
    const isText = this.#hasText || this.context.problems.has("limit-line-length");
    const reason = isText ? notSitemap("text without a URL") : documentProblem("empty");
    return { kind: "invalid", reason };
  }

  protected takeLine(line: string): void {
    const text = trimUrl(line);
    if (text === "") return;
    this.#hasText = true;
    const [bare = "", ...others] = plainLine.test(text) ? [text] : listedUrls(text);
    if (!httpScheme.test(bare)) {
      const isMarkup = sitemapMarkup.test(text);
      this.report(isMarkup ? "xml-malformed-tag" : otherScheme.test(bare || text) ? "url-scheme" : "text-junk", text);
      return;
    }
    if ((this.#take(bare) || others.length > 0) && bare !== text) this.report("text-extra", text);
    for (const other of others) this.#take(other);
  }

  // Adds a page. Returns whether its URL is valid and new.
  #take(bare: string): boolean {
    const url = this.takePageUrl(bare);
    if (url !== undefined) this.sink.addPage({ url });
    return url !== undefined;
  }
}

function listedUrls(text: string): string[] {
  const item = listItem.exec(text)?.[1] ?? text;
  return mayBeUrl.test(item) ? urlsOf(item) : [];
}

/** Splits a line into its URLs, nearly always one. */
export function urlsOf(text: string): string[] {
  const line = firstColumn(trimUrl(text.replaceAll(lineBreak, " ")));
  const starts = urlStarts(line, separator);
  if (starts.length > 1) {
    return starts.map((start, index) => {
      const part = line.slice(start, starts[index + 1]);
      return inQuotes(part) ?? unwrapUrl(withoutSeparators(part).split(" ", 1)[0]!);
    });
  }
  const bare = inQuotes(line) ?? unwrapUrl(line.endsWith(",") ? withoutSeparators(line) : line);
  const blank = bare.indexOf(" ");
  if (blank >= 0 && (isColumn(bare.slice(blank + 1)) || titled.test(bare)))
    return [withoutSeparators(bare.slice(0, blank))];
  const columns = bare.search(/[,;|](?:"|\d{4}-\d\d-\d\d)/);
  if (columns < 0) return [bare];
  // A number alone may be part of the URL.
  const isCut =
    bare[columns + 1] === '"' ||
    bare
      .slice(columns + 1)
      .split(/[,;|]/)
      .every(isColumn);
  return [isCut ? bare.slice(0, columns) : bare];
}

function inQuotes(text: string): string | undefined {
  return quoted.exec(text)?.[2]?.trim();
}

function withoutSeparators(text: string): string {
  let end = text.length;
  while (end > 0 && separator.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

// Removes the other columns, unless they are URLs, too, or may be the rest of the first.
function firstColumn(text: string): string {
  const tab = text.indexOf("\t");
  if (tab < 0) return text;
  if (urlColumn.test(text)) return text.replaceAll("\t", " ");
  const others = text.slice(tab + 1);
  return !singleWord.test(others) || isColumn(others) ? trimUrl(text.slice(0, tab)) : text;
}

function isColumn(text: string): boolean {
  if (!digit.test(text)) return parseChangeFrequency(text) !== undefined;
  return parseNumber(text) !== undefined || parseDate(text) !== undefined;
}

// Matches nearly every line: a URL with nothing to remove or split. After another colon, there may be another URL.
const plainLine = /^https?:\/\/[!-+\--9<=?-{}~]+$/;
const httpScheme = /^https?:/i;
// Matches a URL, or what may precede one.
const mayBeUrl = /^(?:https?:|["'<\u201c\u2018])/i;
const otherScheme = /^[a-z][a-z0-9+.-]{0,20}:\/\//i;
const urlColumn = /\t["'<\u201c\u2018]{0,2}https?:/i;
const lineBreak = /<br ?\/?>/gi;
// Matches the characters that separate two URLs.
const separator = /[ ,;|\u0085\u2028\u2029]/;
const digit = /[0-9]/;
// XML after a list of URLs is not read, so it is reported as a loss.
const sitemapMarkup = /<(?:urlset|sitemapindex|loc|rss|feed)[\s>]/i;
// Matches the first part of `"https://example.org/","2024-01-01"`.
const quoted = /^(["'])(.*?)\1(?=[\s,;|])/;
// Matches `https://example.org/a.html The title`.
const titled = /^\S+[^:/\s](?:\/|\.(?:html?|php|aspx?|jsp|pdf)) (?!.*\.\w+$)[^/?=&%]+$/i;
const singleWord = /^[^A-Z\s]\S*$/;
