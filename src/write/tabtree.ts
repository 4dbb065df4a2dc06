// The format `tabtree`: the tree as an outline. Each sitemap is its URL, indented by its depth with tabs; its content
// follows one level deeper. A sitemap that could not be fully read has the reason on its line.
import type { TreeStep } from "../model/event.ts";
import { isLossy } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { inPieces } from "./pieces.ts";
import { printable } from "./printable.ts";
import { type ShowUrl, wholeUrl } from "./strip-url.ts";

/** `limitNote` replaces `limit-pages` if the caller asked for that limit. */
export function writeTabtree(
  steps: AsyncIterable<TreeStep>,
  show: ShowUrl = wholeUrl,
  limitNote?: string,
): AsyncGenerator<string, void, undefined> {
  return inPieces(outline(steps, show, limitNote));
}

async function* outline(
  steps: AsyncIterable<TreeStep>,
  show: ShowUrl,
  limitNote: string | undefined,
): AsyncGenerator<string, void, undefined> {
  let pageIndent = "";
  for await (const step of steps) {
    if (step.type === "enter") {
      const indent = "\t".repeat(step.depth);
      pageIndent = `${indent}\t`;
      // The root is the homepage: relative to itself it would be empty.
      const url = step.depth === 0 ? step.sitemap.url : show(step.sitemap.url);
      yield `${indent}${printable(url)}${remark(step.sitemap, limitNote)}\n`;
    } else if (step.type === "pages") {
      let lines = "";
      for (const { url } of step.pages) lines += `${pageIndent}${printable(show(url))}\n`;
      yield lines;
    }
  }
}

/** The note on a sitemap from an earlier run. */
export const notAskedNote = "not asked: same lastmod as before";

function remark(sitemap: Sitemap, limitNote: string | undefined): string {
  if (sitemap.kind === "invalid") return ` (not read: ${printable(sitemap.reason.message)})`;
  const notAsked = sitemap.notAsked ? ` (${notAskedNote})` : "";
  if (sitemap.complete) return notAsked;
  const lossy = sitemap.problems.filter(({ code }) => isLossy(code));
  const losses = lossy.filter(({ code }) => limitNote === undefined || code !== "limit-pages");
  if (losses.length === 0) return `${notAsked} (${lossy.length > 0 ? limitNote : "incomplete"})`;
  return `${notAsked} (incomplete: ${losses.map(({ message }) => printable(message)).join("; ")})`;
}
