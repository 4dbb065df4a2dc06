// The sitemaps that the HTML of a homepage names: `<link rel="sitemap" href="…">`
// (https://html.spec.whatwg.org/multipage/links.html#linkTypes). In pieces, as they come: any way to cut them gives the same links.
//   Lenient: HTML is searched for its <link> tags only, wherever they stand; how the rest is nested makes no difference.
import { decodeHTMLAttribute } from "entities/decode";
import { type HeaderList, header } from "../exchange.ts";
import { resolveUrl } from "../url.ts";
import { type HomepageLinks, isSitemap } from "./homepage-links.ts";

const longestUrl = 8192;
// In characters: so much of a tag that is longer is skipped.
const longestTag = 64 * 1024;
const longestName = 16;

/** Whether the response is HTML, as far as its headers tell. */
export function looksLikeHtml(headers: HeaderList): boolean {
  return /html|^$/i.test(header(headers, "content-type") ?? "");
}

export class HtmlLinks {
  readonly #url: string;
  readonly #links: HomepageLinks;
  #base: string;
  // What was not decided yet: the beginning of a tag, or of what may end a comment.
  #rest = "";
  // Nothing can be decided before there is so much.
  #needed = 0;
  // What is being skipped: `-->` ends a comment, a name the element with that name.
  #skipped: "-->" | "script" | "style" | "template" | undefined;

  constructor(url: string, links: HomepageLinks) {
    this.#url = url;
    this.#base = url;
    this.#links = links;
  }

  write(piece: string): void {
    this.#rest += piece;
    if (this.#rest.length >= this.#needed) this.#scan(false);
  }

  /** `isCut`: the document was not read to its end, and the last tag is not what the website meant. */
  end(isCut: boolean): void {
    if (!isCut) this.#scan(true);
  }

  #scan(isWhole: boolean): void {
    const html = this.#rest;
    let at = 0;
    for (let next: number | undefined = 0; next !== undefined; next = this.#step(html, at, isWhole)) at = next;
    this.#rest = html.slice(at);
    // Twice as much next time: a tag that comes one character at a time is not read from its start for each of them.
    this.#needed = this.#rest.length * 2;
  }

  // Where to go on, or nowhere: more is needed.
  #step(html: string, at: number, isWhole: boolean): number | undefined {
    if (at >= html.length) return undefined;
    if (this.#skipped !== undefined) return this.#skip(html, at, this.#skipped, isWhole);
    const open = html.indexOf("<", at);
    if (open === -1) return html.length;
    if (!isWhole && html.length - open <= longestName + 1) return open === at ? undefined : open;
    if (html.startsWith("<!--", open)) {
      this.#skipped = "-->";
      return open + 4;
    }
    const name = tagName(html, open + 1);
    if (name === "script" || name === "style" || name === "template") this.#skipped = name;
    // Only the tags that are read need their quotes respected: from any other, the next "<" is as good a place to go on.
    if (name !== "link" && name !== "base") return open + 1 + name.length;
    const { href, rel, end } = readAttributes(html, open + 1 + name.length);
    if (end > html.length && !isWhole && html.length - open < longestTag) return open === at ? undefined : open;
    if (end - open > longestTag) return open + longestTag;
    if (name === "base") this.#base = resolveUrl(href?.trim() ?? "", this.#url, longestUrl).url ?? this.#base;
    else if (isSitemap(rel ?? "")) this.#links.add(href ?? "", this.#base, "homepage-link");
    return end;
  }

  // What stands inside of these is no markup.
  #skip(
    html: string,
    at: number,
    until: "-->" | "script" | "style" | "template",
    isWhole: boolean,
  ): number | undefined {
    const start = until === "-->" ? "-->" : "</";
    const found = html.indexOf(start, at);
    if (found === -1) {
      // Its beginning may be the end of what is there.
      const rest = isWhole ? html.length : html.length - start.length + 1;
      return rest > at ? rest : undefined;
    }
    if (until !== "-->") {
      if (!isWhole && html.length - found <= longestName + 2) return found === at ? undefined : found;
      if (tagName(html, found + 2) !== until) return found + 2;
    }
    this.#skipped = undefined;
    return found + start.length;
  }
}

function tagName(html: string, start: number): string {
  let end = start;
  while (end < start + 16 && /[a-z]/i.test(html.charAt(end))) end += 1;
  return html.slice(start, end).toLowerCase();
}

// https://html.spec.whatwg.org/multipage/parsing.html#before-attribute-name-state, without its error messages.
function readAttributes(html: string, start: number): { href?: string; rel?: string; end: number } {
  const attributes: { href?: string; rel?: string } = {};
  let at = start;
  while (at < html.length && html[at] !== ">") {
    if (/[\s/]/.test(html.charAt(at))) {
      at += 1;
      continue;
    }
    const nameStart = at;
    do at += 1;
    while (at < html.length && !/[\s/>=]/.test(html.charAt(at)));
    const name = html.slice(nameStart, at).toLowerCase();
    while (/\s/.test(html.charAt(at))) at += 1;
    let value = "";
    if (html[at] === "=") {
      at += 1;
      while (/\s/.test(html.charAt(at))) at += 1;
      const quote = html.charAt(at);
      const quoted = quote === '"' || quote === "'";
      const from = quoted ? at + 1 : at;
      if (quoted) at = html.indexOf(quote, from);
      else while (at < html.length && !/[\s>]/.test(html.charAt(at))) at += 1;
      if (at === -1) at = html.length;
      value = html.slice(from, at);
      if (quoted) at += 1;
    }
    if (name === "href" || name === "rel") attributes[name] ??= decodeHTMLAttribute(value);
  }
  return { ...attributes, end: at + 1 };
}
