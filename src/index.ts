// The public API: re-exports, nothing else.
/**
 * Everything that `import … from "sitegrove"` gives. The functions come first; `sitemapTreeForHomepage` and `streamPages` are where
 * most programs begin.
 * @module sitegrove
 */

export { checkTree } from "./check/check-tree.ts";
export type { Finding, FindingExample } from "./check/findings.ts";
export type {
  CheckOptions,
  IgnoredFinding,
  OwnRule,
  RuleContext,
  RuleReport,
  RuleSeverities,
} from "./check/options.ts";
export type { CheckResult, NotJudged, PageSample } from "./check/result.ts";
export type { Basis, BuiltInRule, Engine, Need, Rule, Severity } from "./check/rule.ts";
export type { RuleId } from "./check/rule-id.ts";
export { checkRules } from "./check/rule-table.ts";
export { type CrawlTarget, crawl } from "./crawl/crawl.ts";
export { readSitemap, type SitemapBytes } from "./crawl/read.ts";
export { streamPages } from "./crawl/stream-pages.ts";
export type { DiffBytes, DiffSide } from "./diff/diff-side.ts";
export { type DiffOptions, diffTrees } from "./diff/diff-trees.ts";
export { type FetchInit, type FetchLike, type FetchResponse, fetchClient } from "./fetch/fetch-client.ts";
export { BullQueue, type BullQueueOptions } from "./fleet/bull-queue.ts";
export type { FleetEvent, FleetOptions } from "./fleet/fleet-options.ts";
export { type JournalLease, JournalQueue, type JournalQueueOptions } from "./fleet/journal-queue.ts";
export type { ListedSite, RunEntry, RunSettings, Schedule, ServerNews } from "./fleet/run-data.ts";
export { runFleet } from "./fleet/run-fleet.ts";
export { type SiteJob, type SiteOutcome, type SiteReason, type SiteSummary, siteJob } from "./fleet/site-job.ts";
export type { Lease, QueueCounts, SiteQueue } from "./fleet/site-queue.ts";
export type { SiteOutput, SiteSink } from "./fleet/site-sink.ts";
export type {
  AddedPage,
  ChangeCounts,
  ChangedPage,
  ChangeKind,
  DiffSideTotals,
  DiffTotals,
  MovedPage,
  PageChange,
  PageField,
  RemovedPage,
  SitemapChange,
  TreeChange,
  UnknownPage,
} from "./model/change.ts";
export type { Client, ClientHeaders, ClientRequest, ClientResponse } from "./model/client.ts";
export { SitemapError, type SitemapErrorCode } from "./model/errors.ts";
export type {
  CrawlEvent,
  DiscoveryRecord,
  FinishedEvent,
  OrderedEvent,
  PagesEvent,
  ProblemEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  SitemapEvent,
  StartEvent,
  Totals,
  TreeStep,
  UnreachableWebsite,
} from "./model/event.ts";
export type { Came, FailureOutcome, HeaderList } from "./model/exchange.ts";
export type {
  ArchiveOptions,
  Limits,
  NetworkPolicy,
  Options,
  ParseOptions,
  RecurseContext,
  StoreKind,
  Timeouts,
} from "./model/options.ts";
export type {
  AlternatePage,
  ChangeFrequency,
  NewsStory,
  SitemapImage,
  SitemapPage,
  SitemapVideo,
  VideoId,
  VideoPrice,
  VideoRestriction,
  VideoSegment,
  VideoTvShow,
} from "./model/page.ts";
export { type Problem, type ProblemCode, type ProblemFacts, problem } from "./model/problem.ts";
export type { DocumentResponse, RedirectHop, SitemapResponse } from "./model/response.ts";
export type {
  IndexSitemap,
  InvalidSitemap,
  PagesFormat,
  PagesSitemap,
  ParsedIndex,
  ParsedInvalid,
  ParsedPages,
  ParsedSitemap,
  Sitemap,
  SitemapReference,
} from "./model/sitemap.ts";
export { parseSitemap } from "./parse/parse-sitemap.ts";
export { parseRobots, type RobotsRule, type RobotsTxt } from "./parse/robots-rules.ts";
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
} from "./report/facts.ts";
export type { LanguageCount, LanguageLinks } from "./report/languages.ts";
export { type ReportOptions, reportFacts, reportHtml } from "./report/report.ts";
export { openTree, sitemapTreeForHomepage, sitemapTreeFrom } from "./tree/build.ts";
export { type SitemapProblem, SitemapTree } from "./tree/tree.ts";
export type { IndexWithPages, SitemapWithPages, TreeData, TreeDataWithPages } from "./tree/tree-data.ts";
export type { PagesPart, TreePart } from "./tree/tree-part.ts";
