// What a page tells search engines: the robots and canonical tags and the alternate pages in its HTML and in its
// headers. HTML is only searched for tags, in linear time, however hostile it is.
import { type HeaderList, header } from "../model/exchange.ts";
import { parseUrl } from "../model/url.ts";

export interface PageHead {
  /** Which crawlers must not index it, in lower case; `robots` means all. */
  readonly noindex: ReadonlySet<string>;
  /** The URL that it names as canonical, absolute. */
  readonly canonical: string | undefined;
  /** By language, in lower case. */
  readonly alternates: ReadonlyMap<string, string>;
}

export function readPageHead(url: string, headers: HeaderList, html: string): PageHead {
  const noindex = new Set<string>();
  for (const [name, value] of headers) if (name === "x-robots-tag") readRobotsTag(value, noindex);
  let base = url;
  let canonical = linkHeader(header(headers, "link") ?? "");
  const alternates = new Map<string, string>();
  for (const { name, attributes } of tagsOf(html)) {
    const { href = "" } = attributes;
    if (name === "base") base = parseUrl(href, url)?.href ?? base;
    else if (name === "meta") {
      const agent = attributes["name"]?.trim().toLowerCase() ?? "";
      if (isNoindex(attributes["content"] ?? "")) noindex.add(agent);
    } else {
      const rel = (attributes["rel"] ?? "").toLowerCase().split(/\s+/);
      const language = attributes["hreflang"]?.trim().toLowerCase();
      if (rel.includes("canonical") && href !== "") canonical ??= parseUrl(href.trim(), base)?.href;
      if (rel.includes("alternate") && language && alternates.size < mostAlternates) {
        alternates.set(language, parseUrl(href.trim(), base)?.href ?? href);
      }
    }
  }
  return { noindex, canonical: canonical && parseUrl(canonical, base)?.href, alternates };
}

// https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag#xrobotstag: `googlebot: noindex, nofollow`
function readRobotsTag(value: string, noindex: Set<string>): void {
  let agent = "robots";
  for (const part of value.split(",")) {
    const [, name, rest = ""] = /^\s*([\w-]+)\s*:(.*)$/s.exec(part) ?? [];
    const isScoped = name !== undefined && !/^(?:max-|unavailable_after)/i.test(name);
    if (isScoped) agent = name.toLowerCase();
    if (isNoindex(isScoped ? rest : part)) noindex.add(agent);
  }
}

function isNoindex(content: string): boolean {
  return content.split(",").some((word) => /^\s*(?:noindex|none)\s*$/i.test(word));
}

// https://www.rfc-editor.org/rfc/rfc8288#section-3, as far as rel="canonical" goes.
function linkHeader(value: string): string | undefined {
  for (const link of value.split(/,(?=\s*<)/)) {
    const end = link.indexOf(">");
    const start = link.indexOf("<");
    if (start < 0 || end < start) continue;
    const parameters = link.slice(end + 1).split(";");
    if (parameters.some(isCanonical)) return link.slice(start + 1, end).trim();
  }
  return undefined;
}

function isCanonical(parameter: string): boolean {
  const [name = "", value = ""] = parameter.split("=", 2);
  return name.trim().toLowerCase() === "rel" && /\bcanonical\b/i.test(value);
}

interface Tag {
  readonly name: "meta" | "link" | "base";
  readonly attributes: Readonly<Record<string, string>>;
}

function* tagsOf(html: string): Generator<Tag, void> {
  for (let at = html.indexOf("<"); at >= 0; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      const comment = /<!--(?:-?>|[\s\S]*?--!?>)/y;
      comment.lastIndex = at;
      if (!comment.test(html)) return;
      at = comment.lastIndex;
      continue;
    }
    const name = /^[a-z]{1,12}(?=[\s/>])/i.exec(html.slice(at + 1, at + 14))?.[0]?.toLowerCase() ?? "";
    at += 1 + name.length;
    const closing = closingTags[name];
    if (closing !== undefined) {
      // The content of these elements is not markup.
      closing.lastIndex = at;
      const end = closing.exec(html);
      if (end === null) return;
      at = end.index + 2;
    } else if (name === "meta" || name === "link" || name === "base") {
      const end = endOfTag(html, at);
      // A tag that does not end: nothing after it can be read.
      if (end < 0) return;
      yield { name, attributes: attributesOf(html.slice(at, Math.min(end, at + longestTag))) };
      at = end;
    }
  }
}

function endOfTag(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const character = html[at]!;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return at;
    else if (character === '"' || character === "'") quote = character;
  }
  return -1;
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null);
  for (const [, name = "", double, single, bare] of text.matchAll(attribute)) {
    attributes[name.toLowerCase()] ??= decoded(double ?? single ?? bare ?? "");
  }
  return attributes;
}

function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const attribute = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const closingTags: Readonly<Record<string, RegExp>> = {
  script: /<\/script/gi,
  style: /<\/style/gi,
  template: /<\/template/gi,
  textarea: /<\/textarea/gi,
  title: /<\/title/gi,
};
const longestTag = 16_384;
const mostAlternates = 1000;
