// JSON Feed 1 and 1.1: https://www.jsonfeed.org/version/1.1/
// The document is read as a whole, because only a JSON parser can tell where an item ends. Therefore its size is limited.
//   Lenient: an item without a URL is a page if its id is one.
//   Lenient: the items of several lists are read; reported.
//   Lenient: anything after the JSON is ignored; reported.
import { documentProblem } from "../model/problem-log.ts";
import type { TextPiece } from "../model/text.ts";
import type { Entries, ParseContext, ParseOutcome } from "./entries.ts";
import { FeedReader } from "./feed.ts";
import { PlainParser } from "./lines.ts";
import { noAttributes } from "./xml/attributes.ts";

export class JsonFeedParser extends PlainParser {
  readonly #reader: FeedReader;
  #pieces: string[] = [];
  #length = 0;
  #isFeed = false;

  constructor(context: ParseContext) {
    super(context);
    this.#reader = new FeedReader(this.sink, this.report.bind(this), context.url);
  }

  get outcome(): ParseOutcome {
    if (!this.#isFeed) return { kind: "invalid", reason: documentProblem("not-a-sitemap", { value: "json" }) };
    const { next } = this.#reader;
    return { kind: "pages", format: "json", ...(next === undefined ? {} : { next }) };
  }

  // Problems have no line, because the line of an item is not known.
  override report(...[code, value, limit]: Parameters<PlainParser["report"]>): void {
    this.context.problems.add(code, { ...(value !== undefined && { value }), ...(limit !== undefined && { limit }) });
  }

  write(piece: TextPiece): Entries {
    const text = String(piece);
    this.#length += text.length;
    this.stopped ||= this.#length > maxLength;
    if (!this.stopped) this.#pieces.push(text);
    return this.sink.take();
  }

  end(): Entries {
    const text = this.#pieces.join("");
    this.#pieces = [];
    const feed = this.stopped ? undefined : (parsed(text) ?? this.#withoutRest(text));
    this.#isFeed = feedVersion.test(feed === undefined ? text : String(feed["version"]));
    if (!this.#isFeed) return this.sink.finish();
    if (this.stopped) this.report("limit-document-bytes", undefined, maxLength);
    else this.#take(feed);
    const { problems } = this.context;
    if (this.sink.entryCount === 0 && problems.complete) problems.add("no-entries");
    return this.sink.finish();
  }

  #withoutRest(text: string): Values | undefined {
    const feed = parsed(text.slice(0, text.lastIndexOf("}") + 1));
    if (feed !== undefined) this.report("json-not-well-formed");
    return feed;
  }

  #take(feed: Values | undefined): void {
    const { next_url: next, ...rest } = feed ?? {};
    const lists = Object.keys(rest).flatMap((name) =>
      /^items( \d+)?$/.test(name) && Array.isArray(rest[name]) ? [rest[name]] : [],
    );
    if (lists.length === 0) this.report("json-not-well-formed", feed && "items");
    if (lists.length > 1) this.report("xml-misplaced", "items");
    for (const item of lists.flat()) if (!this.stopped) this.#takeItem(Object(item));
    if (typeof next === "string" && next.trim() !== "") this.#reader.setFeedLink("next", next.trim());
    else if (next && typeof next !== "string") this.report("feed-next", `invalid URL ${JSON.stringify(next)}`);
  }

  #takeItem(item: Values): void {
    const { xmlTextLength: longest } = this.context.limits;
    const text = (name: string): string => {
      const written = item[name];
      if (typeof written !== "string") return "";
      // Half a surrogate pair (`\\ud800`) is no character: it becomes U+FFFD, as in output.
      const value = (written as string & { toWellFormed(): string }).toWellFormed();
      if (value.length <= longest || name === "url" || name === "id") return value.trim();
      this.report("limit-text-length", name, longest);
      return "";
    };
    const reader = this.#reader;
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
}

type Values = Readonly<Record<string, unknown>>;

// Parses the object in the text. Returns undefined if there is none. A name that is repeated would replace the value before, so each further
// `items` gets its own: `items 2`.
function parsed(text: string): Values | undefined {
  let lists = 0;
  try {
    const value: unknown = JSON.parse(text.replace(itemsName, (name) => (lists++ === 0 ? name : `"items ${lists}"`)));
    return typeof value === "object" && value !== null ? (value as Values) : undefined;
  } catch {
    return undefined;
  }
}

// Inside a string, a quote follows a backslash.
const itemsName = /(?<!\\)"items"(?=\s*:)/g;
// JSON may write a slash as `\/`.
const feedVersion = /https?:\\?\/\\?\/(?:www\.)?jsonfeed\.org\\?\/version\\?\//;
// The maximum number of characters. The result of `JSON.parse` takes many times as much memory.
const maxLength = 10_000_000;
