// Finds the lines of examples in the stored documents: pages have no line numbers, because that would slow down every crawl.
import { decodeHtml } from "../parse/xml/text.ts";
import type { CheckRun } from "./context.ts";
import type { FindingDraft } from "./findings.ts";

type Example = FindingDraft["examples"][number];

/** Adds the line to examples about a URL. Reads no further than the last of them. */
export async function findLines({ tree, findings, time }: CheckRun): Promise<void> {
  const wanted = new Map<string, Example[]>();
  for (const { sitemap, examples } of findings.drafts()) {
    const lineless = examples.filter((each) => each.line === undefined && each.file === undefined && urlOf(each));
    if (lineless.length > 0) wanted.set(sitemap, [...(wanted.get(sitemap) ?? []), ...lineless]);
  }
  for (const sitemap of tree.sitemaps()) {
    const examples = wanted.get(sitemap.url);
    if (examples === undefined || sitemap === tree.root || sitemap.kind === "invalid") continue;
    wanted.delete(sitemap.url);
    if (await time.isOver()) return;
    const search = new LineSearch(examples.map((example) => urlOf(example) as string));
    for await (const piece of tree.text(sitemap)) if (search.write(piece) || time.isUp) break;
    search.end();
    for (const example of examples) {
      const line = search.lineOf(urlOf(example) as string);
      if (line !== undefined) example.line = line;
    }
  }
}

function urlOf({ url, value }: Example): string | undefined {
  return url ?? (value !== undefined && /^https?:\/\/\S+$/i.test(value) ? value : undefined);
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
      if (!places.has(url)) places.set(url, this.#line + lineFeeds(text, at));
    };
    for (const [url, written] of this.#odd) {
      const at = text.indexOf(written);
      if (at >= 0) place(this.#entries, url, at);
    }
    for (const { 0: match, index } of text.matchAll(/https?:\/\/[^\s<>"]+/gi)) {
      const written = match.includes("]]") ? match.slice(0, match.indexOf("]]")) : match;
      const url = written.includes("&") ? decodeHtml(written) : written;
      if (this.#wanted.has(url)) place(startsEntry(text, index) ? this.#entries : this.#others, url, index);
    }
    this.#line += lineFeeds(text, text.length);
  }
}

function lineFeeds(text: string, end: number): number {
  let count = 0;
  for (let feed = text.indexOf("\n"); feed >= 0 && feed < end; feed = text.indexOf("\n", feed + 1)) count += 1;
  return count;
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
