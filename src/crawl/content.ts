// Reads the content of one document, and reports its pages as they are read, within the budget for pages.
import type { ListedPage } from "../model/page.ts";
import { PageLines, type PageList } from "../model/page-list.ts";
import { type Problem, problem } from "../model/problem.ts";
import { notSitemap } from "../model/problem-log.ts";
import type { ParseOutcome } from "../parse/entries.ts";
import { childrenOf, type ListedChildren, noChildren } from "./children.ts";
import type { CrawlContext } from "./context.ts";
import type { Declaration } from "./frame.ts";
import { type Reading, read } from "./read.ts";
import type { FoundDocument } from "./redirects.ts";

export interface Content {
  readonly reading: Reading;
  /** What the document is, or why it is not what was declared. */
  readonly outcome: ParseOutcome;
  readonly pageCount: number;
  /** Whether the `start` event was sent. */
  readonly started: boolean;
  /** Why the rest, or the next page of a feed, was not read: the budget for pages is used up, or the feed repeats itself. */
  readonly cut: Problem | undefined;
  /** For a guess or a link of the homepage: the URL of a sitemap in the tree that lists the same URLs. This one is then not reported. */
  readonly sameAs: string | undefined;
  /** False for robots.txt, for a sitemap that the filter does not list, and after a `cut`. */
  readonly isReported: boolean;
  /** The children of an index. */
  readonly listed: ListedChildren;
  /** The next page of a feed. */
  readonly next: Pick<Declaration, "url" | "continues"> | undefined;
}

/**
 * Adds the URL of their sitemap to pages, in place, because copying a million would take half a second. `PageLines` are also returned,
 * although the type does not say so: they are read only for callers that need no more than URLs.
 */
export function listedBy(sitemap: string, pages: PageList): readonly ListedPage[] {
  if (pages instanceof PageLines) pages.sitemap = sitemap;
  else for (const page of pages as Iterable<{ sitemap?: string }>) page.sitemap = sitemap;
  return pages as PageList as readonly ListedPage[];
}

export async function readContent(
  context: CrawlContext,
  { url, document }: FoundDocument,
  entry: Declaration,
): Promise<Content> {
  const { read: readDocument = read, time, settings, budget, identities, filter, emit } = context;
  const { by, parent } = entry;
  const isRobots = by === "robots";
  const batches = readDocument({ ...time.limited(document), url, isRobots }, settings);
  const children = childrenOf(context, url, entry);
  const isListed = filter?.lists(url, parent.node.format) ?? true;
  let pageCount = 0;
  let started = false;
  let cut: Problem | undefined;

  async function report(all: PageList): Promise<void> {
    if (!started) await emit({ type: "start", url, depth: parent.depth + 1 });
    started = true;
    const taken = budget.spendPages(all.length);
    pageCount += taken;
    if (taken < all.length) cut ??= budget.pageLimit;
    const within = taken === all.length ? all : all.slice(0, taken);
    const pages = filter === undefined ? within : isListed ? await filter.pages(within) : [];
    for (const found of filter?.newProblems() ?? []) await emit(found);
    if (pages.length > 0) await emit({ type: "pages", url, pages: listedBy(url, pages) });
  }

  // Holds back the pages of a guess, or of a link of the homepage, as long as they may repeat a sitemap in the tree: discovery may find one
  // sitemap under two URLs.
  let held: PageList[] | undefined = by === undefined || by === "given" || isRobots ? undefined : [];
  let heldPages = 0;
  async function release(): Promise<void> {
    const released = held ?? [];
    held = undefined;
    for (const batch of released) if (cut === undefined && !budget.isEnough) await report(batch);
  }

  let step = await batches.next();
  while (!step.done) {
    const added = children.add(step.value.sitemaps);
    if (added !== undefined) await added;
    const pages = isRobots ? [] : (step.value.lines ?? step.value.pages);
    if (held !== undefined) {
      held.push(pages);
      heldPages += pages.length;
      if (!identities.mayHave(heldPages)) await release();
    } else if (pages.length > 0) await report(pages);
    step = await batches.next(cut === undefined && !budget.isEnough);
  }
  const sameAs = held && identities.find(step.value);
  if (sameAs === undefined) await release();
  const reading = step.value;
  const outcome = isRobots ? robotsOutcome(reading.outcome) : reading.outcome;
  const listed = outcome.kind === "index" && sameAs === undefined ? await children.end() : noChildren;
  const nextUrl = outcome.kind === "pages" ? outcome.next : undefined;
  // After the end of a feed, a website may serve the last page again, or an empty one, with yet another `next`. That would never end.
  if (nextUrl !== undefined && entry.continues === reading.identity)
    cut ??= problem("feed-next", { value: "this page repeats the one before it" });
  const next = nextUrl === undefined || cut !== undefined ? undefined : { url: nextUrl, continues: reading.identity };
  const isReported = !isRobots && isListed && cut === undefined;
  budget.spendBytes(reading.wireBytes, document.obtained);
  return { reading, outcome, pageCount, started, cut, sameAs, isReported, listed, next };
}

// A sitemap served at /robots.txt is not accepted.
function robotsOutcome(outcome: ParseOutcome): ParseOutcome {
  const isRobots = outcome.kind === "invalid" || outcome.format === "robots";
  return isRobots ? outcome : { kind: "invalid", reason: notSitemap("a sitemap in place of robots.txt") };
}
