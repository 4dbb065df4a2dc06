// Collects the items of an async iterable.
import type { ProblemCode } from "../../src/model/problem.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";

export async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export async function urlsOf(pages: AsyncIterable<{ readonly url: string }>): Promise<string[]> {
  return (await listOf(pages)).map(({ url }) => url);
}

/** The codes of all problems of a tree. */
export function codesOf(tree: Pick<SitemapTree, "problems">): ProblemCode[] {
  return Array.from(tree.problems(), ({ problem }) => problem.code);
}

/** A tree with its pages as one string, because comparing the values one by one takes longer than reading them. */
export async function contentOf(tree: SitemapTree): Promise<string> {
  return JSON.stringify([tree, await listOf(tree.pages())]);
}
