// llms.txt: Markdown with lists of links below headings. https://llmstxt.org/
//   "Each 'file list' is a markdown list, containing a required markdown hyperlink [name](url), then optionally a : and notes"
// The first link of each list item is a page; the heading above it is its section.
//   Lenient: a title, a summary and sections are not required.
import { detached } from "../model/detached.ts";
import { defaultPriority, type NewsStory } from "../model/page.ts";
import type { ProblemCode } from "../model/problem.ts";
import type { TextPiece } from "../model/utf8-text.ts";
import { type Entries, type EntryParser, EntrySink, type ParseContext, type ParseOutcome } from "./entries.ts";
import { type LineReader, LineSplitter } from "./text.ts";
import type { Draft } from "./urlset.ts";

const listedLink = /^\s{0,12}(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ x]\]\s+)?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^()\s<>]+)/;

/** Whether a text begins with a heading of Markdown, and has a list of links. */
export function isLlmsTxt(start: string): boolean {
  return /^#{1,6}\s/.test(start) && start.split(/\r\n?|\n/).some((line) => listedLink.test(line));
}

export class LlmsParser implements EntryParser, LineReader {
  readonly outcome: ParseOutcome = { kind: "pages", format: "llms" };
  readonly #context: ParseContext;
  readonly #lines: LineSplitter;
  readonly #sink: EntrySink;
  #section = "";
  stopped = false;

  /** `linesBefore`: how many lines of the document were removed before the written text. */
  constructor(context: ParseContext, linesBefore: number) {
    this.#context = context;
    this.#lines = new LineSplitter(this, context.limits.lineLength, linesBefore);
    const report = (code: ProblemCode, value?: string, limit?: number) => {
      const facts = { ...(value === undefined ? {} : { value }), ...(limit === undefined ? {} : { limit }) };
      context.problems.add(code, { line: this.#lines.line, ...facts });
    };
    const stop = () => {
      this.stopped = true;
    };
    this.#sink = new EntrySink({ report, stop }, context);
  }

  write(piece: TextPiece): Entries {
    if (!this.stopped) this.#lines.write(String(piece));
    return this.#sink.take();
  }

  end(): Entries {
    if (!this.stopped) this.#lines.end(this.#context.problems);
    this.#sink.finish();
    return this.#sink.take();
  }

  takeLine(text: string, from: number, to: number): void {
    if (this.stopped) return;
    const line = text.slice(from, to);
    const heading = /^#{2,6}\s+(.*)/.exec(line)?.[1];
    if (heading !== undefined) this.#section = plain(heading);
    const [, title = "", link] = listedLink.exec(line) ?? [];
    if (link === undefined) return;
    this.#sink.countEntry();
    const url = this.#sink.takePageUrl(detached(link));
    if (url === undefined) return;
    const story: Draft<NewsStory> = {};
    if (plain(title) !== "") story.title = plain(title);
    if (this.#section !== "") story.section = this.#section;
    const hasStory = Object.keys(story).length > 0;
    this.#sink.addPage({ url, priority: defaultPriority, ...(hasStory && { newsStory: story }) });
  }

  dropLine(): void {
    if (this.stopped) return;
    this.#context.problems.add("limit-line-length", { line: this.#lines.line, limit: this.#context.limits.lineLength });
  }
}

// Without the marks of Markdown around words.
function plain(markdown: string): string {
  return detached(
    markdown
      .replaceAll(/\\([^\w\s])/g, "$1")
      .replaceAll(/[*`]|(?<!\w)_|_(?!\w)/g, "")
      .replace(/\s+#+\s*$/, "")
      .trim(),
  );
}
