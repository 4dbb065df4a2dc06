// The public API: re-exports, nothing else.
/**
 * What most programs import: trees, streams, crawl, parse. Most start with `sitemapTreeForHomepage` or `streamPages`; `sitegrove/check`,
 * `/diff`, `/report`, `/fleet` and `/parse` have the rest.
 * @module sitegrove
 */
export { type CrawlTarget, crawl, type PageStream, streamPages } from "./crawl/crawl.ts";
export { readSitemap, type SitemapBytes } from "./crawl/read.ts";
export { type FetchInit, type FetchLike, type FetchResponse, fetchClient } from "./fetch/fetch-client.ts";
export type * from "./model/client.ts";
export { SitemapError, type SitemapErrorCode } from "./model/errors.ts";
export type * from "./model/event.ts";
export type {
  DocumentResponse,
  FailureOutcome,
  HeaderList,
  Provenance,
  RedirectHop,
  SitemapResponse,
} from "./model/exchange.ts";
export type {
  ArchiveOptions,
  Limits,
  NetworkPolicy,
  Options,
  PageFilters,
  RecurseContext,
  StoreKind,
  StreamOptions,
  Timeouts,
} from "./model/options.ts";
export type * from "./model/page.ts";
export type { ParseOptions } from "./model/parse-options.ts";
export type { Pattern } from "./model/pattern.ts";
export { type Problem, type ProblemCode, type ProblemFacts, problem } from "./model/problem.ts";
export type {
  IndexSitemap,
  InvalidSitemap,
  PagesFormat,
  PagesSitemap,
  ParsedIndex,
  ParsedInvalid,
  ParsedPages,
  ParsedSitemap,
  RobotsPreference,
  Sitemap,
  SitemapReference,
} from "./model/sitemap.ts";
export { parseSitemap } from "./parse/parse-sitemap.ts";
export type { RobotsRule } from "./parse/robots.ts";
export { parseRobots, type RobotsTxt } from "./parse/robots-rules.ts";
export { openTree, sitemapTreeForHomepage } from "./tree/build.ts";
export type { PagesPart, TreePart } from "./tree/parts.ts";
export { SitemapTree } from "./tree/tree.ts";
