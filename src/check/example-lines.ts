// Finds the lines of examples in the stored documents: pages have no line numbers, because that would slow down every crawl.
import { decodeHtml } from "../parse/xml/text.ts";
import type { SitemapTree } from "../tree/tree.ts";

/** What may get a line: an example, or an occurrence. */
export type Lineless = { readonly [Name in "url" | "value"]?: string | undefined } & { line?: number | undefined };

/** Adds the line to what is about a URL, by sitemap. Reads no further than the last of them. */
export async function findLines(
  tree: SitemapTree,
  wanted: ReadonlyMap<string, readonly Lineless[]>,
  isOver: () => Promise<boolean>,
): Promise<void> {
  const done = new Set<string>();
  for (const sitemap of tree.sitemaps()) {
    const lineless = (wanted.get(sitemap.url) ?? []).filter((each) => urlOf(each) !== undefined);
    if (lineless.length === 0 || sitemap === tree.root || sitemap.kind === "invalid" || done.has(sitemap.url)) continue;
    done.add(sitemap.url);
    if (await isOver()) return;
    const search = new LineSearch(lineless.map((each) => urlOf(each) as string));
    for await (const piece of tree.text(sitemap)) if (search.write(piece) || (await isOver())) break;
    search.end();
    for (const each of lineless) {
      const line = search.lineOf(urlOf(each) as string);
      if (line !== undefined) each.line = line;
    }
  }
}

function urlOf({ url, value }: Lineless): string | undefined {
  return url ?? (value !== undefined && /^https?:\/\/\S+$/i.test(value) ? value : undefined);
}

/** The lines of the entries of a sitemap, for pages that come in its order: one pass, with a few thousand entries in memory. */
export class EntryLines {
  readonly #text: AsyncIterator<string>;
  // The lines of entries by URL, piece by piece; `end`: how many entries there are up to the end of the piece.
  #pieces: { readonly lines: ReadonlyMap<string, number>; readonly end: number }[] = [];
  #rest = "";
  #line = 1;
  #entries = 0;
  // How many entries more than pages there were at the last page that was found: some are skipped, some are merged.
  #skipped = 0;
  #isOver = false;

  constructor(text: AsyncIterable<string>) {
    this.#text = text[Symbol.asyncIterator]();
  }

  /** `number`: that of the page in its sitemap, or of one soon after it. */
  async lineOf(url: string, number: number): Promise<number | undefined> {
    for (let at = 0; ; at++) {
      const piece = this.#pieces[at];
      const line = piece?.lines.get(url);
      if (piece !== undefined && line !== undefined) {
        this.#skipped = Math.max(this.#skipped, piece.end - number - mostAround);
        this.#pieces = this.#pieces.filter(({ end }) => end > number + this.#skipped - mostAround);
        return line;
      }
      if (piece !== undefined) continue;
      if (this.#isOver || this.#entries > number + this.#skipped + mostAround) return undefined;
      await this.#read();
      at -= 1;
    }
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#text.return?.();
  }

  async #read(): Promise<void> {
    while (this.#rest.length < enough && !this.#isOver) {
      const { done, value } = await this.#text.next();
      if (done) this.#isOver = true;
      else this.#rest += value;
    }
    const end = this.#isOver
      ? this.#rest.length
      : Math.max(this.#rest.lastIndexOf("<"), this.#rest.lastIndexOf("\n") + 1);
    const text = this.#rest.slice(0, end > 0 ? end : undefined);
    this.#rest = this.#rest.slice(text.length);
    const lines = new Map<string, number>();
    let counted = 0;
    for (const { 0: match, index } of text.matchAll(/https?:\/\/[^<>"\r\n]+/gi)) {
      if (!startsEntry(text, index)) continue;
      this.#line += lineFeedsIn(text, counted, index);
      counted = index;
      const url = asRead(match);
      if (!lines.has(url)) lines.set(url, this.#line);
      this.#entries += 1;
    }
    this.#line += lineFeedsIn(text, counted, text.length);
    this.#pieces.push({ lines, end: this.#entries });
  }
}

// Pages come in batches, entries in pieces of text: both are smaller.
const mostAround = 5000;

// A URL in XML, as a page has it.
function asRead(match: string): string {
  const written = (match.includes("]]") ? match.slice(0, match.indexOf("]]")) : match).trimEnd();
  return written.includes("&") ? decodeHtml(written) : written;
}

function lineFeedsIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let feed = text.indexOf("\n", from); feed >= 0 && feed < to; feed = text.indexOf("\n", feed + 1)) count += 1;
  return count;
}

/** Searches text in chunks for URLs, as they are written in XML or one per line. */
export class LineSearch {
  // The line where a URL is that of its entry, and its first other line.
  readonly #entries = new Map<string, number>();
  readonly #others = new Map<string, number>();
  readonly #wanted: ReadonlySet<string>;
  // URLs with characters that would end a URL elsewhere, as they are written in XML.
  readonly #odd: ReadonlyMap<string, string>;
  #rest = "";
  #line = 1;

  constructor(urls: readonly string[]) {
    this.#wanted = new Set(urls);
    this.#odd = new Map([...this.#wanted].filter((url) => /[\s<>"]/.test(url)).map((url) => [url, escaped(url)]));
  }

  lineOf(url: string): number | undefined {
    return this.#entries.get(url) ?? this.#others.get(url);
  }

  /** Returns whether all were found. */
  write(piece: string): boolean {
    this.#rest += piece;
    if (this.#rest.length < enough) return false;
    const end = Math.max(this.#rest.lastIndexOf("<"), this.#rest.lastIndexOf("\n") + 1);
    const text = end > 0 ? this.#rest.slice(0, end) : this.#rest;
    this.#rest = this.#rest.slice(text.length);
    this.#search(text);
    return this.#entries.size === this.#wanted.size;
  }

  end(): void {
    this.#search(this.#rest);
    this.#rest = "";
  }

  #search(text: string): void {
    const place = (places: Map<string, number>, url: string, at: number) => {
      if (!places.has(url)) places.set(url, this.#line + lineFeedsIn(text, 0, at));
    };
    for (const [url, written] of this.#odd) {
      const at = text.indexOf(written);
      if (at >= 0) place(this.#entries, url, at);
    }
    for (const { 0: match, index } of text.matchAll(/https?:\/\/[^\s<>"]+/gi)) {
      const url = asRead(match);
      if (this.#wanted.has(url)) place(startsEntry(text, index) ? this.#entries : this.#others, url, index);
    }
    this.#line += lineFeedsIn(text, 0, text.length);
  }
}

// The text of an element that is not part of an image or a video, or a whole line.
function startsEntry(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at).trimEnd();
  if (before === "" || /\n\s*$/.test(text.slice(Math.max(0, at - 2), at))) return !before.endsWith("=");
  return /[>[]$/.test(before) && !/(?:image:|_)loc\s*>(?:<!\[CDATA\[)?$/i.test(before);
}

function escaped(url: string): string {
  return url.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const enough = 65_536;
