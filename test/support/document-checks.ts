// What must hold for any document, whatever is in it: nothing is thrown, pages are plain data with valid URLs and dates, and the
// result depends neither on the fast path, nor on how the document is split, nor on whether only URLs are needed.
import { readSitemap } from "../../src/crawl/read.ts";
import type { AllLimits } from "../../src/model/options.ts";
import type { ParsedSitemap } from "../../src/model/sitemap.ts";
import type { Utf8Text } from "../../src/model/text.ts";
import { CharsetDecoder } from "../../src/open/charset.ts";
import type { ParseOutcome } from "../../src/parse/entries.ts";
import type { CreateFastPath } from "../../src/parse/xml/scanner.ts";
import { noFastPath } from "./no-fast-path.ts";
import { type Parsed, parsePieces, urlsOf } from "./parsed.ts";
import { Random } from "./random.ts";
import { withoutMergeLosses } from "./same-urls.ts";

export interface CheckOptions {
  readonly url: string;
  readonly limits: Partial<AllLimits>;
  readonly strict: boolean;
  readonly fastPath?: CreateFastPath;
  readonly urlsOnly?: boolean;
}

/** Reads a text in every possible way, and returns the results. The number decides how it is split. */
export function checkText(text: string, options: CheckOptions, number: number): Parsed {
  const random = new Random(number);
  const whole = parsePieces([text], options);
  checkEntries(whole);
  const slow = parsePieces([text], { ...options, fastPath: noFastPath });
  expectEqual("the fast path reads otherwise", whole, slow);

  // Passes it as bytes, as from a website; half a character cannot be encoded.
  if (!/\p{Surrogate}/u.test(text)) {
    const asBytes = parsePieces(cutBytes(text, random), options);
    expectEqual("as bytes it reads otherwise", asBytes, whole);
    const brief = parsePieces(cutBytes(text, random), { ...options, urlsOnly: true });
    expectEqual("with nothing but URLs, it has other URLs", urlsOf(brief), urlsOf(whole));
    const restOf = ({ sitemaps, outcome, problems }: Parsed) => [sitemaps, outcome, withoutMergeLosses(problems)];
    expectEqual("with nothing but URLs, it reads otherwise", restOf(brief), restOf(whole));
  }

  const inPieces = parsePieces(cut(text, random), options);
  expectEqual("cut into pieces it reads otherwise", inPieces, whole);

  const prefix = text.slice(0, prefixLength(text, whole.outcome, random));
  const start = parsePieces([prefix], options);
  // A short beginning may look like something else.
  if (start.outcome.kind !== whole.outcome.kind || formatOf(start.outcome) !== formatOf(whole.outcome)) return whole;
  // More about a page may come later, in another entry.
  expectEqual("a prefix has other pages", urlsOf(start), urlsOf(whole).slice(0, start.pages.length));
  // The last page may lack what comes after its URL.
  const upToLast = (list: Parsed["sitemaps"]) =>
    list.slice(0, start.sitemaps.length).map((entry, n) => (n === start.sitemaps.length - 1 ? entry.url : entry));
  expectEqual("a prefix has other sitemaps", upToLast(start.sitemaps), upToLast(whole.sitemaps));
  return whole;
}

export async function checkBytes(bytes: Uint8Array, url: string): Promise<void> {
  checkParsed(await readSitemap(bytes, { url }));
}

function* cut(text: string, random: Random): Generator<string> {
  // One character at a time is slow; the parsers' own tests do it too.
  const longest = random.pick(text.length < 1000 ? [2, 10, 100] : [40, 400, 4000]);
  for (let from = 0; from < text.length; ) {
    const to = from + random.below(longest);
    yield text.slice(from, to);
    from = to;
  }
}

function* cutBytes(text: string, random: Random): Generator<Utf8Text> {
  const decoder = new CharsetDecoder();
  const bytes = Buffer.from(text);
  const longest = random.pick([40, 400, 4000, 40_000]);
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + random.below(longest);
    const piece = decoder.write(bytes.subarray(from, to));
    if (typeof piece !== "string") yield piece;
    from = to;
  }
}

// A line that was cut off may be taken for a shorter URL, so lines are not cut.
function prefixLength(text: string, outcome: ParseOutcome, random: Random): number {
  const length = random.below(text.length + 1);
  const format = formatOf(outcome);
  return format === "text" || format === "robots" ? text.lastIndexOf("\n", length) + 1 : length;
}

function formatOf(outcome: ParseOutcome): string | undefined {
  return outcome.kind === "invalid" ? undefined : outcome.format;
}

function checkParsed(parsed: ParsedSitemap): void {
  if (parsed.kind === "invalid") return;
  checkEntries({
    pages: [...(parsed.pages ?? [])],
    sitemaps: parsed.kind === "index" ? [...parsed.sitemaps] : [],
    problems: parsed.problems,
  });
}

function checkEntries({ pages, sitemaps, problems }: Omit<Parsed, "codes" | "outcome" | "complete">): void {
  for (const list of [pages, sitemaps]) {
    const urls = list.map((entry) => entry.url);
    if (new Set(urls).size !== urls.length) throw new Error("a URL comes twice");
    for (const { url, lastModified } of list) {
      if (!/^https?:$/.test(new URL(url).protocol)) throw new Error(`not an http URL: ${url}`);
      checkDate(lastModified);
    }
  }
  for (const { priority = 0.5, newsStory, videos } of pages) {
    if (!(priority >= 0 && priority <= 1)) throw new Error(`not a priority: ${priority}`);
    checkDate(newsStory?.publishDate);
    for (const video of videos ?? []) {
      checkDate(video.publicationDate);
      checkDate(video.expirationDate);
    }
  }
  expectEqual("the entries are not plain data", JSON.parse(JSON.stringify(pages)), pages);
  for (const { message } of problems) if (message === "") throw new Error("a problem without a sentence");
}

export function checkDate(date: string | undefined): void {
  if (date !== undefined && Number.isNaN(new Date(date).getTime())) throw new Error(`not a date: ${date}`);
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one === other) return;
  let at = 0;
  while (one[at] === other[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  throw new Error(`${what}\n  got      …${around(one)}…\n  expected …${around(other)}…`);
}
