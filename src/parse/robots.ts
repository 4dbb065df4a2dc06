// robots.txt: the sitemaps that it names, and its Crawl-delay.
// https://www.rfc-editor.org/rfc/rfc9309 has no Sitemap lines of its own: "Crawlers MAY interpret other records that are not
// part of the robots.txt protocol -- for example, 'Sitemaps'". So they are read as Google's parser takes them
// (https://github.com/google/robotstxt), wherever they stand: they belong to no group and end none.
//   Lenient: any key that starts with `sitemap` or `site-map`, in any case; reported unless it is `sitemap`.
//   Lenient: a missing colon after the key; quotes or angle brackets around the URL; reported.
//   Lenient: a relative URL is resolved against robots.txt; reported.
// A comment starts at a # at the beginning or after white space: one inside a URL starts its fragment.
import { problem } from "../model/problem.ts";
import type { SitemapReference } from "../model/sitemap.ts";
import { lengthFacts, trimUrl } from "../model/url.ts";
import { unwrapUrl } from "../model/url-forms.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import type { Entries, EntryParser, ParseContext, ParseOutcome } from "./entry-parser.ts";
import { type LineReader, LineSplitter } from "./lines.ts";
import { RobotsDelays } from "./robots-delays.ts";
import { UrlCollector } from "./url-collector.ts";

export class RobotsParser implements EntryParser, LineReader {
  readonly #context: ParseContext;
  readonly #lines: LineSplitter;
  readonly #urls: UrlCollector;
  readonly #delays = new RobotsDelays();
  #sitemaps: SitemapReference[] = [];
  stopped = false;
  readonly #seems: string | undefined;
  #hasRecords = false;

  /**
   * `linesBefore`: how many lines of the document were removed before the written text. `seems`: the format that the
   * document resembles, in case it has no line of a robots.txt.
   */
  constructor(context: ParseContext, options: { linesBefore?: number; seems?: string | undefined } = {}) {
    const { linesBefore = 0, seems } = options;
    this.#seems = seems;
    this.#context = context;
    this.#lines = new LineSplitter(this, context.limits.lineLength, linesBefore);
    this.#urls = new UrlCollector(context.url, context.limits.urlLength);
  }

  /** A robots.txt without sitemaps is valid, even an empty one. */
  get outcome(): ParseOutcome {
    if (this.#seems === undefined || this.#hasRecords) return { kind: "index", format: "robots" };
    return { kind: "invalid", reason: problem("not-a-sitemap", { value: this.#seems }) };
  }

  write(piece: TextPiece): Entries {
    if (!this.stopped) this.#lines.write(String(piece));
    return this.#entries();
  }

  end(): Entries {
    if (!this.stopped) this.#lines.end(this.#context.problems);
    return this.#entries();
  }

  /** The Crawl-delay for a user agent, in milliseconds. Only the first word of its name counts. */
  crawlDelay(userAgent: string): number | undefined {
    return this.#delays.delayFor(userAgent);
  }

  takeLine(text: string, from: number, to: number): void {
    if (from === to || this.stopped) return;
    const line = trimUrl(text.slice(from, to));
    const record = readRecord(line);
    if (record === undefined) return;
    if (/^site-?map/i.test(record.key)) {
      this.#hasRecords = true;
      this.#takeSitemap(record, line);
    } else if (this.#delays.takeRecord(record.key, record.value)) this.#hasRecords = true;
  }

  dropLine(): void {
    if (this.stopped) return;
    this.#context.problems.add("limit-line-length", { line: this.#lines.line, limit: this.#context.limits.lineLength });
  }

  #takeSitemap({ key, value, hasColon }: RobotsRecord, line: string): void {
    const { problems, limits } = this.#context;
    const bare = unwrapUrl(value);
    const place = { value: line, line: this.#lines.line };
    const url = bare === "" ? undefined : this.#urls.take(bare);
    const code = bare === "" ? "url-missing" : this.#urls.problem;
    if (code === "url-missing") problems.add(code, place);
    else if (code !== undefined) problems.add(code, { ...place, value: bare, ...lengthFacts(code, limits.urlLength) });
    if (url === undefined) return;
    if (!hasColon || bare !== value || key.toLowerCase() !== "sitemap") problems.add("robots-spelling", place);
    if (this.#urls.size > limits.documentEntries) {
      problems.add("limit-document-entries", { limit: limits.documentEntries, line: this.#lines.line });
      this.stopped = true;
      return;
    }
    this.#sitemaps.push({ url });
  }

  #entries(): Entries {
    const sitemaps = this.#sitemaps;
    this.#sitemaps = [];
    return { pages: [], sitemaps };
  }
}

interface RobotsRecord {
  readonly key: string;
  readonly value: string;
  readonly hasColon: boolean;
}

// `line` is trimmed, and bounded by the longest line.
function readRecord(line: string): RobotsRecord | undefined {
  const comment = commentStart(line);
  const content = comment < 0 ? line : line.slice(0, comment).trimEnd();
  const colon = content.indexOf(":");
  const key = content.slice(0, Math.max(colon, 0)).trimEnd();
  const space = lastSpace(key);
  // Lenient: `Sitemap https://example.org/a.xml`, where the first colon belongs to the URL.
  if (colon >= 0 && space >= 0 && /^https?$/i.test(key.slice(space + 1))) {
    return { key: key.slice(0, space).trimEnd(), value: content.slice(space + 1), hasColon: false };
  }
  if (colon >= 0) return { key, value: trimUrl(content.slice(colon + 1)), hasColon: true };
  // Lenient: `Sitemap /a.xml`: two words and no colon.
  const words = content.split(/[ \t]+/, 3);
  if (words.length !== 2) return undefined;
  return { key: words[0] ?? "", value: words[1] ?? "", hasColon: false };
}

function commentStart(line: string): number {
  const colon = line.indexOf(":");
  for (let at = line.indexOf("#"); at >= 0; at = line.indexOf("#", at + 1)) {
    if (at === 0 || isSpace(line, at - 1) || at - 1 === colon) return at;
  }
  return -1;
}

function lastSpace(text: string): number {
  let at = text.length - 1;
  while (at >= 0 && !isSpace(text, at)) at--;
  return at;
}

function isSpace(text: string, at: number): boolean {
  return text[at] === " " || text[at] === "\t" || text[at] === "\u00a0";
}
