// Markdown that text from a website cannot break out of. https://github.github.com/gfm/
import { printable } from "./printable.ts";

/** A code span: no markup, links or mentions in it. It begins and ends with more backticks than it contains. */
export function codeSpan(text: string): string {
  const shown = printable(text);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((ticks) => ticks.length));
  if (longest === 0) return shown === "" ? "" : `\`${shown}\``;
  const fence = "`".repeat(longest + 1);
  return `${fence} ${shown} ${fence}`;
}

/** A code span in a table, where a pipe ends the cell, even in code. */
export function codeInTable(text: string): string {
  return codeSpan(text).replaceAll("|", "\\|");
}

/** A sentence that may contain code spans, but no tags. */
export function sentence(text: string): string {
  return printable(text).replaceAll("<", "&lt;").replaceAll("|", "\\|");
}
