// The differences between two trees, as data: one change for each page and sitemap that differs, and the totals.
import type { SitemapPage } from "./page.ts";
import { type PageFieldRow, pageFieldRows, pageFields } from "./page-fields.ts";
import type { Problem } from "./problem.ts";

/** One difference between two trees. A page has at most one: the first declaration of its URL on each side counts. */
export type TreeChange = PageChange | SitemapChange;

/** A page that differs. `sitemap` is the URL of the sitemap that declares `page`. */
export type PageChange = AddedPage | RemovedPage | ExpiredPage | UnknownPage | ChangedPage | MovedPage;

interface DeclaredPage {
  readonly page: SitemapPage;
  readonly sitemap: string;
}

interface MissingPage extends DeclaredPage {
  /** The page's URL before `rewrite`, if different. */
  readonly declaredUrl?: string;
}

/** The page is new. */
export interface AddedPage extends DeclaredPage {
  readonly kind: "added";
}

/** The page is gone; `page` is the old entry. */
export interface RemovedPage extends MissingPage {
  readonly kind: "removed";
}

/** The page is no longer in a feed or a news sitemap, which list only recent pages. It may still exist; `page` is the old entry. */
export interface ExpiredPage extends MissingPage {
  readonly kind: "expired";
}

/** The page was found on one side only, but the other side is incomplete and may have it, too. */
export interface UnknownPage extends MissingPage {
  readonly kind: "unknown";
  /** The incomplete side, where the page was not found. */
  readonly missing: "before" | "after";
}

/** The same URL, with different fields. */
export interface ChangedPage extends DeclaredPage {
  readonly kind: "changed";
  /** The fields that differ, always in the same order; `content` is last. */
  readonly fields: readonly ChangedField[];
  /** The old page. */
  readonly before: SitemapPage;
  /** The sitemap that declared it before, if different. */
  readonly from?: string;
}

/** The same page, now declared by a different sitemap. */
export interface MovedPage extends DeclaredPage {
  readonly kind: "moved";
  /** The sitemap that declared it before. */
  readonly from: string;
}

/** A sitemap that differs. */
export interface SitemapChange {
  readonly kind: "sitemap";
  /** `unknown`: it was found on one side only, but the other may have it, too. */
  readonly change: "added" | "gone" | "now-invalid" | "now-readable" | "unknown";
  /** Its URL before redirects. */
  readonly sitemap: string;
  /** Why it cannot be read now. */
  readonly reason?: Problem;
  /** For `unknown`: the side on which it was not found. */
  readonly missing?: "before" | "after";
}

/** The kinds of changes. */
export type ChangeKind = TreeChange["kind"];
/** The fields of a page that can differ. A missing priority equals 0.5. */
export type PageField = Exclude<keyof SitemapPage, "url">;

/** A part of a page that can change. `content` is what a reader sees, compared only between two folders of static sites. */
export type ChangedField = PageField | "content";

/** The fields, in the order in which changes list them. */
export const comparedFields: readonly PageField[] = pageFieldRows.flatMap(({ name }) => (name === "url" ? [] : [name]));

/** Returns the value of a field to compare: the field's default, if the page has none. */
export function comparedValue(page: SitemapPage, field: PageField): unknown {
  return page[field] ?? (pageFields[field] as PageFieldRow).default;
}

/** What a diff can ignore: fields, and which sitemap declares a page. */
export const ignorable: readonly (PageField | "sitemap")[] = [...comparedFields, "sitemap"];

export const changeKinds: readonly ChangeKind[] = [
  "added",
  "removed",
  "changed",
  "moved",
  "unknown",
  "sitemap",
  "expired",
];

/** The kinds that are listed by default. */
export const listedKinds: readonly ChangeKind[] = changeKinds.filter((kind) => kind !== "expired");

/** The totals of one side. */
export interface DiffSideTotals {
  /** The number of pages; one that is declared twice counts twice. */
  readonly pages: number;
  /** Sitemaps that could be read, including indexes; a file counts as one. */
  readonly sitemaps: number;
  /** Whether it is certain that no page is missing. */
  readonly complete: boolean;
}

/** The totals of a diff, including kinds of changes that are not listed. */
export interface DiffTotals extends ChangeCounts {
  readonly before: DiffSideTotals;
  readonly after: DiffSideTotals;
  /** Changed pages in which only `lastModified` differs. */
  readonly changedOnlyLastModified: number;
  /** The number of sitemaps that differ. */
  readonly sitemaps: number;
}

/** The number of pages for each kind of change. */
export type ChangeCounts = Readonly<Record<PageChange["kind"], number>>;

/** The changes of one sitemap, or of one section of a website, such as `https://example.org/blog/`. */
export interface ChangeGroup {
  readonly name: string;
  readonly changes: ChangeCounts;
}

/** The summary of a diff: totals, counts by sitemap, section and field, and the first examples of each kind. */
export interface DiffSummary {
  /** The names of the sides. */
  readonly before: string;
  readonly after: string;
  readonly totals: DiffTotals;
  /** The kinds of changes that are listed. */
  readonly kinds: ReadonlySet<ChangeKind>;
  /** The first changed sitemaps. */
  readonly sitemaps: readonly SitemapChange[];
  /** The changes of each sitemap, most changes first. */
  readonly bySitemap: readonly ChangeGroup[];
  readonly bySection: readonly ChangeGroup[];
  /** The number of pages in which each field differs. */
  readonly byField: ReadonlyMap<ChangedField, number>;
  readonly examples: readonly PageChange[];
}
