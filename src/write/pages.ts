// The format `pages`: one URL per line, made printable, for lists and link checkers.
import { PlainPage, type SitemapPage } from "../model/page.ts";
import type { PageWriter } from "./batch.ts";
import { isPrintableLines, printable } from "./printable.ts";
import { type ShowUrl, wholeUrl } from "./strip-url.ts";

export function pagesWriter(show: ShowUrl = wholeUrl): PageWriter {
  return {
    header: "",
    write({ pages }) {
      const plain = show === wholeUrl ? plainLines(pages) : undefined;
      if (plain !== undefined) return plain;
      let lines = "";
      let hasLineEnds = false;
      for (const { url } of pages) {
        const shown = show(url);
        hasLineEnds ||= shown.includes("\n");
        lines += `${shown}\n`;
      }
      // Hardly any URL needs escaping: all are checked at once.
      if (!hasLineEnds && isPrintableLines(lines)) return lines;
      return pages.map(({ url }) => `${printable(show(url))}\n`).join("");
    },
    writeReferences(_, references) {
      return references.map(({ url }) => `${printable(show(url))}\n`).join("");
    },
  };
}

// Where nearly all URLs are known to be printable, only the others are looked at, one by one.
function plainLines(pages: readonly SitemapPage[]): string | undefined {
  const lines: string[] = [];
  let others = 0;
  for (const page of pages) {
    if (page instanceof PlainPage) lines.push(page.url);
    else if (++others * 8 > pages.length) return undefined;
    else lines.push(printable(page.url));
  }
  lines.push("");
  return lines.join("\n");
}
