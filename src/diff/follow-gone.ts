// Checks a migration: requests the pages that the new side lacks at their old addresses, and reports where they lead.

import type { DiffTotals, TreeChange } from "../model/change.ts";
import type { FollowedRow, FollowVerdict } from "../model/followed.ts";
import { type Options, resolveOptions } from "../model/options.ts";
import { rewrite, rewritten } from "../model/rewrite.ts";
import { TextSet } from "../model/text-set.ts";
import { homepageOf, urlKey } from "../model/url.ts";
import { ErrorPages } from "../pages/error-pages.ts";
import { type FollowedPage, inOrder, openPageFetch } from "../pages/fetch-pages.ts";
import { isTree } from "../tree/tree.ts";
import { checkSide, type DiffSide, isBytes, isTarget } from "./diff-side.ts";
import { diffBatches, type OnSide } from "./diff-trees.ts";
import { type DiffOptions, type DiffSettings, resolveDiffOptions } from "./settings.ts";

/** Options of `followGone`. The options of a crawl apply to sides that are websites, and to the requests for old addresses. */
export interface FollowOptions extends Omit<DiffOptions, "ignore" | "only"> {
  /** Saves the responses of the old addresses to this archive. */
  save?: string | undefined;
  /** Continues from an archive that `save` wrote: addresses that it has are not requested again. */
  resume?: string | undefined;
}

/**
 * Requests every page of the old side that the new side does not list, except expired news and feed items, and reports where it leads.
 * Follows redirects, and respects robots.txt.
 *
 * @example
 * for await (const { url, verdict, finalUrl } of followGone("old.warc.gz", "https://example.org/")) console.log(verdict, url, finalUrl);
 */
export function followGone(before: DiffSide, after: DiffSide, options: FollowOptions = {}): AsyncIterable<FollowedRow> {
  const { save, resume, ...diff } = options;
  const settings = resolveDiffOptions({ ...diff, only: ["removed", "unknown"] });
  const fetch = { ...settings.crawl, save, resume };
  resolveOptions(fetch);
  for (const side of [before, after]) checkSide(side);
  return {
    async *[Symbol.asyncIterator]() {
      const totals = yield* followRows(before, after, settings, fetch);
      settings.onFinished?.(totals);
    },
  };
}

/** Like `followGone`, but returns the totals. */
export async function* followRows(
  before: DiffSide,
  after: DiffSide,
  settings: DiffSettings,
  fetch: Options,
  onSide?: OnSide,
): AsyncGenerator<FollowedRow, DiffTotals, undefined> {
  const pairs = rewrite("rewrite", settings.crawl.rewrite ?? []);
  const listed = new TextSet();
  const onListed = (url: string) => void listed.add(urlKey(url));
  const isKnown = (url: string) => listed.has(urlKey(rewritten(url, pairs)));
  const batches = diffBatches(before, after, { ...settings, onListed }, onSide);
  let step = await batches.next();
  while (!step.done && !step.value.some(isGone)) step = await batches.next();
  if (step.done) return step.value;
  async function* gone(): AsyncGenerator<Gone, void> {
    for (; !step.done; step = await batches.next()) yield* step.value.filter(isGone);
  }
  const start = step.value.find(isGone) as Gone;
  const homepage = homepageOf(oldUrl(start));
  const source = await openPageFetch(
    { homepage },
    { givenUrls: [before, after].flatMap(namedUrls), crawl: fetch, mostBytes: pageBytes },
  );
  try {
    const errors = new ErrorPages(source);
    const judge = async (change: Gone): Promise<FollowedRow> => {
      const url = oldUrl(change);
      const found = await source.follow(url);
      const { hops, finalUrl, status } = found;
      // If the new side could not be fully read, it may list more than is known.
      const isListed = isKnown(finalUrl) || (change.kind === "unknown" ? undefined : false);
      const verdict = await verdictOf(url, found, isListed, errors);
      const reason = verdict === "unknown" && found.reason !== undefined ? { reason: found.reason } : {};
      return { url, status, hops, finalUrl, listed: isListed, verdict, ...reason };
    };
    yield* inOrder(gone(), source.concurrency, judge);
    await source.finish();
    return (step as IteratorResult<unknown, DiffTotals>).value as DiffTotals;
  } finally {
    await source.close();
    await batches.return(undefined as never);
  }
}

// Returns the URLs that the caller gave, which may have private addresses. URLs from an archive or a file may not: they are not trusted.
function namedUrls(side: DiffSide): string[] {
  if (isTree(side) || isBytes(side)) return [];
  if (typeof side === "string") return isTarget(side) ? [side] : [];
  if (side instanceof URL) return [side.href];
  return "sitemaps" in side ? side.sitemaps.map(String) : [String(side.homepage)];
}

type Gone = Extract<TreeChange, { kind: "removed" | "unknown" }>;

function isGone(change: TreeChange): change is Gone {
  return change.kind === "removed" || (change.kind === "unknown" && change.missing === "after");
}

function oldUrl({ page, declaredUrl = page.url }: Gone): string {
  return declaredUrl;
}

// How many bytes of a page are read: its title, and enough text to compare, are at the beginning.
const pageBytes = 256 * 1024;

async function verdictOf(
  url: string,
  found: FollowedPage,
  isListed: boolean | undefined,
  errors: ErrorPages,
): Promise<FollowVerdict> {
  const { outcome, status = 0, hops, isLoop } = found;
  if (isLoop) return "loop";
  if (status === 404 || status === 410) return "gone";
  // A failure does not show whether the page is gone, and neither does a robots.txt that disallows it.
  if (outcome !== "found") return "unknown";
  if (await errors.isError(url, found)) return "soft-404";
  if (isListed === undefined) return "unknown";
  if (hops === 0) return "still-there";
  return isListed ? "moved" : "moved-unlisted";
}
