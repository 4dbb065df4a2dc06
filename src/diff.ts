// The public API of `sitegrove/diff`: re-exports, nothing else.
/**
 * What changed between two trees, or on a website since the last run.
 * @module sitegrove/diff
 */
export { type Changes, type ChangesOptions, changes, type WebsiteChange } from "./diff/changes.ts";
export type { DiffBytes, DiffSide } from "./diff/diff-side.ts";
export { diffTrees } from "./diff/diff-trees.ts";
export { type FollowOptions, followGone } from "./diff/follow-gone.ts";
export type { DiffOptions } from "./diff/settings.ts";
export type {
  AddedPage,
  ChangeCounts,
  ChangedField,
  ChangedPage,
  ChangeKind,
  DiffSideTotals,
  DiffTotals,
  ExpiredPage,
  MovedPage,
  PageChange,
  PageField,
  RemovedPage,
  SitemapChange,
  TreeChange,
  UnknownPage,
} from "./model/change.ts";
export type { FollowedRow, FollowVerdict } from "./model/followed.ts";
