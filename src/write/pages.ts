// The format `pages`: one URL per line, made printable. What lists and link checkers read.
import type { PageWriter } from "./batch.ts";
import { printable } from "./printable.ts";
import { type ShowUrl, wholeUrl } from "./strip-url.ts";

export function pagesWriter(show: ShowUrl = wholeUrl): PageWriter {
  return {
    header: "",
    write({ pages }) {
      let lines = "";
      for (const { url } of pages) lines += `${printable(show(url))}\n`;
      return lines;
    },
    writeReferences(_, references) {
      return references.map(({ url }) => `${printable(show(url))}\n`).join("");
    },
  };
}
