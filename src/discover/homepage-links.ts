// The sitemaps that a homepage names: `Link: <…>; rel="sitemap"` (https://www.rfc-editor.org/rfc/rfc8288#section-3) and
// `<link rel="sitemap" href="…">` (https://html.spec.whatwg.org/multipage/links.html#linkTypes).
//   Lenient: HTML is searched for its <link> tags only; how the rest is nested makes no difference.
import { decodeHTMLAttribute } from "entities/decode";
import { type HeaderList, header } from "../exchange.ts";
import { resolveUrl } from "../url.ts";
import type { Candidate } from "./candidates.ts";

// A homepage that names more is not describing its sitemaps.
const mostLinks = 100;
const longestUrl = 8192;

/** The targets of `Link` headers whose relation is `sitemap`, in their order. */
export function linksInHeaders(headers: HeaderList, url: string): Candidate[] {
  const found: Candidate[] = [];
  for (const [name, value] of headers) {
    if (name !== "link") continue;
    for (const { target, relation } of linkValues(value)) {
      if (isSitemap(relation)) add(found, target, url, "homepage-header");
    }
  }
  return found;
}

/** The targets of `<link rel="sitemap">` in an HTML text, in their order. */
export function linksInHtml(html: string, url: string): Candidate[] {
  const found: Candidate[] = [];
  let base = url;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) break;
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    const name = tagName(html, open + 1);
    // Only the tags that are read need their quotes respected: from any other, the next "<" is as good a place to go on.
    const { href, rel, end } =
      name === "link" || name === "base" ? readAttributes(html, open + 1 + name.length) : { end: open + 1 };
    if (name === "base") base = resolveUrl(href?.trim() ?? "", url, longestUrl).url ?? base;
    if (name === "link" && isSitemap(rel ?? "")) add(found, href ?? "", base, "homepage-link");
    // What stands inside these is no markup.
    at = name === "script" || name === "style" || name === "template" ? afterElement(html, name, end) : end;
  }
  return found;
}

/** Whether the response is HTML, as far as its headers tell. */
export function looksLikeHtml(headers: HeaderList): boolean {
  return /html|^$/i.test(header(headers, "content-type") ?? "");
}

function add(found: Candidate[], target: string, base: string, by: Candidate["by"]): void {
  const { url } = resolveUrl(target.trim(), base, longestUrl);
  if (url !== undefined && found.length < mostLinks && !found.some((other) => other.url === url))
    found.push({ url, by });
}

function isSitemap(relation: string): boolean {
  return relation
    .toLowerCase()
    .split(/[\t\n\f\r ]+/)
    .includes("sitemap");
}

// link-value = "<" URI-Reference ">" *( ";" name [ "=" ( token / quoted-string ) ] ), separated by commas.
function* linkValues(value: string): Generator<{ target: string; relation: string }> {
  let at = 0;
  while (at < value.length) {
    const open = value.indexOf("<", at);
    const close = value.indexOf(">", open + 1);
    if (open === -1 || close === -1) return;
    let relation: string | undefined;
    at = close + 1;
    while (at < value.length && value[at] !== ",") {
      const parameter = readParameter(value, at + 1);
      // "The rel parameter MUST NOT appear more than once": the first counts.
      if (parameter.name === "rel") relation ??= parameter.value;
      at = parameter.end;
    }
    yield { target: value.slice(open + 1, close), relation: relation ?? "" };
    at += 1;
  }
}

function readParameter(text: string, start: number): { name: string; value: string; end: number } {
  let at = start;
  while (at < text.length && !"=;,".includes(text.charAt(at))) at += 1;
  const name = text.slice(start, at).trim().toLowerCase();
  if (text[at] !== "=") return { name, value: "", end: at };
  at += 1;
  while (text[at] === " " || text[at] === "\t") at += 1;
  if (text[at] !== '"') {
    const from = at;
    while (at < text.length && !";,".includes(text.charAt(at))) at += 1;
    return { name, value: text.slice(from, at).trim(), end: at };
  }
  let value = "";
  for (at += 1; at < text.length && text[at] !== '"'; at += 1) {
    if (text[at] === "\\") at += 1;
    value += text[at] ?? "";
  }
  at += 1;
  while (at < text.length && !";,".includes(text.charAt(at))) at += 1;
  return { name, value, end: at };
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

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
}

function afterElement(html: string, name: string, from: number): number {
  for (let at = html.indexOf("</", from); at !== -1; at = html.indexOf("</", at + 2)) {
    if (tagName(html, at + 2) === name) return at + 2;
  }
  return html.length;
}
