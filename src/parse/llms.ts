// llms.txt: Markdown with lists of links below headings. https://llmstxt.org/
//   "Each 'file list' is a markdown list, containing a required markdown hyperlink [name](url), then optionally a : and notes"
// The first link of each list item is a page; the heading above it is its section.
//   Lenient: a title, a summary and sections are not required.
import type { NewsStory } from "../model/page.ts";
import { detached } from "../model/text.ts";
import type { Draft, ParseOutcome } from "./entries.ts";
import { LineParser } from "./lines.ts";

// Matches the first link, which may follow other text, a check box or an image. Its text may have brackets in pairs, as an image has. A URL may
// be in angle brackets, and have parentheses in pairs.
const listedLink =
  /^\s{0,12}(?:[-*+]|\d{1,4}[.)])\s.*?(?<![!\\])\[((?:[^[\]\\]|\\.|\[(?:[^[\]\\]|\\.)*\])*)\]\(\s*(?:<([^<>]+)>|((?:[^()\s<>]|\([^()\s<>]*\))+))/;

/** Whether a text begins with a Markdown heading and has a list with a link. */
export function isLlmsTxt(start: string): boolean {
  return /^#{1,6}\s/.test(start) && start.split(/\r\n?|\n/).some((line) => listedLink.test(line));
}

export class LlmsParser extends LineParser {
  readonly outcome: ParseOutcome = { kind: "pages", format: "llms" };
  #section = "";
  // The fence that ends the current code block.
  #fence: string | undefined;

  protected takeLine(line: string): void {
    const fence = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined && this.#fence === undefined) this.#fence = fence;
    else if (fence?.startsWith(this.#fence ?? " ")) this.#fence = undefined;
    if (fence !== undefined || this.#fence !== undefined) return;
    const heading = /^#{2,6}\s+(.*)/.exec(line)?.[1];
    if (heading !== undefined) this.#section = plain(heading);
    const [, title = "", bracketed, link = bracketed] = listedLink.exec(line) ?? [];
    const url = link === undefined ? undefined : this.takePageUrl(link);
    if (url === undefined) return;
    const story: Draft<NewsStory> = {};
    if (plain(title) !== "") story.title = plain(title);
    if (this.#section !== "") story.section = this.#section;
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
