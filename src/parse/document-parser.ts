// Parses a document of any format: its first characters decide which parser reads it.
import { defaultLimits, type Limits } from "../model/options.ts";
import { type Problem, type ProblemLog, problem } from "../model/problem.ts";
import { isRobotsUrl } from "../model/url.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import { type Detected, detect } from "./detect.ts";
import { type Entries, type EntryParser, joined, type ParseContext, type ParseOutcome } from "./entry-parser.ts";
import { usualFastPath } from "./fast/create-fast-path.ts";
import type { CreateFastPath } from "./fast-path.ts";
import { LeadingBlanks } from "./leading-blanks.ts";
import { RobotsParser } from "./robots.ts";
import { TextParser } from "./text.ts";
import { XmlParser } from "./xml-parser.ts";

export interface DocumentParserOptions {
  /** The document's own URL: the base of relative URLs; one that ends in `/robots.txt` makes it a robots.txt. */
  readonly url?: string | undefined;
  /** @default those of the options */
  readonly limits?: Limits | undefined;
  /** Stop reading an XML document at the first thing that is not well-formed. */
  readonly strict?: boolean | undefined;
  /** It was requested as robots.txt, wherever it was found. @default by its URL */
  readonly isRobots?: boolean | undefined;
  /** See `ParseContext`. */
  readonly urlsOnly?: boolean | undefined;
  readonly keepsAll?: boolean | undefined;
  /** The fast path. @default the usual one */
  readonly fastPath?: CreateFastPath | undefined;
  /** Collects the problems of the document. */
  readonly problems: ProblemLog;
}

/** A parser for a document whose format is not known yet. */
export function createDocumentParser(options: DocumentParserOptions): EntryParser {
  const { url, strict = false, problems, urlsOnly, keepsAll } = options;
  const { limits = defaultLimits, fastPath = usualFastPath } = options;
  const isRobots = options.isRobots === true || isRobotsUrl(url);
  return new DocumentParser({ url, strict, problems, limits, urlsOnly, keepsAll, fastPath }, isRobots);
}

class DocumentParser implements EntryParser {
  readonly #context: ParseContext;
  readonly #isRobots: boolean;
  readonly #blanks = new LeadingBlanks();
  #start = "";
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
    return { kind: "invalid", reason: this.#refused ?? problem("empty") };
  }

  write(piece: TextPiece): Entries {
    if (this.#parser !== undefined) return this.#parser.write(piece);
    return this.#decide(String(piece), false);
  }

  end(): Entries {
    const before = this.#parser === undefined ? this.#decide("", true) : noEntries();
    if (this.#parser === undefined) return before;
    return joined([before, this.#parser.end()]);
  }

  crawlDelay(userAgent: string): number | undefined {
    return this.#parser?.crawlDelay?.(userAgent);
  }

  #decide(chunk: string, isWhole: boolean): Entries {
    if (this.#refused !== undefined) return noEntries();
    this.#start += this.#start === "" ? this.#blanks.takeOff(chunk) : chunk;
    // A file of NULs is not an empty one: a server or a disk has lost what was in it.
    const text = isWhole && this.#start === "" && this.#blanks.hasNuls ? "\0" : this.#start;
    const detected = detect(text, this.#isRobots, isWhole);
    if (detected === undefined) return noEntries();
    const start = this.#start;
    this.#start = "";
    return this.#begin(detected, start);
  }

  #begin(detected: Detected, start: string): Entries {
    switch (detected.as) {
      case "empty":
        this.#refused = problem("empty");
        return noEntries();
      case "nothing":
        this.#refused = problem("not-a-sitemap", { value: detected.what });
        return noEntries();
      case "robots":
        this.#parser = new RobotsParser(this.#context, { linesBefore: this.#blanks.lines, seems: detected.what });
        return this.#parser.write(start);
      case "text":
        this.#parser = new TextParser(this.#context, this.#blanks.lines);
        return this.#parser.write(start);
      case "xml":
        return this.#beginXml(start, detected.from);
    }
  }

  #beginXml(start: string, from: number): Entries {
    const { lineFeeds, shortened } = this.#blanks;
    // With `strict`, the scanner refuses text before the root.
    const junk = this.#context.strict ? "" : start.slice(0, from);
    if (junk !== "") {
      this.#context.problems.add("xml-junk-before-root", { line: lineFeeds + 1, value: junk.trim() });
    }
    this.#parser = new XmlParser(this.#context, lineFeeds + junk.split("\n").length - 1);
    // With `strict`, the scanner decides whether leading blanks are allowed.
    return this.#parser.write(junk === "" ? shortened + start : start.slice(from));
  }
}

function noEntries(): Entries {
  return { pages: [], sitemaps: [] };
}
