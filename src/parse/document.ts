// Parses a document of any supported format: its first characters decide which parser reads it.
import { defaultLimits } from "../model/parse-options.ts";
import type { Problem } from "../model/problem-facts.ts";
import { type DocumentProblems, documentProblem } from "../model/problem-log.ts";
import type { TextPiece } from "../model/text.ts";
import { isRobotsUrl } from "../model/url.ts";
import { type Entries, type EntryParser, joined, type ParseContext, type ParseOutcome } from "./entries.ts";
import { JsonFeedParser } from "./json-feed.ts";
import { isLlmsTxt, LlmsParser } from "./llms.ts";
import { type RobotsGroups, RobotsParser } from "./robots.ts";
import { TextParser } from "./text.ts";
import { XmlParser } from "./xml/parser.ts";
import type { CreateFastPath } from "./xml/scanner.ts";

export interface DocumentParserOptions extends Partial<ParseContext> {
  readonly problems: DocumentProblems;
  /** The fast path to use. It has no default, so that bundles without a fast path do not contain one. */
  readonly fastPath: CreateFastPath | undefined;
  /** Whether the document was requested as robots.txt, wherever it was found. @default decided by `url` */
  readonly isRobots?: boolean | undefined;
}

/** Creates a parser for a document whose format is not known yet. */
export function createDocumentParser({ isRobots, ...given }: DocumentParserOptions): DocumentParser {
  const context = { url: undefined, strict: false, limits: defaultLimits, ...given };
  return new DocumentParser(context, isRobots === true || isRobotsUrl(given.url));
}

export class DocumentParser implements EntryParser {
  readonly #context: ParseContext;
  readonly #isRobots: boolean;
  readonly #blanks = new LeadingBlanks();
  #start = "";
  // The start is examined again only once it has this length, so that small chunks do not cause repeated searches.
  #enough = 0;
  #parser: EntryParser | undefined;
  #refused: Problem | undefined;

  constructor(context: ParseContext, isRobots: boolean) {
    this.#context = context;
    this.#isRobots = isRobots;
  }

  get stopped(): boolean {
    return this.#refused !== undefined || (this.#parser?.stopped ?? false);
  }

  get outcome(): ParseOutcome {
    if (this.#parser !== undefined) return this.#parser.outcome;
    return { kind: "invalid", reason: this.#refused ?? documentProblem("empty") };
  }

  write(piece: TextPiece): Entries {
    if (this.#parser !== undefined) return this.#parser.write(piece);
    return this.#decide(String(piece), false);
  }

  end(): Entries {
    const before = this.#parser === undefined ? this.#decide("", true) : joined([]);
    if (this.#parser === undefined) return before;
    return joined([before, this.#parser.end()]);
  }

  /** The groups of a robots.txt; undefined for other formats. Valid after `end`. */
  get robots(): RobotsGroups | undefined {
    return this.#parser instanceof RobotsParser ? this.#parser.robots : undefined;
  }

  #decide(chunk: string, isWhole: boolean): Entries {
    if (this.#refused !== undefined) return joined([]);
    this.#start += this.#start === "" ? this.#blanks.strip(chunk) : chunk;
    // A file of NULs is not empty but binary: a server or a disk has lost its content.
    const text = isWhole && this.#start === "" && this.#blanks.hasNuls ? "\0" : this.#start;
    if (text.length < this.#enough && !isWhole) return joined([]);
    const detected = detect(text, this.#isRobots, isWhole);
    if (text.length > detectionLength) this.#enough = text.length * 1.5;
    if (detected === undefined) return joined([]);
    const start = this.#start;
    this.#start = "";
    return this.#begin(detected, start);
  }

  #begin(detected: Detected, start: string): Entries {
    if (detected.as === "nothing") {
      this.#refused = detected.reason;
      return joined([]);
    }
    if (detected.as === "xml") return this.#beginXml(start, detected.from);
    const { lines } = this.#blanks;
    if (detected.as === "robots") this.#parser = new RobotsParser(this.#context, lines, detected.what);
    else if (detected.as === "text") this.#parser = new TextParser(this.#context, lines);
    else if (detected.as === "llms") this.#parser = new LlmsParser(this.#context, lines);
    else this.#parser = new JsonFeedParser(this.#context);
    return this.#parser.write(start);
  }

  #beginXml(start: string, from: number): Entries {
    const { lines, standIn } = this.#blanks;
    // With `strict`, the scanner refuses text before the root, and decides whether leading blanks are allowed.
    const junk = this.#context.strict ? "" : start.slice(0, from);
    if (junk !== "") {
      this.#context.problems.add("xml-junk-before-root", { line: lines + 1, value: junk.trim() });
      if (urlLine.test(junk)) this.#context.problems.add("xml-entry-skipped", { value: "a URL before the document" });
    }
    this.#parser = new XmlParser(this.#context, lines + junk.split("\n").length - 1);
    return this.#parser.write(junk === "" ? standIn + start : start.slice(from));
  }
}

// The format of a document, by its first characters. The URL matters only for robots.txt.
//   Lenient: text before an XML document, such as a PHP warning, is skipped.

type Detected =
  /** `from` is where the document begins. */
  | { readonly as: "xml"; readonly from: number }
  | { readonly as: "text" | "json" | "llms" }
  /** `what` is the format that the document resembles, in case it has no robots.txt line. */
  | { readonly as: "robots"; readonly what?: string }
  | { readonly as: "nothing"; readonly reason: Problem };

/** How many characters are examined to detect the format. */
const detectionLength: number = 8192;
/** How many characters may precede an XML document. If there are more than `detectionLength`, none of their lines may be a URL. */
const mostJunk = 1024 * 1024;

/** Detects the format of a document by its first text, without leading blanks. Returns undefined if more text is needed. */
function detect(start: string, isRobots: boolean, isWhole: boolean): Detected | undefined {
  if (start === "") {
    if (!isWhole) return undefined;
    return isRobots ? { as: "robots" } : { as: "nothing", reason: documentProblem("empty") };
  }
  const isMarkup = start.startsWith("<");
  if (isMarkup && !isRobots) return { as: "xml", from: 0 };
  if (!isWhole && start.length < detectionLength) return undefined;
  const text = start.slice(0, detectionLength);
  // Lenient: a robots.txt may begin with markup, such as a PHP warning.
  if (isRobots && isMarkup) {
    return sitemapStart.test(text) ? { as: "xml", from: 0 } : { as: "robots", what: nameOfMarkup(text) };
  }
  const what = otherFormat(text);
  if (isRobots) return what === undefined ? { as: "robots" } : { as: "robots", what };
  if (what === "json" && text.startsWith("{")) return { as: "json" };
  if (what !== undefined) return { as: "nothing", reason: documentProblem("not-a-sitemap", { value: what }) };
  if (isLlmsTxt(text)) return { as: "llms" };
  const junk = start.slice(0, mostJunk);
  const from = junk.search(xmlStart);
  if (from >= 0 && from < detectionLength) return { as: "xml", from };
  const url = junk.search(urlLine);
  if (from >= 0 && (url < 0 || from < url)) return { as: "xml", from };
  return isWhole || url >= 0 || start.length >= mostJunk ? { as: "text" } : undefined;
}

// Returns the doctype or the name of the first tag, usually `html`.
function nameOfMarkup(text: string): string {
  const name = /<!doctype\s+([a-z]+)|<([a-z]+)/i.exec(text);
  return (name?.[1] ?? name?.[2] ?? "markup").toLowerCase();
}

function otherFormat(text: string): string | undefined {
  for (const [what, pattern] of signatures) if (pattern.test(text)) return what;
  return isBinary(text) ? "binary" : undefined;
}

/** Whether more than a tenth of the first 1,024 characters are replacement characters, or control characters unusual in text. */
export function isBinary(text: string): boolean {
  const sample = text.slice(0, 1024);
  return sample.split(/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/).length > 1 + sample.length / 10;
}

// Matches the first tag of an XML document. White space or `>` must follow a name, because `<feed` could also be a word of a text.
const xmlStart = /<(?:\?xml\s|!doctype\s|(?:[a-z][\w-]{0,30}:)?(?:urlset|sitemapindex|rss|feed|rdf|html)[\s>])/i;
const sitemapStart = /<(?:\?xml\s|(?:[a-z][\w-]{0,30}:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>])/i;
const urlLine = /^[ \t"'<]{0,20}https?:\/\//im;
const signatures = [
  ["json", /^(?:\{\s*(?:"|\})|\[\s*(?:["{[\]\d]))/],
  ["pdf", /^%PDF-/],
  ["image", /^(?:.PNG\r?\n|GIF8[79]a|\ufffd{3,4}.{0,4}(?:JFIF|Exif)|RIFF.{4}WEBP)/s],
  ["archive", /^(?:PK\u0003\u0004|Rar!|7z\ufffd\ufffd|BZh\d)/],
] as const;

// Removes white space, byte order marks and NULs before a document. Each chunk is examined only once, because compressed blanks can be
// endless.
//   Lenient: white space and byte order marks before the document are skipped.

class LeadingBlanks {
  /** How many lines were removed; CR, LF and CRLF end a line. */
  lines = 0;
  /** Whether there were NULs. */
  hasNuls = false;
  /** What `strict` sees instead of the removed text: nothing, a space, or a no-break space if XML would not allow the text here. */
  standIn: "" | " " | "\u00a0" = "";
  #afterReturn = false;

  /** Returns the rest of the chunk. Once that is not empty, all blanks have been removed. */
  strip(chunk: string): string {
    const [blanks] = /^[\s\0]*/.exec(chunk)!;
    this.lines += blanks.split(/\r\n|\r|\n/).length - 1 - Number(this.#afterReturn && blanks.startsWith("\n"));
    this.#afterReturn = blanks === "" ? this.#afterReturn : blanks.endsWith("\r");
    this.hasNuls ||= blanks.includes("\0");
    const seen = this.standIn + blanks;
    const space = seen.search(/[ \t\r\n]/);
    const isMarkLater = space !== -1 && Math.max(seen.lastIndexOf("\ufeff"), seen.lastIndexOf("\0")) > space;
    const isOdd = isMarkLater || /[^ \t\r\n\ufeff\0]/.test(seen);
    this.standIn = isOdd ? "\u00a0" : space === -1 ? "" : " ";
    return chunk.slice(blanks.length);
  }
}
