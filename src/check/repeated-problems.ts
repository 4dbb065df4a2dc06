// Further examples of what the reader reported. Of each kind it keeps the first and a count; the next ones are found again in the stored
// document, which is read no further than needed.

import { type Problem, type ProblemCode, type ProblemFacts, ProblemLog, problem } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { createDocumentParser } from "../parse/document.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { isRobots } from "./site-context.ts";

/** Those after the first of each of these problems, in the order of the document: at most `most` of each. */
export async function repeatedProblems(
  tree: SitemapTree,
  sitemap: Sitemap,
  problems: readonly Problem[],
  most: number,
  signal: AbortSignal | undefined,
): Promise<readonly Problem[]> {
  const log = new RepeatedProblems(problems, most);
  const parser = createDocumentParser({ url: sitemap.url, problems: log, isRobots: isRobots(sitemap) });
  for await (const piece of tree.text(sitemap)) {
    signal?.throwIfAborted();
    parser.write(piece);
    if (log.isFull || parser.stopped) return log.found;
  }
  parser.end();
  return log.found;
}

class RepeatedProblems extends ProblemLog {
  readonly found: Problem[] = [];
  // How many are still wanted of each, and whether the first was seen.
  readonly #wanted: Map<ProblemCode, { left: number; isFirst: boolean }>;

  constructor(problems: readonly Problem[], most: number) {
    super();
    this.#wanted = new Map(
      problems.map(({ code, count = 1 }) => [code, { left: Math.min(count - 1, most), isFirst: true }]),
    );
  }

  get isFull(): boolean {
    for (const { left } of this.#wanted.values()) if (left > 0) return false;
    return true;
  }

  // Facts are gathered for as long as more are wanted.
  override has(code: ProblemCode): boolean {
    return (this.#wanted.get(code)?.left ?? 0) === 0 && super.has(code);
  }

  override add(code: ProblemCode, facts?: ProblemFacts): void {
    super.add(code, facts);
    const wanted = this.#wanted.get(code);
    if (wanted === undefined || wanted.left === 0) return;
    if (!wanted.isFirst) {
      wanted.left -= 1;
      this.found.push(problem(code, facts));
    }
    wanted.isFirst = false;
  }
}
