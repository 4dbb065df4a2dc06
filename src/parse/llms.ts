// llms.txt: Markdown with lists of links below headings. https://llmstxt.org/
//   "Each 'file list' is a markdown list, containing a required markdown hyperlink [name](url), then optionally a : and notes"
// The first link of each list item is a page; the heading above it is its section.
//   Lenient: a title, a summary and sections are not required.
//   Lenient: without a link, a URL at the start or end of a list item is a page; reported. So is the URL of a link that is defined elsewhere.
import type { NewsStory } from "../model/page.ts";
import { detached } from "../model/text.ts";
import type { Draft, Entries, ParseOutcome } from "./entries.ts";
import { LineParser, listItem } from "./lines.ts";

// Matches the first link of a list item, which may follow other text, a check box or an image. Its text may have brackets in pairs, as an image
// has. A URL may be in angle brackets, and have parentheses in pairs.
const link =
  /(?<![!\\])\[((?:[^[\]\\]|\\.|\[(?:[^[\]\\]|\\.)*\])*)\]\(\s*(?:<([^<>]+)>|((?:[^()\s<>]|\([^()\s<>]*\))+))/;
// These match a link whose URL is defined on another line, such a definition, and a URL at the start or end.
const reference = /(?<![!\\\w])\[([^[\]]+)\]\[([^[\]]*)\]/;
const definition = /^\s{0,3}\[([^[\]]+)\]:\s*<?([^\s<>]+)/;
const bareUrl = /^[<*]*(https?:\/\/[^\s<>]*[^\s<>.,;:)*])|\s[<*]*(https?:\/\/[^\s<>]*[^\s<>.,;:)*])[^\s\w/]*$/i;
// Labels beyond these are not kept.
const mostLabels = 10_000;

/** Whether a text begins with a Markdown heading and has a list with a link. */
export function isLlmsTxt(start: string): boolean {
  return /^#{1,6}\s/.test(start) && start.split(/\r\n?|\n/).some((line) => link.test(listItem.exec(line)?.[1] ?? ""));
}

export class LlmsParser extends LineParser {
  readonly outcome: ParseOutcome = { kind: "pages", format: "llms" };
  #section = "";
  // The fence that ends the current code block.
  #fence: string | undefined;
  // By label: a URL that was defined, or the first link whose URL was not yet.
  readonly #labels = new Map<string, string | { title: string; section: string; line: number; item: string }>();

  protected takeLine(line: string): void {
    const fence = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined && this.#fence === undefined) this.#fence = fence;
    else if (fence?.startsWith(this.#fence ?? " ")) this.#fence = undefined;
    if (fence !== undefined || this.#fence !== undefined) return;
    const heading = /^#{2,6}\s+(.*)/.exec(line)?.[1];
    if (heading !== undefined) this.#section = plain(heading);
    const item = listItem.exec(line)?.[1] ?? "";
    const [, title = "", bracketed, url = bracketed] = link.exec(item) ?? [];
    if (url === undefined) this.#takeOther(line, item);
    else this.#add(url, title, this.#section);
  }

  #takeOther(line: string, item: string): void {
    const [, defined = "", target] = definition.exec(line) ?? [];
    const [, title = "", label] = reference.exec(item) ?? [];
    const [, first, url = first] = bareUrl.exec(item) ?? [];
    const key = (label?.trim() || title || defined).trim().toLowerCase();
    const known = this.#labels.get(key);
    const hasRoom = this.#labels.size < mostLabels;
    if (target !== undefined) {
      if (typeof known === "string") return;
      if (known !== undefined || hasRoom) this.#labels.set(key, target);
      if (known !== undefined) this.#add(target, known.title, known.section);
    } else if (typeof known === "string") this.#add(known, title, this.#section);
    else if (label !== undefined && !hasRoom) this.report("text-junk", item);
    else if (label !== undefined) {
      this.#labels.set(key, known ?? { title, section: this.#section, line: this.line, item: detached(item) });
    } else if (url !== undefined) {
      this.report("text-extra", item);
      this.#add(url, "", this.#section);
    }
  }

  override end(): Entries {
    const entries = super.end();
    for (const user of this.#labels.values()) {
      if (typeof user !== "string") this.context.problems.addAt(user.line, "text-junk", user.item);
    }
    return entries;
  }

  #add(written: string, title: string, section: string): void {
    const url = this.takePageUrl(written);
    if (url === undefined) return;
    const story: Draft<NewsStory> = {};
    if (plain(title) !== "") story.title = plain(title);
    if (section !== "") story.section = section;
    const hasStory = Object.keys(story).length > 0;
    this.sink.addPage({ url, ...(hasStory && { newsStory: story }) });
  }
}

// Removes escapes, emphasis, code marks and closing `#`s from a Markdown text.
function plain(markdown: string): string {
  return detached(
    markdown
      .replaceAll(/\\([^\w\s])/g, "$1")
      .replaceAll(/[*`]|(?<!\w)_|_(?!\w)/g, "")
      .replace(/\s+#+\s*$/, "")
      .trim(),
  );
}
