// Finds the lines of URLs in the stored documents. Pages have no line numbers, because counting lines would slow down every crawl.
import { type Rewrite, rewritten } from "../../model/rewrite.ts";
import { decodeHtml } from "../../parse/xml/text.ts";
import { partsOf, type SitemapTree } from "../../tree/tree.ts";
import type { CheckTime } from "../check-time.ts";
import { lineCounter } from "../line-counter.ts";
import { textNumber } from "../rules/url-scan.ts";

/** An example or an occurrence that may get a line number. */
export type Lineless = { readonly [Name in "url" | "value"]?: string | undefined } & { line?: number | undefined };

/** Adds line numbers to the items of each sitemap that have a URL and no line. Stops reading a document once each URL has an entry. */
export async function findLines(
  tree: SitemapTree,
  items: Iterable<readonly [sitemap: string, item: Lineless]>,
  time: CheckTime,
): Promise<void> {
  const wanted = new Map<string, { readonly item: Lineless; readonly url: string }[]>();
  for (const [sitemap, item] of items) {
    const url = item.line === undefined ? urlOf(item) : undefined;
    if (url === undefined) continue;
    const known = wanted.get(sitemap);
    if (known === undefined) wanted.set(sitemap, [{ item, url }]);
    else known.push({ item, url });
  }
  if (wanted.size === 0) return;
  const { rewrite } = partsOf(tree).settings;
  for (const sitemap of tree.sitemaps()) {
    const found = wanted.get(sitemap.url);
    if (found === undefined || sitemap === tree.root || sitemap.kind === "invalid") continue;
    // A sitemap in two indexes is in the tree twice, but read once.
    wanted.delete(sitemap.url);
    if (await time.isOver()) return;
    const lineOf = await linesOf(tree.text(sitemap), rewrite, time, new Set(found.map(({ url }) => url)));
    for (const { item, url } of found) {
      const line = lineOf(url);
      if (line !== undefined) item.line = line;
    }
  }
}

function urlOf({ url, value }: Lineless): string | undefined {
  return url ?? (value !== undefined && /^https?:\/\/\S+$/i.test(value) ? value : undefined);
}

/**
 * Finds the lines of URLs in a document: of the `wanted` ones, or of all entries up to `mostLines`. Returns a function that tells the line of a
 * URL's first entry or, if a wanted URL has none, of the first place that contains it.
 */
export async function linesOf(
  text: AsyncIterable<string>,
  rewrite: Rewrite,
  time: CheckTime,
  wanted?: ReadonlySet<string>,
): Promise<(url: string) => number | undefined> {
  // The keys are fingerprints, because the URLs would take ten times the memory.
  const entries = new Map<number, number>();
  const others = new Map<number, number>();
  for await (const found of urlsIn(text, rewrite)) {
    for (const { url, line, isEntry } of found) {
      if (wanted === undefined ? !isEntry || entries.size >= mostLines : !wanted.has(url)) continue;
      const lines = isEntry ? entries : others;
      const key = textNumber(url);
      if (!lines.has(key)) lines.set(key, line);
    }
    if (entries.size === wanted?.size || (await time.isOver())) break;
  }
  return (url) => entries.get(textNumber(url)) ?? others.get(textNumber(url));
}

const mostLines = 1_000_000;

/** A URL in a document, decoded as in a page. `isEntry` is true if it is the URL of an entry. */
interface FoundUrl {
  readonly url: string;
  readonly line: number;
  readonly isEntry: boolean;
}

// Yields the URLs of a document, in XML or one per line, in pieces that end between two URLs if possible. If `rewrite` changes a URL, yields
// both forms: pages have the new one, images and videos the one in the document.
async function* urlsIn(text: AsyncIterable<string>, rewrite: Rewrite): AsyncGenerator<readonly FoundUrl[], void> {
  let rest = "";
  let line = 1;
  const search = (piece: string) => {
    const found: FoundUrl[] = [];
    const lineAt = lineCounter(piece, line);
    for (const { 0: match, index } of piece.matchAll(writtenUrl)) {
      const written = asRead(match);
      const url = rewritten(written, rewrite);
      found.push({ url, line: lineAt(index), isEntry: startsEntry(piece, index) });
      if (url !== written) found.push({ url: written, line: lineAt(index), isEntry: false });
    }
    line = lineAt(piece.length);
    return found;
  };
  for await (const piece of text) {
    rest += piece;
    if (rest.length < enough) continue;
    const end = Math.max(rest.lastIndexOf("<"), rest.lastIndexOf("\n") + 1);
    const whole = rest.slice(0, end > 0 ? end : undefined);
    rest = rest.slice(whole.length);
    yield search(whole);
  }
  yield search(rest);
}

const enough = 65_536;
// Matches a URL in a CDATA section, an attribute, an element or a line. Each of these ends in its own way. What must come before a URL is
// looked for only where one begins: looked for everywhere, it would take hours in a document with megabytes of spaces.
const writtenUrl =
  /https?:\/\/(?:(?<=<!\[CDATA\[\s*https?:\/\/)[^\r\n]*?(?=\]\]>|[\r\n]|$)|(?<="https?:\/\/)[^<>"\r\n]+|[^<>\r\n]+)/gi;

function asRead(match: string): string {
  const written = match.trimEnd();
  return written.includes("&") ? decodeHtml(written) : written;
}

// Whether a URL is the text of an element other than the location of an image or video, or begins a line.
function startsEntry(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 40), at).trimEnd();
  if (before === "" || /\n\s*$/.test(text.slice(Math.max(0, at - 2), at))) return !before.endsWith("=");
  return /[>[]$/.test(before) && !/(?:image:|_)loc\s*>(?:<!\[CDATA\[)?$/i.test(before);
}
