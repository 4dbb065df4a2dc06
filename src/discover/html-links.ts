// The sitemaps that the HTML of a homepage names: `<link rel="sitemap" href="…">`
// (https://html.spec.whatwg.org/multipage/links.html#linkTypes). In pieces, as they come: any way to cut them gives the same links.
//   Lenient: HTML is searched for its <link> tags only, wherever they stand; how the rest is nested makes no difference.
import { decodeHTMLAttribute } from "entities/decode";
import { type HeaderList, header } from "../model/exchange.ts";
import { resolveUrl } from "../model/url.ts";
import { type HomepageLinks, isSitemap } from "./homepage-links.ts";

const longestUrl = 8192;
// In characters: a longer tag is skipped.
const longestTag = 64 * 1024;
const longestName = 16;
const longestEnd = "--!>".length;

/** Whether the response is HTML, by its headers. */
export function looksLikeHtml(headers: HeaderList): boolean {
  return /html|^$/i.test(header(headers, "content-type") ?? "");
}

export class HtmlLinks {
  readonly #url: string;
  readonly #links: HomepageLinks;
  // The `href` of the first <base> that has one, as in browsers.
  #base: string | undefined;
  // Text that cannot be decided yet: the beginning of a tag, or of the end of a comment.
  #rest = "";
  // The length at which it is looked at again.
  #needed = 0;
  // What is being skipped: a comment, or an element until its end tag.
  #skipped: "comment" | "script" | "style" | "template" | undefined;

  constructor(url: string, links: HomepageLinks) {
    this.#url = url;
    this.#links = links;
  }

  write(piece: string): void {
    this.#rest += piece;
    if (this.#rest.length >= this.#needed) this.#scan(false);
  }

  /** `isCut`: the document was not read to its end, so its last tag may be incomplete. */
  end(isCut: boolean): void {
    if (!isCut) this.#scan(true);
  }

  #scan(isWhole: boolean): void {
    const html = this.#rest;
    let at = 0;
    for (let next: number | undefined = 0; next !== undefined; next = this.#step(html, at, isWhole)) at = next;
    this.#rest = html.slice(at);
    // Doubled, so that a tag that arrives one character at a time is not parsed from its start for each of them.
    this.#needed = this.#rest.length * 2;
  }

  // Where to continue; undefined if more text is needed.
  #step(html: string, at: number, isWhole: boolean): number | undefined {
    if (at >= html.length) return undefined;
    if (this.#skipped !== undefined) return this.#skip(html, at, this.#skipped, isWhole);
    const open = html.indexOf("<", at);
    if (open === -1) return html.length;
    if (!isWhole && html.length - open <= longestName + 1) return open === at ? undefined : open;
    if (html.startsWith("<!--", open)) {
      const short = /^-?>/.exec(html.slice(open + 4, open + 6));
      if (short !== null) return open + 4 + short[0].length;
      this.#skipped = "comment";
      return open + 4;
    }
    const name = tagName(html, open + 1);
    if (name === "script" || name === "style" || name === "template") this.#skipped = name;
    // Quotes matter only in tags that are parsed; after any other tag name, the next "<" is found by searching.
    if (name !== "link" && name !== "base") return open + 1 + name.length;
    const { href, rel, type, end } = readAttributes(html, open + 1 + name.length);
    if (end > html.length && !isWhole && html.length - open < longestTag) return open === at ? undefined : open;
    if (end - open > longestTag) return open + longestTag;
    if (name === "link" && isSitemap(rel ?? "", type ?? "")) {
      this.#links.add(href ?? "", this.#base ?? this.#url, "homepage-link");
    }
    if (name === "base" && href !== undefined) {
      this.#base ??= resolveUrl(href.trim(), this.#url, longestUrl).url ?? this.#url;
    }
    return end;
  }

  // The content of these elements is not markup.
  #skip(
    html: string,
    at: number,
    what: "comment" | "script" | "style" | "template",
    isWhole: boolean,
  ): number | undefined {
    const end = what === "comment" ? /--!?>/g : /<\//g;
    end.lastIndex = at;
    const found = end.exec(html);
    if (found === null) {
      // The end may be split: its beginning may be at the end of the text.
      const rest = isWhole ? html.length : html.length - longestEnd + 1;
      return rest > at ? rest : undefined;
    }
    if (what !== "comment") {
      if (!isWhole && html.length - found.index <= longestName + 2) return found.index === at ? undefined : found.index;
      if (tagName(html, end.lastIndex) !== what) return end.lastIndex;
    }
    this.#skipped = undefined;
    return end.lastIndex;
  }
}

function tagName(html: string, start: number): string {
  let end = start;
  while (end < start + longestName && isLetter(html.charCodeAt(end))) end += 1;
  return html.slice(start, end).toLowerCase();
}

type Attributes = { href?: string; rel?: string; type?: string };

// https://html.spec.whatwg.org/multipage/parsing.html#before-attribute-name-state, without its error messages.
function readAttributes(html: string, start: number): Attributes & { end: number } {
  const attributes: Attributes = {};
  let at = start;
  for (let code = html.charCodeAt(at); at < html.length && code !== greaterThan; code = html.charCodeAt(at)) {
    if (code === slash || isSpace(code)) {
      at += 1;
      continue;
    }
    const nameStart = at;
    do at += 1;
    while (at < html.length && !endsName(html.charCodeAt(at)));
    const nameEnd = at;
    while (isSpace(html.charCodeAt(at))) at += 1;
    let [from, to] = [at, at];
    if (html.charCodeAt(at) === equals) {
      at += 1;
      while (isSpace(html.charCodeAt(at))) at += 1;
      const quote = html.charCodeAt(at);
      const isQuoted = quote === doubleQuote || quote === singleQuote;
      from = isQuoted ? at + 1 : at;
      if (isQuoted) at = html.indexOf(quote === doubleQuote ? '"' : "'", from);
      else while (at < html.length && html.charCodeAt(at) !== greaterThan && !isSpace(html.charCodeAt(at))) at += 1;
      if (at === -1) at = html.length;
      to = at;
      if (isQuoted) at += 1;
    }
    // Longer names cannot be one of these.
    const length = nameEnd - nameStart;
    if (length !== 4 && length !== 3) continue;
    const name = html.slice(nameStart, nameEnd).toLowerCase();
    if (name === "href" || name === "rel" || name === "type") {
      const value = html.slice(from, to);
      attributes[name] ??= value.includes("&") ? decodeHTMLAttribute(value) : value;
    }
  }
  return { ...attributes, end: at + 1 };
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
}

// https://infra.spec.whatwg.org/#ascii-whitespace
function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);
}

function endsName(code: number): boolean {
  return code === slash || code === greaterThan || code === equals || isSpace(code);
}

const doubleQuote = 0x22;
const singleQuote = 0x27;
const slash = 0x2f;
const equals = 0x3d;
const greaterThan = 0x3e;
