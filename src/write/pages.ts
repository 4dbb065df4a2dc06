// The format `pages`: one URL per line, made printable, for lists and link checkers.
import type { PageWriter } from "./batch.ts";
import { isPrintableLines, printable } from "./printable.ts";
import { type ShowUrl, wholeUrl } from "./strip-url.ts";

export function pagesWriter(show: ShowUrl = wholeUrl): PageWriter {
  return {
    header: "",
    write({ pages }) {
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
