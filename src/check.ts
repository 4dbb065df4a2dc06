// The public API of `sitegrove/check`: re-exports, nothing else.
/**
 * What search engines would flag in a tree.
 * @module sitegrove/check
 */
export { Baseline, type BaselineEntry, type BaselineFindings, parseBaseline } from "./check/baseline.ts";
export { checkTree, lastmodTrust } from "./check/check-tree.ts";
export { type FileLocation, FileLocations } from "./check/file-locations.ts";
export type { LastmodReason, LastmodTrust } from "./check/lastmod-trust.ts";
export type { Occurrence } from "./check/occurrences.ts";
export { streamOccurrences } from "./check/occurrences.ts";
export type {
  CheckOptions,
  CustomRule,
  IgnoredFinding,
  RuleContext,
  RuleReport,
  RuleSeverities,
} from "./check/options.ts";
export type { CheckResult, Finding, FindingExample, NotChecked, PageResults } from "./check/result.ts";
export type { Basis, BuiltInRule, Engine, Need, Rule, Severity } from "./check/rule.ts";
export type { RuleId } from "./check/rule-id.ts";
export { checkRules } from "./check/rule-table.ts";
export { checkSarif } from "./check/sarif.ts";
export type { SiteFilesOptions, SiteFolder } from "./check/site-files.ts";
