// Markdown that text from a website cannot break out of. https://github.github.com/gfm/
import { printable } from "./printable.ts";

/** Writes a code span, in which markup, links and mentions have no effect. Its fences are longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  const shown = printable(text);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((ticks) => ticks.length));
  if (longest === 0) return shown === "" ? "" : `\`${shown}\``;
  const fence = "`".repeat(longest + 1);
  return `${fence} ${shown} ${fence}`;
}

/** Writes a code span for a table, where a pipe ends the cell, even in code. */
export function codeInTable(text: string): string {
  return codeSpan(text).replaceAll("|", "\\|");
}

/** Escapes tags and pipes in a sentence outside a table. Its code spans stay as they are, because Markdown decodes nothing in them. */
export function sentence(text: string): string {
  return printable(text).replace(codeOrMarkup, (found, _ticks, markup?: string) =>
    markup === undefined ? found : markup === "<" ? "&lt;" : "\\|",
  );
}

// Matches escaped characters, code spans, runs of backticks that start none, and what must be escaped. An escaped backtick starts no span.
const codeOrMarkup = /\\.|(`+)(?!`).*?(?<!`)\1(?!`)|`+|([<|])/g;
