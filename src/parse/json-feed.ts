// JSON Feed 1 and 1.1: https://www.jsonfeed.org/version/1.1/
// Items are read one by one, so that those before a cut are kept.
//   Lenient: an item without a URL is a page if its id is one.
import type { TextPiece } from "../model/text.ts";
import type { Entries, ParseContext, ParseOutcome } from "./entries.ts";
import { FeedReader } from "./feed.ts";
import { PlainParser } from "./lines.ts";
import { noAttributes } from "./xml/attributes.ts";

/** Occurs in the version of a JSON Feed. JSON may write a slash as `\/`. */
export const jsonFeedVersion: RegExp = /"version"\s*:\s*"https?:\\?\/\\?\/(?:www\.)?jsonfeed\.org\\?\/version\\?\//;

export class JsonFeedParser extends PlainParser {
  readonly #reader: FeedReader;
  #depth = 0;
  #isInItems = false;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;
  // The text so far of the current item, and of the feed without its items.
  #item = "";
  #feed = "";
  // The end of the latter: the name of the next member.
  #tail = "";

  /** `linesBefore`: how many line ends of the document were removed before the written text. */
  constructor(context: ParseContext, linesBefore: number) {
    super(context, linesBefore + 1);
    this.#reader = new FeedReader(this.sink, this.report.bind(this), context.url);
  }

  get outcome(): ParseOutcome {
    const { next } = this.#reader;
    return { kind: "pages", format: "json", ...(next === undefined ? {} : { next }) };
  }

  write(piece: TextPiece): Entries {
    const text = String(piece);
    let from = 0;
    mark.lastIndex = this.#isEscaped ? 1 : 0;
    if (text !== "") this.#isEscaped = false;
    for (let found = mark.exec(text); found !== null && !this.stopped && !this.#isOver; found = mark.exec(text)) {
      const { 0: character, index } = found;
      if (character === "\n") this.line++;
      else if (character.startsWith("\\")) this.#isEscaped = character.length === 1;
      else if (character === '"') this.#isInString = !this.#isInString;
      else if (!this.#isInString) {
        const isStart = character === "{" || character === "[";
        const end = isStart ? index : index + 1;
        this.#add(text.slice(from, end));
        from = end;
        if (isStart) this.#open(character);
        else this.#close();
      }
    }
    this.#add(text.slice(from));
    return this.sink.take();
  }

  end(): Entries {
    const { problems } = this.context;
    if (!this.stopped && !this.#isOver) this.#break();
    if (this.sink.entryCount === 0 && problems.complete) problems.add("no-entries");
    return this.sink.finish();
  }

  #add(text: string): void {
    if (this.stopped || this.#isOver) return;
    if (this.#isInItems && this.#depth > 2) this.#item += text;
    else if (!this.#isInItems) {
      this.#feed += text;
      this.#tail = (this.#tail + text).slice(-longestName);
    }
    if (this.#item.length > mostText || this.#feed.length > mostText) this.#break();
  }

  #open(bracket: string): void {
    this.#depth += 1;
    if (this.#depth !== 2 || bracket !== "[" || !itemsName.test(this.#tail)) return;
    this.#isInItems = true;
    this.#feed += "0";
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth === 2 && this.#isInItems) this.#endItem();
    else if (this.#depth === 1) this.#isInItems = false;
    if (this.#depth > 0) return;
    this.#isOver = true;
    const { next_url: next } = parse(this.#feed) ?? {};
    if (typeof next === "string") this.#reader.setFeedLink("next", next);
  }

  #endItem(): void {
    const item = parse(this.#item);
    this.#item = "";
    if (item === undefined) {
      this.report("json-not-well-formed");
      return;
    }
    const reader = this.#reader;
    const text = (name: string): string => {
      const value = item[name];
      return typeof value === "string" && value.length <= this.context.limits.xmlTextLength ? value.trim() : "";
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
    this.report("json-not-well-formed");
    this.stopped = true;
  }
}

// Undefined if it is not an object.
function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const mark = /\\[\s\S]?|["{}[\]\n]/g;
const itemsName = /"items"\s*:\s*$/;
const longestName = 64;
// Of one item, or of the feed without its items, in characters.
const mostText = 4_000_000;
