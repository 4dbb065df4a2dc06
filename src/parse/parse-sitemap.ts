// One document from a string, and the entry point `sitegrove/parse`.
/**
 * Documents from strings and streams, with `import { parseSitemap } from "sitegrove/parse"`: runs anywhere, also in workers and browsers.
 * @module sitegrove/parse
 */
import { unexpected } from "../model/option-checks.ts";
import { type ParseOptions, resolveParseOptions } from "../model/parse-options.ts";
import { ProblemLog } from "../model/problem.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import { createDocumentParser } from "./document.ts";
import { type Entries, joined, parsedSitemap } from "./entries.ts";

export type { Limits } from "../model/options.ts";
export type * from "../model/page.ts";
export type { ParseOptions } from "../model/parse-options.ts";
export type { Problem, ProblemCode } from "../model/problem.ts";
export type {
  PagesFormat,
  ParsedIndex,
  ParsedInvalid,
  ParsedPages,
  ParsedSitemap,
  RobotsPreference,
  SitemapReference,
} from "../model/sitemap.ts";
export { parseStream } from "./parse-stream.ts";
export type { RobotsRule } from "./robots.ts";
export { parseRobots, type RobotsTxt } from "./robots-rules.ts";

/**
 * Reads a sitemap of any format. Never throws because of the text; throws a `SitemapError` for invalid arguments.
 * @example
 * const sitemap = parseSitemap(text, { url: "https://example.org/sitemap.xml" });
 * if (sitemap.kind === "pages") for (const page of sitemap.pages) console.log(page.url);
 */
export function parseSitemap(text: string, options?: ParseOptions): ParsedSitemap {
  if (typeof text !== "string") throw unexpected("text", "a string (`readSitemap` takes bytes)", text);
  const { url, strict, limits } = resolveParseOptions(options);
  const problems = new ProblemLog();
  const parser = createDocumentParser({ url, strict, limits, problems });
  const batches: Entries[] = [];
  for (let at = 0; at < text.length && !parser.stopped; at += pieceLength) {
    batches.push(parser.write(text.slice(at, at + pieceLength)));
  }
  batches.push(parser.end());
  const { outcome } = parser;
  return parsedSitemap({ outcome, complete: problems.complete, problems: problems.toArray() }, joined(batches));
}

// The fastest chunk size.
const pieceLength = 64 * 1024;
