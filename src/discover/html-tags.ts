// Finds tags in HTML and reads their attributes (https://html.spec.whatwg.org/multipage/parsing.html). The HTML comes in chunks, and the
// result does not depend on how it is split. Takes linear time, even for hostile HTML.
//   Lenient: some tags are found wherever they are; nesting does not matter.
import { decodeHtmlReferences } from "../model/html-entities.ts";

/** The attributes of a tag by name, in lower case. If a name is repeated, the first attribute counts. */
export type Attributes = Readonly<Record<string, string>>;

/** Receives a tag; `at` is the offset where it begins. */
type OnTag = (name: string, attributes: Attributes, at: number) => void;

/** The maximum length of a tag in characters. Longer tags are skipped. */
export const longestTag: number = 64 * 1024;
const longestName = 16;
const longestEnd = "--!>".length;
// Tags inside these elements are ignored.
const texts: ReadonlySet<string> = new Set(["script", "style", "template", "textarea", "title"]);

export class HtmlTags {
  readonly #names: ReadonlySet<string>;
  readonly #onTag: OnTag;
  readonly #onLongTag: OnTag | undefined;
  // Text that cannot be interpreted yet: the beginning of a tag, or of the end of a comment.
  #rest = "";
  // The number of characters before `#rest`.
  #before = 0;
  // The length of `#rest` at which it is scanned again.
  #needed = 0;
  // What is being skipped: a comment, or an element until its end tag.
  #skipped: string | undefined;

  /** Calls `onTag` for start tags with one of these names, or `onLongTag` with the first attributes of those that are too long. */
  constructor(names: ReadonlySet<string>, onTag: OnTag, onLongTag?: OnTag) {
    this.#names = names;
    this.#onTag = onTag;
    this.#onLongTag = onLongTag;
  }

  write(piece: string): void {
    this.#rest += piece;
    if (this.#rest.length >= this.#needed) this.#scan(false);
  }

  /** Scans the remaining text. `isCut` means that the document was not read to its end, so its last tag may be incomplete. */
  end(isCut: boolean): void {
    if (!isCut) this.#scan(true);
  }

  #scan(isWhole: boolean): void {
    const html = this.#rest;
    let at = 0;
    for (let next: number | undefined = 0; next !== undefined; next = this.#step(html, at, isWhole)) at = next;
    this.#rest = html.slice(at);
    this.#before += at;
    // Waiting for twice the length keeps the time linear if a long tag arrives one character at a time.
    this.#needed = this.#rest.length * 2;
  }

  // Returns where to continue, or undefined if more text is needed.
  #step(html: string, at: number, isWhole: boolean): number | undefined {
    if (at >= html.length) return undefined;
    if (this.#skipped !== undefined) return this.#skip(html, at, this.#skipped, isWhole);
    const open = html.indexOf("<", at);
    if (open === -1) return html.length;
    if (!isWhole && html.length - open <= longestName + 1) return open === at ? undefined : open;
    if (html.startsWith("<!--", open)) {
      const short = /^-?>/.exec(html.slice(open + 4, open + 6));
      if (short !== null) return open + 4 + short[0].length;
      this.#skipped = "comment";
      return open + 4;
    }
    const name = tagName(html, open + 1);
    if (texts.has(name)) this.#skipped = name;
    // Quotes matter only in tags that are parsed; after any other tag name, the next "<" is found by searching.
    if (!this.#names.has(name)) return open + 1 + name.length;
    const { attributes, end } = readAttributes(html, open + 1 + name.length);
    if (end > html.length && !isWhole && html.length - open < longestTag) return open === at ? undefined : open;
    if (end - open > longestTag) {
      const cut = readAttributes(html.slice(0, open + longestTag), open + 1 + name.length);
      this.#onLongTag?.(name, cut.attributes, this.#before + open);
      return open + longestTag;
    }
    this.#onTag(name, attributes, this.#before + open);
    return end;
  }

  #skip(html: string, at: number, what: string, isWhole: boolean): number | undefined {
    const end = what === "comment" ? /--!?>/g : /<\//g;
    end.lastIndex = at;
    const found = end.exec(html);
    if (found === null) {
      // The end tag or comment end may be split: its beginning may be at the end of the text.
      const rest = isWhole ? html.length : html.length - longestEnd + 1;
      return rest > at ? rest : undefined;
    }
    if (what !== "comment") {
      if (!isWhole && html.length - found.index <= longestName + 2) return found.index === at ? undefined : found.index;
      if (tagName(html, end.lastIndex) !== what) return end.lastIndex;
    }
    this.#skipped = undefined;
    return end.lastIndex;
  }
}

/** Reads the name of a tag in lower case, after its `<` or `</`. Empty if there is none. */
export function tagName(html: string, start: number): string {
  namePattern.lastIndex = start;
  return (namePattern.exec(html)?.[0] ?? "").toLowerCase();
}

// A `<` does not belong to a name, so that a tag after one that was never closed is found.
const namePattern = /[a-z][^\t\n\f\r /<>]*/iy;

// https://html.spec.whatwg.org/multipage/parsing.html#before-attribute-name-state, without its error messages. An unclosed quote
// extends to the end.
const attribute =
  /[\t\n\f\r /]*(?:([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"?|'([^']*)'?|([^\t\n\f\r >]*)))?)?/y;

/** Reads the attributes of a tag, starting after its name. `end` is the offset after the tag. */
export function readAttributes(html: string, start: number): { attributes: Attributes; end: number } {
  const attributes: Record<string, string> = Object.create(null);
  attribute.lastIndex = start;
  for (;;) {
    const [, name, double, single, bare] = attribute.exec(html) ?? [];
    if (name === undefined) break;
    const value = double ?? single ?? bare ?? "";
    attributes[name.toLowerCase()] ??= value.includes("&") ? decodeHtmlReferences(value, true) : value;
  }
  return { attributes, end: attribute.lastIndex + 1 };
}
