// The tree on a terminal: guide lines instead of tabs, counts, the first few pages of each sitemap, and color for what could not be read.
// Pipes and files get the format `tabtree` instead.
import type { TreeStep } from "../model/event.ts";
import { counted, grouped } from "../model/figures.ts";
import { isLossy, rootCauses } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { createColors } from "./colors.ts";
import type { ShowUrl } from "./pages.ts";
import { printable } from "./printable.ts";

interface TreeStyle {
  readonly show: ShowUrl;
  readonly color: boolean;
  /** Whether every page is shown. */
  readonly all: boolean;
  /** Shown instead of the message of `limit-pages`, if the user set that limit. */
  readonly limitNote?: string | undefined;
}

// How many pages of one sitemap are shown.
const fewPages = 3;

export async function* writeTerminalTree(
  steps: AsyncIterable<TreeStep>,
  { show, color, all, limitNote }: TreeStyle,
): AsyncGenerator<string, void> {
  const colors = createColors(color);
  const guide = (depth: number) => (depth === 0 ? "" : colors.dim("│ ".repeat(depth)));
  let pageGuide = "";
  let hint = " (--all shows them)";
  // For the current sitemap: how many pages were shown and hidden, and the URL of the first hidden one.
  let [shown, hidden, next] = [0, 0, ""];
  for await (const step of steps) {
    if (step.type === "enter") {
      pageGuide = guide(step.depth + 1);
      const url = step.depth === 0 ? step.sitemap.url : show(step.sitemap.url);
      yield `${guide(step.depth)}${colors.bold(printable(url))}${remark(step.sitemap)}\n`;
    } else if (step.type === "pages") {
      let text = "";
      const room = all ? step.pages.length : Math.max(fewPages - shown, 0);
      for (const { url } of step.pages.slice(0, room)) text += `${pageGuide}${printable(show(url))}\n`;
      yield text;
      if (hidden === 0) next = step.pages[room]?.url ?? "";
      shown += Math.min(room, step.pages.length);
      hidden += Math.max(step.pages.length - room, 0);
    } else {
      // A single hidden page is shown after all, because a note would take a line, too.
      if (hidden === 1) yield `${pageGuide}${printable(show(next))}\n`;
      if (hidden > 1) {
        yield `${pageGuide}${colors.dim(`… ${grouped(hidden)} more${hint}`)}\n`;
        hint = "";
      }
      [shown, hidden] = [0, 0];
    }
  }

  function remark(sitemap: Sitemap): string {
    if (sitemap.kind === "invalid") return ` ${colors.red(printable(sitemap.reason.message))}`;
    let count = "";
    if (sitemap.kind === "pages") count = ` ${colors.dim(counted(sitemap.pageCount, "page"))}`;
    else if (sitemap.format !== "website") count = ` ${colors.dim(counted(sitemap.children.length, "sitemap"))}`;
    const losses = rootCauses(sitemap.problems.filter(({ code }) => isLossy(code))).map(
      ({ code, message }) => (code === "limit-pages" ? limitNote : undefined) ?? printable(message),
    );
    const loss = sitemap.complete ? "" : ` ${colors.yellow(losses.join("; ") || "incomplete")}`;
    return `${count}${loss}`;
  }
}
