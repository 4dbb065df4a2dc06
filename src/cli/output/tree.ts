// The tree on a terminal: guide lines instead of tabs, counts, and color for what could not be read. In pipes and files
// the tree has the format `tabtree`, byte for byte.
import picocolors from "picocolors";
import type { TreeStep } from "../../model/event.ts";
import { counted } from "../../model/figures.ts";
import { isLossy } from "../../model/problem.ts";
import type { Sitemap } from "../../model/sitemap.ts";
import type { ShowUrl } from "../../write/pages.ts";
import { printable } from "../../write/printable.ts";
import { inPieces, notAskedNote } from "../../write/trees.ts";

export function writeTerminalTree(
  steps: AsyncIterable<TreeStep>,
  show: ShowUrl,
  hasColor: boolean,
  limitNote?: string,
): AsyncGenerator<string, void, undefined> {
  return inPieces(lines(steps, show, picocolors.createColors(hasColor), limitNote));
}

async function* lines(
  steps: AsyncIterable<TreeStep>,
  show: ShowUrl,
  colors: ReturnType<typeof picocolors.createColors>,
  limitNote: string | undefined,
): AsyncGenerator<string, void, undefined> {
  const guide = (depth: number) => (depth === 0 ? "" : colors.dim("│ ".repeat(depth)));
  let pageGuide = "";
  for await (const step of steps) {
    if (step.type === "enter") {
      pageGuide = guide(step.depth + 1);
      const url = step.depth === 0 ? step.sitemap.url : show(step.sitemap.url);
      yield `${guide(step.depth)}${colors.bold(printable(url))}${remark(step.sitemap)}\n`;
    } else if (step.type === "pages") {
      let text = "";
      for (const { url } of step.pages) text += `${pageGuide}${printable(show(url))}\n`;
      yield text;
    }
  }

  function remark(sitemap: Sitemap): string {
    if (sitemap.kind === "invalid") return ` ${colors.red(printable(sitemap.reason.message))}`;
    const count =
      sitemap.kind === "pages"
        ? counted(sitemap.pageCount, "page")
        : sitemap.format === "website"
          ? ""
          : counted(sitemap.children.length, "sitemap");
    const losses = sitemap.problems
      .filter(({ code }) => isLossy(code))
      .map(({ code, message }) => (code === "limit-pages" ? limitNote : undefined) ?? printable(message));
    const loss = sitemap.complete ? "" : ` ${colors.yellow(losses.join("; ") || "incomplete")}`;
    const notAsked = sitemap.notAsked ? ` ${colors.dim(`(${notAskedNote})`)}` : "";
    return `${count === "" ? "" : ` ${colors.dim(count)}`}${notAsked}${loss}`;
  }
}
