// The entry point `sitegrove/parse` in Node.js. Elsewhere it is parse-anywhere.ts, with the same functions.
/**
 * Documents from strings and streams, with `import { parseSitemap } from "sitegrove/parse"`: runs anywhere, also in workers and browsers.
 * @module sitegrove/parse
 */
import type { ParseOptions } from "../model/parse-options.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import { usualFastPath } from "./fast/token-reader.ts";
import { parseBytes, parseText } from "./parse-stream.ts";

export type { Limits } from "../model/options.ts";
export type * from "../model/page.ts";
export type { ParseOptions } from "../model/parse-options.ts";
export type { ProblemCode } from "../model/problem-code.ts";
export type { Problem } from "../model/problem-facts.ts";
export type {
  PagesFormat,
  ParsedIndex,
  ParsedInvalid,
  ParsedPages,
  ParsedSitemap,
  RobotsPreference,
  SitemapReference,
} from "../model/sitemap.ts";
export type { RobotsRule } from "./robots.ts";
export { parseRobots, type RobotsTxt } from "./robots-rules.ts";

/**
 * Reads a sitemap of any format. Never throws because of the text; throws a `SitemapError` for invalid arguments.
 * @example
 * const sitemap = parseSitemap(text, { url: "https://example.org/sitemap.xml" });
 * if (sitemap.kind === "pages") for (const page of sitemap.pages) console.log(page.url);
 */
export function parseSitemap(text: string, options?: ParseOptions): ParsedSitemap {
  return parseText(text, options, usualFastPath);
}

/**
 * Reads a sitemap of any format from a stream of bytes, such as the body of a response, plain or compressed with gzip. Never throws
 * because of the bytes; errors of the stream are thrown. Needs no Node.js.
 * @example
 * const { body } = await fetch("https://example.org/sitemap.xml.gz");
 * if (body) console.log(await parseStream(body));
 */
export async function parseStream(stream: ReadableStream<Uint8Array>, options?: ParseOptions): Promise<ParsedSitemap> {
  return parseBytes(stream, options, usualFastPath);
}
