// Turns a document into entries, in constant memory: in crawls, for the pages of a tree, and for local files.
import { type Body, endsWithConnection, type HeaderList } from "../model/exchange.ts";
import { unexpected } from "../model/option-checks.ts";
import type { AllLimits } from "../model/options.ts";
import { type ParseOptions, resolveParseOptions } from "../model/parse-options.ts";
import { isLossy, type Problem, ProblemLog, problem } from "../model/problem.ts";
import { type Rewrite, rewrittenPages } from "../model/rewrite.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import { isRobotsUrl } from "../model/url.ts";
import type { OpenedDocument } from "../open/open-document.ts";
import { createDocumentParser } from "../parse/document.ts";
import {
  type Entries,
  type EntryParser,
  joined,
  type ListedUrls,
  type ParseOutcome,
  parsedSitemap,
} from "../parse/entries.ts";
import { usualFastPath } from "../parse/fast/token-reader.ts";
import type { RobotsGroups } from "../parse/robots.ts";

/** A document that can be read: its bytes and its headers. */
export interface Document {
  /** The document's own URL, to resolve relative URLs. A path that ends in `/robots.txt` makes it a robots.txt. */
  readonly url: string | undefined;
  readonly headers: HeaderList;
  readonly body: AsyncIterable<Uint8Array> & Partial<Pick<Body, "end" | "isGood">>;
  /** Whether the document was requested as robots.txt, wherever it was found. */
  readonly isRobots?: boolean;
  /** Called between two chunks. Returns whether to stop reading there; `body.end` then says why. */
  readonly isCut?: () => boolean;
}

export interface ReadSettings {
  readonly limits: AllLimits;
  readonly strict: boolean;
  readonly rewrite?: Rewrite | undefined;
  /** Whether only the URLs of pages are needed. */
  readonly urlsOnly?: boolean | undefined;
}

/** The result of reading a document. */
export interface Reading {
  readonly outcome: ParseOutcome;
  readonly complete: boolean;
  readonly problems: readonly Problem[];
  /** The size as received, and after decompression. */
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly charset: string | undefined;
  /** False if the caller or the parser stopped before the end of the document. */
  readonly isWhole: boolean;
  /** A key that is equal for documents that list the same URLs, in any order and format. */
  readonly identity: string;
  /** The rules of a robots.txt. */
  readonly robots: RobotsGroups | undefined;
}

/** A function that reads a document: `read`, or one that can skip a part of the work. */
export type ReadDocument = typeof read;

/** Yields a document's entries in batches, and returns the result. Throws only errors of the body. `next(false)` stops without a loss. */
export async function* read(
  document: Document,
  settings: ReadSettings,
): AsyncGenerator<Entries, Reading, boolean | undefined> {
  const problems = new ProblemLog();
  const { limits, rewrite = [] } = settings;
  const withRewrites = (entries: Entries): Entries =>
    rewrite.length === 0
      ? entries
      : { sitemaps: entries.sitemaps, pages: rewrittenPages(entries.lines ?? entries.pages, rewrite) };
  const text = await opened(document, limits, problems);
  const { url, isRobots = false } = document;
  const listed: ListedUrls = {};
  const parser = createDocumentParser({ ...settings, url, isRobots, problems, listed, fastPath: usualFastPath });
  let enough = false;
  let isWhole = true;
  for await (const piece of text) {
    const entries = parser.write(piece);
    if (hasAny(entries)) enough = (yield withRewrites(entries)) === false;
    isWhole = !enough && !parser.stopped;
    if (!isWhole) break;
    await pauseWhenDue();
    if (document.isCut?.()) break;
  }
  // The body is checked before `parser.end()`, because the last line or tag of a broken body is incomplete.
  const broken = document.body.end?.problem;
  if (broken !== undefined) problems.addProblem(broken);
  // `end()` would report a document that was stopped in the middle, here or by a limit, as cut off.
  const isTooLarge = problems.has("limit-document-bytes") || problems.has("limit-robots-bytes");
  const isStopped = enough || isTooLarge || broken?.code.startsWith("limit-");
  const noted = isStopped ? problems.toArray() : undefined;
  const complete = problems.complete;
  const last = parser.end();
  if (!enough && hasAny(last)) yield withRewrites(last);
  let outcome = outcomeOf(parser, text.refusal, problems);
  // XML and JSON show where they end, and so does some compressed data.
  const isText = outcome.kind !== "invalid" && /^(?:text|robots|llms)$/.test(outcome.format);
  if (isText && isWhole && broken === undefined && !text.showsEnd && isOpenEnded(document))
    problems.add("body-no-length");
  // A document that is not a sitemap may be one that was damaged in its archive.
  if (outcome.kind === "invalid" && (await document.body.isGood?.()) === false)
    outcome = { kind: "invalid", reason: problem("archive-digest") };

  return {
    outcome,
    complete: enough ? complete : problems.complete,
    problems: noted ?? problems.toArray(),
    wireBytes: text.wireBytes,
    decodedBytes: text.decodedBytes,
    isWhole,
    identity: `${outcome.kind} ${listed.pages} ${listed.sitemaps}`,
    charset: text.charset,
    robots: parser.robots,
  };
}

/** Whether the body ends with the connection, so that HTTP does not show if it is cut off. */
export function isOpenEnded({ headers }: Pick<Document, "headers">): boolean {
  const isClosed = headers.some(([name, value]) => name === "connection" && /\bclose\b/i.test(value));
  return isClosed && endsWithConnection(headers);
}

/** Like `read`, but reads only the URL of each page. */
export const readUrls: ReadDocument = (document, settings) => read(document, { ...settings, urlsOnly: true });

/** Yields only the text of a document, in pieces. Returns why some of it is missing, if so. */
export async function* textOf(
  document: Document,
  { limits }: ReadSettings,
): AsyncGenerator<string, Problem | undefined> {
  const problems = new ProblemLog();
  const text = await opened(document, limits, problems);
  for await (const piece of text) yield piece.toString();
  const broken = document.body.end?.problem;
  if (broken !== undefined) problems.addProblem(broken);
  return text.refusal ?? problems.toArray().find(({ code }) => isLossy(code));
}

// Imported when the first document is read, because it loads the decompressors.
let openModule: typeof import("../open/open-document.ts") | undefined;

async function opened(
  { url, headers, body, isRobots }: Document,
  limits: AllLimits,
  problems: ProblemLog,
): Promise<OpenedDocument> {
  openModule ??= await import("../open/open-document.ts");
  const { documentBytes, robotsBytes, encodingLayers } = limits;
  const most =
    isRobots || isRobotsUrl(url)
      ? ({ maxBytes: robotsBytes, limitCode: "limit-robots-bytes" } as const)
      : { maxBytes: documentBytes };
  return new openModule.OpenedDocument(body, { headers, ...most, encodingLayers, problems });
}

/** The bytes of a document, whole or in chunks. */
export type SitemapBytes = Uint8Array | ArrayBuffer | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Reads one document from bytes: compression, character set and format are detected.
 *
 * @example
 * const parsed = await readSitemap(createReadStream("sitemap.xml.gz"), { url: "https://example.org/sitemap.xml.gz" });
 */
export async function readSitemap(bytes: SitemapBytes, options?: ParseOptions): Promise<ParsedSitemap> {
  const { url, ...settings } = resolveParseOptions(options);
  const reading = read({ url, headers: [], body: chunksOf(bytes) }, settings);
  const batches: Entries[] = [];
  for (;;) {
    const step = await reading.next();
    if (step.done) return parsedSitemap(step.value, joined(batches));
    batches.push(step.value);
  }
}

async function* chunksOf(bytes: SitemapBytes): AsyncGenerator<Uint8Array> {
  const expected = "a Uint8Array or chunks of bytes (`parseSitemap` takes text)";
  const isObject = typeof bytes === "object" && bytes !== null;
  const isIterable = isObject && (Symbol.asyncIterator in bytes || Symbol.iterator in bytes);
  if (!isIterable && !(bytes instanceof ArrayBuffer)) throw unexpected("bytes", expected, bytes);
  const whole = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  const chunks = whole instanceof Uint8Array ? [whole] : whole;
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array)) throw unexpected("bytes", expected, chunk);
    yield chunk;
  }
}

function hasAny({ pages, lines, sitemaps }: Entries): boolean {
  return pages.length > 0 || lines !== undefined || sitemaps.length > 0;
}

// Returns the parser's outcome, unless something before it explains more: the document was refused (a refused robots.txt looks like an
// empty one, which is valid), or a loss made it empty.
function outcomeOf(parser: EntryParser, refusal: Problem | undefined, problems: ProblemLog): ParseOutcome {
  if (refusal !== undefined) return { kind: "invalid", reason: refusal };
  const { outcome } = parser;
  if (outcome.kind !== "invalid") return outcome;
  const loss = outcome.reason.code === "empty" ? problems.toArray().find(({ code }) => isLossy(code)) : undefined;
  return { kind: "invalid", reason: loss ?? outcome.reason };
}

// How long to work before timers, signals and sockets get a turn, in milliseconds.
const longestTurn = 40;

let turnedAt = 0;

/** Lets other work of the process run, if that is due; otherwise returns undefined. It is cheap enough to call often. */
export function pauseWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (now - turnedAt < longestTurn) return undefined;
  return new Promise((resolve) => {
    setImmediate(() => {
      turnedAt = performance.now();
      resolve();
    });
  });
}
