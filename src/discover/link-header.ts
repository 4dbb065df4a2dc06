// The sitemaps that the `Link` headers of a homepage name: `Link: <…>; rel="sitemap"`
// (https://www.rfc-editor.org/rfc/rfc8288#section-3).
import type { HeaderList } from "../model/exchange.ts";
import { type HomepageLinks, isSitemap } from "./homepage-links.ts";

/** Adds the targets of `Link` headers whose relation is `sitemap`, in their order. */
export function addLinksInHeaders(headers: HeaderList, url: string, links: HomepageLinks): void {
  for (const [name, value] of headers) {
    if (name !== "link") continue;
    for (const { target, relation, type } of linkValues(value)) {
      if (isSitemap(relation, type)) links.add(target, url, "homepage-header");
    }
  }
}

/** The links of one header. */
// link-value = "<" URI-Reference ">" *( ";" name [ "=" ( token / quoted-string ) ] ), separated by commas.
export function* linkValues(value: string): Generator<{ target: string; relation: string; type: string }, void> {
  let at = 0;
  while (at < value.length) {
    const open = value.indexOf("<", at);
    const close = value.indexOf(">", open + 1);
    if (open === -1 || close === -1) return;
    let relation: string | undefined;
    let type: string | undefined;
    at = close + 1;
    while (at < value.length && value[at] !== ",") {
      const parameter = readParameter(value, at + 1);
      // "The rel parameter MUST NOT appear more than once": the first counts.
      if (parameter.name === "rel") relation ??= parameter.value;
      if (parameter.name === "type") type ??= parameter.value;
      at = parameter.end;
    }
    yield { target: value.slice(open + 1, close), relation: relation ?? "", type: type ?? "" };
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
