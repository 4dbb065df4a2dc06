// JSON Feed 1 and 1.1: https://www.jsonfeed.org/version/1.1/
// Items are read one by one, so that a feed that is cut off keeps those before. Of the feed and of each item, only what stands directly in
// it is kept: nested values become 0, and texts that are too long, such as the content of a page, become empty.
//   Lenient: an item without a URL is a page if its id is one.
import type { ProblemCode } from "../model/problem.ts";
import type { TextPiece } from "../model/text.ts";
import { type Entries, type EntryParser, EntrySink, type ParseContext, type ParseOutcome } from "./entries.ts";
import { FeedReader } from "./feed.ts";
import { noAttributes } from "./xml/attributes.ts";

/** Found where a JSON Feed names its version. JSON may write a slash as `\/`. */
export const jsonFeedVersion: RegExp = /"version"\s*:\s*"https?:\\?\/\\?\/(?:www\.)?jsonfeed\.org\\?\/version\\?\//;

/** The text of an object without what is nested in it. */
class FlatObject {
  #parts: string[] = [];
  #length = 0;
  /** The last string, or the one that is being read. */
  string = "";
  #isLong = false;

  begin(bracket: string): void {
    this.#parts = [];
    this.#length = 0;
    this.add(bracket);
  }

  add(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
    this.#length += text.length;
  }

  beginString(): void {
    this.string = "";
    this.#isLong = false;
  }

  addToString(text: string, limit: number): void {
    this.#isLong ||= this.string.length + text.length > limit;
    this.string = this.#isLong ? "" : this.string + text;
  }

  endString(): void {
    this.add(`"${this.string}"`);
  }

  get isTooLong(): boolean {
    return this.#length > mostText;
  }

  /** Undefined if it is not JSON. */
  parse(): Readonly<Record<string, unknown>> | undefined {
    try {
      return JSON.parse(this.#parts.join(""));
    } catch {
      return undefined;
    }
  }
}

export class JsonFeedParser implements EntryParser {
  readonly #context: ParseContext;
  readonly #sink: EntrySink;
  readonly #reader: FeedReader;
  readonly #feed = new FlatObject();
  readonly #item = new FlatObject();
  #line: number;
  #depth = 0;
  #isInItems = false;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;
  stopped = false;

  /** `linesBefore`: how many line ends of the document were removed before the written text. */
  constructor(context: ParseContext, linesBefore: number) {
    this.#context = context;
    this.#line = linesBefore + 1;
    const report = (code: ProblemCode, value?: string, limit?: number) => {
      const facts = { ...(value === undefined ? {} : { value }), ...(limit === undefined ? {} : { limit }) };
      context.problems.add(code, { line: this.#line, ...facts });
    };
    const stop = () => {
      this.stopped = true;
    };
    this.#sink = new EntrySink({ report, stop }, context);
    this.#reader = new FeedReader(this.#sink, report, context.url);
  }

  get outcome(): ParseOutcome {
    const { next } = this.#reader;
    return { kind: "pages", format: "json", ...(next === undefined ? {} : { next }) };
  }

  write(piece: TextPiece): Entries {
    const text = String(piece);
    for (let at = 0; at < text.length && !this.stopped && !this.#isOver; ) {
      at = this.#isInString ? this.#readString(text, at) : this.#readStructure(text, at);
    }
    return this.#sink.take();
  }

  end(): Entries {
    const { problems } = this.#context;
    if (!this.stopped && !this.#isOver) this.#break();
    this.#sink.finish();
    if (this.#sink.entryCount === 0 && problems.complete) problems.add("no-entries");
    return this.#sink.take();
  }

  #readString(text: string, at: number): number {
    const object = this.#object;
    const { xmlTextLength } = this.#context.limits;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      object?.addToString(text.charAt(at), xmlTextLength);
      return at + 1;
    }
    stringEnd.lastIndex = at;
    const end = stringEnd.exec(text)?.index ?? text.length;
    object?.addToString(text.slice(at, end), xmlTextLength);
    if (text[end] === "\\") {
      this.#isEscaped = true;
      object?.addToString("\\", xmlTextLength);
    } else if (text[end] === '"') {
      this.#isInString = false;
      object?.endString();
    }
    return end + 1;
  }

  #readStructure(text: string, at: number): number {
    structure.lastIndex = at;
    const end = structure.exec(text)?.index ?? text.length;
    const before = text.slice(at, end);
    this.#line += before.split("\n").length - 1;
    const object = this.#object;
    object?.add(before.replaceAll(/\s+/g, ""));
    if (object?.isTooLong) this.#break();
    const character = text[end];
    if (character === '"') {
      this.#isInString = true;
      object?.beginString();
    } else if (character === "{" || character === "[") this.#open(character);
    else if (character !== undefined) this.#close(character);
    return end + 1;
  }

  #open(bracket: string): void {
    if (this.#depth === 1) this.#isInItems = bracket === "[" && this.#feed.string === "items";
    this.#object?.add("0");
    this.#depth += 1;
    this.#object?.begin(bracket);
  }

  #close(bracket: string): void {
    this.#object?.add(bracket);
    if (this.#object === this.#item) this.#endItem();
    this.#depth -= 1;
    if (this.#depth > 0) return;
    this.#isOver = true;
    const { next_url: next } = this.#feed.parse() ?? {};
    if (typeof next === "string") this.#reader.setFeedLink("next", next);
  }

  // What is being read, if it is wanted.
  get #object(): FlatObject | undefined {
    if (this.#depth === 1) return this.#feed;
    return this.#depth === 3 && this.#isInItems ? this.#item : undefined;
  }

  #endItem(): void {
    const item = this.#item.parse();
    if (item === undefined) {
      this.#context.problems.add("json-not-well-formed", { line: this.#line });
      return;
    }
    const reader = this.#reader;
    const text = (name: string): string => {
      const value = item[name];
      return typeof value === "string" ? value.trim() : "";
    };
    reader.begin(noAttributes);
    reader.setLink(text("url"));
    Object.assign(reader.item, {
      guid: text("id"),
      title: text("title"),
      description: text("summary"),
      image: text("image"),
      language: text("language"),
    });
    if (text("date_published") !== "") reader.setPublished(text("date_published"));
    if (text("date_modified") !== "") reader.setUpdated(text("date_modified"));
    reader.end();
  }

  #break(): void {
    this.#context.problems.add("json-not-well-formed", { line: this.#line });
    this.stopped = true;
  }
}

const stringEnd = /["\\]/g;
const structure = /["{}[\]]/g;
// Of one object, in characters.
const mostText = 1_000_000;
