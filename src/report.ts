// The public API of `sitegrove/report`: re-exports, nothing else.
/**
 * The page about a website, and the facts behind it.
 * @module sitegrove/report
 */

export type { LanguageCount, LanguageLinks } from "./report/languages.ts";
export type {
  ReportChanges,
  ReportDiscovery,
  ReportFacts,
  ReportFigures,
  ReportFinding,
  ReportFormat,
  ReportLanguages,
  ReportMedia,
  ReportSection,
  ReportShare,
  ReportSitemap,
  ReportSitemaps,
  ReportTimeline,
} from "./report/report-tree.ts";
export { type ReportOptions, reportFacts, reportHtml } from "./report/report-tree.ts";
