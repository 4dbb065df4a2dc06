// Collects the entries of feeds: RSS 2.0 and 0.9x, RSS 1.0 (RDF), Atom 1.0 and 0.3.
// https://www.rssboard.org/rss-specification, https://web.resource.org/rss/1.0/spec, https://www.rfc-editor.org/rfc/rfc4287
//   Lenient: an item without a link is a page if its guid is a URL, unless that says isPermaLink="false".
//   Lenient: an item needs neither title nor description.
import type { NewsStory, SitemapPage } from "../page.ts";
import type { ProblemCode } from "../problem.ts";
import { isHttpUrl } from "../url.ts";
import { readDate } from "./date.ts";
import type { EntrySink } from "./entry-sink.ts";
import type { TableTarget } from "./table-reader.ts";
import type { Draft } from "./urlset-reader.ts";
import type { ElementAttributes } from "./xml-handler.ts";

export class FeedReader implements TableTarget {
  readonly #sink: EntrySink;
  readonly #report: (code: ProblemCode, value?: string, limit?: number) => void;

  // The item that is open.
  #isOpen = false;
  #isInvalid = false;
  #link = "";
  #selfLink = "";
  #guid = "";
  #guidIsPermaLink = true;
  #title = "";
  #description = "";
  #published: string | undefined;
  #updated: string | undefined;

  constructor(sink: EntrySink, report: (code: ProblemCode, value?: string, limit?: number) => void) {
    this.#sink = sink;
    this.#report = report;
  }

  invalidate(): void {
    this.#isInvalid = true;
  }

  begin(): void {
    // Lenient: an item inside of an item ends that one, as if it had been closed.
    if (this.#isOpen) this.end();
    this.#isOpen = true;
    this.#isInvalid = false;
    this.#link = "";
    this.#selfLink = "";
    this.#guid = "";
    this.#guidIsPermaLink = true;
    this.#title = "";
    this.#description = "";
    this.#published = undefined;
    this.#updated = undefined;
  }

  setLink(text: string): void {
    if (this.#link === "") this.#link = text;
  }

  setGuid(text: string): void {
    if (this.#guid === "") this.#guid = text;
  }

  beginGuid(attributes: ElementAttributes): void {
    this.#guidIsPermaLink = attributes.get("isPermaLink")?.trim().toLowerCase() !== "false";
  }

  setTitle(text: string): void {
    if (this.#title === "") this.#title = text;
  }

  setDescription(text: string): void {
    if (this.#description === "") this.#description = text;
  }

  setPublished(text: string, form?: "rfc822"): void {
    this.#published ??= readDate(text, this.#report, form);
  }

  setUpdated(text: string): void {
    this.#updated ??= readDate(text, this.#report);
  }

  /** https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7.2: without `rel` a link is an alternate. */
  addAtomLink(attributes: ElementAttributes): void {
    const href = attributes.get("href")?.trim() ?? "";
    const rel = attributes.get("rel")?.trim().toLowerCase().replace(registeredRelation, "") ?? "";
    if (rel === "" || rel === "alternate") this.setLink(href);
    else if (rel === "self" && this.#selfLink === "") this.#selfLink = href;
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#sink.countEntry();
    if (this.#isInvalid) return;
    const link = this.#link || this.#selfLink || this.#permaLink();
    if (link === "") {
      this.#report("url-missing");
      return;
    }
    const url = this.#sink.takePageUrl(link);
    if (url !== undefined) this.#sink.addPage(this.#page(url));
  }

  #permaLink(): string {
    return this.#guidIsPermaLink && isHttpUrl(this.#guid) ? this.#guid : "";
  }

  #page(url: string): SitemapPage {
    const story: Draft<NewsStory> = {};
    const title = this.#title || this.#description;
    const publishDate = this.#published ?? this.#updated;
    if (title !== "") story.title = title;
    if (publishDate !== undefined) story.publishDate = publishDate;
    const page: Draft<SitemapPage> & Pick<SitemapPage, "url" | "priority"> = { url, priority: 0.5 };
    if (this.#updated !== undefined) page.lastModified = this.#updated;
    if (title !== "" || publishDate !== undefined) page.newsStory = story;
    return page;
  }
}

// A relation may also be written as the address of its entry in the registry.
const registeredRelation = /^https?:\/\/www\.iana\.org\/assignments\/relation\//;
