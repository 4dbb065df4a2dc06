// `--summary`: how many pages were listed, by sitemap and by section of the website, on standard error at the end.

import { grouped } from "../model/figures.ts";
import { parseUrl } from "../model/url.ts";
import type { PageBatch } from "../write/pages.ts";
import type { Messages } from "./messages.ts";

export class Summary {
  readonly #bySitemap = new Map<string, number>();
  readonly #bySection = new Map<string, number>();

  see({ sitemap, pages }: PageBatch): void {
    count(this.#bySitemap, sitemap, pages.length);
    for (const { url } of pages) count(this.#bySection, sectionOf(url), 1);
  }

  print(messages: Messages): void {
    print(messages, "pages by sitemap:", this.#bySitemap);
    print(messages, "pages by section:", this.#bySection);
  }
}

/** The host and the first segment of the path: `https://example.org/blog/…`. */
function sectionOf(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === null) return "other";
  const end = parsed.pathname.indexOf("/", 1);
  return end === -1 ? `${parsed.origin}/` : `${parsed.origin}${parsed.pathname.slice(0, end + 1)}…`;
}

// A website can have any number: those after the first ones are counted together.
function count(counts: Map<string, number>, name: string, more: number): void {
  const key = counts.has(name) || counts.size < mostCounted ? name : "other";
  counts.set(key, (counts.get(key) ?? 0) + more);
}

function print(messages: Messages, title: string, counts: ReadonlyMap<string, number>): void {
  if (counts.size === 0) return;
  const rows = [...counts].sort(([, a], [, b]) => b - a);
  const shown = rows.slice(0, mostShown);
  const width = grouped(shown[0]?.[1] ?? 0).length;
  messages.say(title);
  for (const [name, pages] of shown) messages.say(`  ${grouped(pages).padStart(width)}  ${name}`);
  const rest = rows.slice(mostShown);
  const pages = rest.reduce((sum, [, more]) => sum + more, 0);
  if (rest.length > 0) messages.say(`  ${grouped(pages).padStart(width)}  in ${grouped(rest.length)} others`);
}

const mostCounted = 10_000;
const mostShown = 20;
