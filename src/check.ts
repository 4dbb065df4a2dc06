// The public API of `sitegrove/check`: re-exports, nothing else.
/**
 * What search engines would flag in a tree.
 * @module sitegrove/check
 */

export { checkTree, lastmodTrust } from "./check/check-tree.ts";
export type { LastmodReason, LastmodTrust } from "./check/dates/lastmod-trust.ts";
export { Baseline, type BaselineEntry, type BaselineFindings, parseBaseline } from "./check/findings/baseline.ts";
export { type FileLocation, FileLocations } from "./check/findings/file-locations.ts";
export type { Occurrence } from "./check/findings/occurrence-rows.ts";
export type { CheckResult, Finding, FindingExample, NotChecked, PageResults } from "./check/findings/result.ts";
export { checkSarif } from "./check/findings/sarif.ts";
export type { SiteFilesOptions, SiteFolder } from "./check/folder/site-files.ts";
export { streamOccurrences } from "./check/occurrences.ts";
export type {
  CheckOptions,
  CustomRule,
  IgnoredFinding,
  RuleContext,
  RuleReport,
  RuleSeverities,
} from "./check/options.ts";
export type { Basis, BuiltInRule, Engine, Need, Rule, Severity } from "./check/rules/rule.ts";
export type { RuleId } from "./check/rules/rule-id.ts";
export { checkRules } from "./check/rules/rule-table.ts";
