// The sentences that the summaries of a diff share, in text and in Markdown.
import type {
  ChangeGroup,
  ChangeKind,
  DiffSideTotals,
  DiffSummary,
  PageChange,
  SitemapChange,
} from "../model/change.ts";
import { changeKinds } from "../model/change.ts";
import { counted } from "../model/figures.ts";
import type { SitemapPage } from "../model/page.ts";

/** How much was compared. */
export function sizesInWords({ totals }: DiffSummary): string {
  const side = ({ pages, sitemaps, complete }: DiffSideTotals) =>
    `${counted(pages, "page")} in ${counted(sitemaps, "list of pages", "lists of pages")}${complete ? "" : ", incomplete"}`;
  return `${side(totals.before)} → ${side(totals.after)}`;
}

/** The kinds that were asked for and occur, in their order. */
export function wantedKinds({ kinds, totals }: DiffSummary): { readonly kind: ChangeKind; readonly count: number }[] {
  return changeKinds
    .map((kind) => ({ kind, count: kind === "sitemap" ? totals.sitemaps : totals[kind] }))
    .filter(({ kind, count }) => kinds.has(kind) && count > 0);
}

export function kindInWords(kind: ChangeKind, count: number, isTitle = false): string {
  const words = kind === "sitemap" ? (count === 1 ? "sitemap is different" : "sitemaps are different") : kind;
  return isTitle ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

/** A remark about a kind of change. Flags are named as on the command line. */
export function remarkOn(kind: ChangeKind, { totals }: DiffSummary): string {
  const { changed, changedOnlyLastModified: onlyDate } = totals;
  if (kind === "changed" && onlyDate > 0) {
    const share = onlyDate === changed ? "100 %" : percent(onlyDate / changed);
    return `${share} changed only lastModified; --ignore lastModified leaves ${onlyDate === 1 ? "it" : "them"} out`;
  }
  if (kind !== "unknown") return "";
  const sides = [...(totals.before.complete ? [] : ["before"]), ...(totals.after.complete ? [] : ["after"])];
  return `missing on a side that is incomplete (${sides.join(", ")})`;
}

/** Where the changes are, if there is more than one place. */
export function groupsOf({ totals, bySitemap, bySection }: DiffSummary): {
  readonly bySitemap: readonly ChangeGroup[];
  readonly bySection: readonly ChangeGroup[];
} {
  const hasSitemaps = totals.before.sitemaps > 1 || totals.after.sitemaps > 1;
  return { bySitemap: hasSitemaps ? bySitemap : [], bySection: bySection.length > 1 ? bySection : [] };
}

// Never 100 % if something is left, nor 0 % if there is something.
function percent(share: number): string {
  return `${Math.min(99, Math.max(1, Math.round(share * 100)))} %`;
}

export function sitemapInWords({ change, sitemap, reason, missing }: SitemapChange): string {
  const why = reason === undefined ? "" : ` (${reason.message})`;
  const where = missing === undefined ? "" : `, missing ${missing}`;
  return `${change.replace("-", " ")}${where}  ${sitemap}${why}`;
}

/** What is different about a page. */
export function changeInWords(change: PageChange): string {
  switch (change.kind) {
    case "added":
    case "removed":
      return "";
    case "unknown":
      return `missing ${change.missing}`;
    case "moved":
      return `from ${change.from} to ${change.sitemap}`;
    case "changed": {
      const { before, page } = change;
      const fields = change.fields.map((field) => {
        if (field === "priority") return `priority ${priorityInWords(before)} → ${priorityInWords(page)}`;
        if (field === "lastModified" || field === "changeFrequency") {
          return `${field} ${before[field] ?? "none"} → ${page[field] ?? "none"}`;
        }
        return field;
      });
      return [...fields, ...(change.from === undefined ? [] : [`from ${change.from}`])].join("; ");
    }
  }
}

function priorityInWords({ priority, priorityGiven }: SitemapPage): string {
  return priorityGiven ? String(priority) : "none";
}
