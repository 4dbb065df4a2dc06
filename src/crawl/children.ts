// Collects the children of an index while it is read: those that the filter, `recurse` and `recurseList` accept. Of these, the ones that
// no budget can reach are only counted, because a website can list any number.
import { unexpected } from "../model/option-checks.ts";
import type { SitemapReference } from "../model/sitemap.ts";
import { detached } from "../model/text.ts";
import type { CrawlContext } from "./context.ts";
import type { Declaration, Frame } from "./frame.ts";

export interface Children {
  /** Adds references. Returns undefined if there is nothing to await. */
  add(references: readonly SitemapReference[]): Promise<void> | undefined;
  /** Returns the children. Call this after the last reference was added. */
  end(): Promise<ListedChildren>;
}

export type ListedChildren = Pick<Frame, "references" | "withinBudget" | "unlisted">;

export const noChildren: ListedChildren = { references: [], withinBudget: 0, unlisted: 0 };

/** `url` is the URL of the index. */
export function childrenOf(
  crawl: Pick<CrawlContext, "budget" | "settings" | "filter" | "omitMissing">,
  url: string,
  { parent, by }: Pick<Declaration, "parent" | "by">,
): Children {
  const { budget, settings, filter, omitMissing } = crawl;
  // Each child counts against the budget for documents, unless it is missing in an archive. One more is kept, for the problem to name.
  const most = omitMissing ? Number.POSITIVE_INFINITY : budget.documentsLeft + 1;
  const { recurse, recurseList } = settings;
  const context = { parent: url, ancestors: [...urlsAbove(parent), url], depth: parent.depth + 2 };
  const listed: SitemapReference[] = [];
  let withinBudget = Number.POSITIVE_INFINITY;
  let unlisted = 0;
  const keep = (reference: SitemapReference) => {
    if (listed.length >= most || listed.length > withinBudget) {
      unlisted += 1;
      return;
    }
    // The first reference beyond the budget is kept, so that the problem can name it.
    if (!budget.spendUrl(reference)) withinBudget = listed.length;
    // A substring would keep the whole document in memory.
    const { lastModified } = reference;
    const dated = lastModified === undefined ? {} : { lastModified: detached(lastModified) };
    listed.push({ ...reference, url: detached(reference.url), ...dated });
  };
  async function takeAll(references: readonly SitemapReference[]): Promise<void> {
    for (const reference of references) {
      if (filter?.follows(reference, by === "robots") === false) continue;
      // Only a boolean is accepted: the result of `match`, for example, would never be false.
      const isFollowed: unknown = recurse === undefined ? true : await recurse(reference, context);
      if (typeof isFollowed !== "boolean") throw unexpected("recurse()", "true or false", isFollowed);
      if (isFollowed) keep(reference);
    }
  }
  return {
    add(references) {
      // `recurseList` gets all references at once.
      if (recurseList !== undefined) for (const reference of references) listed.push(reference);
      else if (recurse !== undefined || filter !== undefined) return takeAll(references);
      else for (const reference of references) keep(reference);
      return undefined;
    },
    async end() {
      const chosen: unknown = recurseList === undefined ? [] : await recurseList(listed.splice(0), context);
      if (!isReferences(chosen)) throw unexpected("recurseList()", "a list of children", chosen);
      await takeAll(chosen);
      return { references: listed, withinBudget, unlisted };
    },
  };
}

function isReferences(value: unknown): value is readonly SitemapReference[] {
  return Array.isArray(value) && value.every((item: Partial<SitemapReference> | null) => typeof item?.url === "string");
}

function urlsAbove(frame: Frame): string[] {
  const urls: string[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) urls.unshift(at.node.url);
  return urls;
}
