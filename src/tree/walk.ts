// Walks through a tree, depth first and in declared order. Every node can be walked from, whatever its kind.
import type { IndexSitemap, PagesSitemap, Sitemap } from "../model/sitemap.ts";

/** The node itself, then everything below it. */
export function* walkSitemaps(from: Sitemap): Generator<Sitemap, void> {
  for (const step of walkNodes(from)) if (step.type === "enter") yield step.sitemap;
}

/** Entering and leaving of each node. An explicit stack: a website chooses how deep its indexes go. */
export function* walkNodes(
  from: Sitemap,
): Generator<{ type: "enter" | "leave"; sitemap: Sitemap; depth: number }, void> {
  const stack: { index: IndexSitemap; next: number }[] = [];
  let node: Sitemap | undefined = from;
  for (;;) {
    if (node !== undefined) {
      yield { type: "enter", sitemap: node, depth: stack.length };
      if (node.kind === "index") stack.push({ index: node, next: 0 });
      else yield { type: "leave", sitemap: node, depth: stack.length };
    }
    const top = stack.at(-1);
    if (top === undefined) return;
    node = top.index.children[top.next];
    top.next += 1;
    if (node !== undefined) continue;
    stack.pop();
    yield { type: "leave", sitemap: top.index, depth: stack.length };
  }
}

/** The sitemaps with pages, in the order in which their pages come. */
export function* walkPages(from: Sitemap): Generator<PagesSitemap, void> {
  for (const sitemap of walkSitemaps(from)) if (sitemap.kind === "pages") yield sitemap;
}
