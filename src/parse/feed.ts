// Collects the entries of feeds: RSS 2.0 and 0.9x, RSS 1.0 (RDF) and 1.1, Atom 1.0 and 0.3. JSON Feed (json-feed.ts) uses it, too.
// https://www.rssboard.org/rss-specification, https://web.resource.org/rss/1.0/spec, https://www.rfc-editor.org/rfc/rfc4287
// https://www.w3.org/TR/xmlbase/: relative links are resolved against the xml:base of the elements around them.
//   Lenient: an item without a link is a page if its guid is a URL, unless that says isPermaLink="false".
//   Lenient: an item without a link is a page if it has an Atom link to one.
//   Lenient: an item with several links is several pages; its other fields belong to the first.
//   Lenient: `<link href="…">` in RSS, `<link>…</link>` in Atom, and a URL as text in an item are links.
//   Lenient: an item needs neither title nor description.
import type { NewsStory, SitemapPage } from "../model/page.ts";
import { isHttpUrl, resolveUrl } from "../model/url.ts";
import { resolveListedUrl, urlsIn } from "../model/url-forms.ts";
import { readDate } from "./dates.ts";
import type { Draft, EntrySink, EntrySource, PageDraft } from "./entries.ts";
import { ElementRule, elements, type Format, type Part as RulePart, type TableTarget, wrapper } from "./table.ts";
import { noAttributes, type XmlAttributes } from "./xml/attributes.ts";
import { decodeHtml } from "./xml/text.ts";

class FeedItem {
  link = "";
  moreLinks: string[] = [];
  // The best `<atom:link>` so far, and its rank by the type of its target.
  alternate = "";
  alternateRank = 0;
  alternateKind = "";
  selfLink = "";
  guid = "";
  guidIsPermaLink = true;
  title = "";
  description = "";
  // These report why the guid or the description could not be used.
  missedGuid: (() => void) | undefined;
  missedText: (() => void) | undefined;
  published: string | undefined;
  updated: string | undefined;
  image = "";
  language = "";
}

export class FeedReader implements TableTarget {
  readonly #sink: EntrySink;
  readonly #url: string | undefined;
  readonly #report: EntrySource["report"];
  /** The current item. */
  item: FeedItem = new FeedItem();
  /** Whether the open element contains escaped HTML. */
  isHtml = false;
  /** Whether the open Atom link has no URL, and may contain one as text. */
  mayHaveText = false;
  #isOpen = false;
  /** Whether a channel was found, which makes the document a feed even without items. */
  hasChannel = false;
  #next: string | undefined;
  #archive: string | undefined;

  // The xml:base of the current root, channel, item and link; undefined if inherited.
  readonly #bases: (string | undefined)[] = [];

  readonly #hasOwnLinks: boolean;

  /** `url` is the document's URL, to resolve a relative `xml:base`. `isAtom` means that Atom links are the links of its entries. */
  constructor(sink: EntrySink, report: EntrySource["report"], url: string | undefined, isAtom = false) {
    this.#hasOwnLinks = isAtom;
    this.#sink = sink;
    this.#report = report;
    this.#url = url;
  }

  endImplied(): void {
    // The root itself may be an Atom entry, which ends with the document.
    this.end();
  }

  /** Applies the `xml:base` of an element that starts, if it has one. */
  setBase(level: BaseLevel, attributes: XmlAttributes): void {
    this.#bases.length = Math.min(this.#bases.length, level);
    const base = attributes.count === 0 ? undefined : attributes.get("xml:base")?.trim();
    if (!base) return;
    const around = this.#base;
    this.#bases[level] = resolveUrl(base, around ?? this.#url, maxBaseLength).url ?? around;
  }

  get #base(): string | undefined {
    return this.#bases.findLast((base) => base !== undefined);
  }

  // Resolves a link against `xml:base`. Without one, the sink resolves it against the document's URL.
  #resolved(link: string): string {
    const base = this.#base;
    // Absolute URLs are checked once, with the item.
    if (base === undefined || link === "" || absolute.test(link)) return link;
    return resolveListedUrl(link, base, maxBaseLength).url ?? link;
  }

  begin(attributes: XmlAttributes, isMisplaced = false): void {
    if (isMisplaced) this.#report("xml-misplaced");
    if (this.#isOpen) this.end();
    this.setBase(baseLevels.item, attributes);
    this.#isOpen = true;
    this.item = new FeedItem();
  }

  /** Takes a URL that is written as text, in place of an item. */
  takeStray(url: string): void {
    this.#report("xml-misplaced", url);
    this.begin(noAttributes);
    this.setLink(url);
    this.end();
  }

  /** Takes a link of the feed itself: to its next page, or to an archive of older entries. https://www.rfc-editor.org/rfc/rfc5005 */
  addFeedLink(attributes: XmlAttributes): void {
    const relations = relationsOf(attributes);
    const rel = (["next", "prev-archive"] as const).find((each) => relations.includes(each));
    if (rel !== undefined) this.setFeedLink(rel, attributes.url(attributes.find("href")));
  }

  setFeedLink(rel: "next" | "prev-archive", href: string): void {
    const { url } = resolveListedUrl(href, this.#base ?? this.#url, maxBaseLength);
    const known = rel === "next" ? this.#next : this.#archive;
    if (url === undefined) this.#report("feed-next", `invalid URL ${href.slice(0, shownLength)}`);
    else if (known !== undefined && known !== url) {
      this.#report("feed-next", `several: ${url.slice(0, shownLength)}`);
    } else if (rel === "next") this.#next = url;
    else this.#archive = url;
  }

  /** The URL of the next page of the feed or, without one, of an archive of older entries. */
  get next(): string | undefined {
    return this.#next ?? this.#archive;
  }

  setLink(text: string): void {
    if (text === "") return;
    const { item } = this;
    const link = this.#resolved(text);
    if (item.link === "") item.link = link;
    else if (link !== item.link) this.#addMore(link);
  }

  #addMore(link: string): void {
    if (this.item.moreLinks.length < mostLinks) this.item.moreLinks.push(link);
    else this.#report("limit-document-entries", undefined, mostLinks);
  }

  /** Takes a link that is written as in Atom, although this is RSS, or the other way around, or as text. */
  setOddLink(code: "xml-namespace" | "xml-misplaced", text: string): void {
    if (text === "") return;
    this.#report(code, code === "xml-namespace" ? "link" : text);
    this.setLink(text);
  }

  /** Takes a `<link href="…">` in RSS. */
  addPlainLink(attributes: XmlAttributes): void {
    this.setBase(baseLevels.link, attributes);
    const href = attributes.url(attributes.find("href"));
    if (href !== "" && isAlternate(relationsOf(attributes))) this.setOddLink("xml-namespace", href);
  }

  /** Remembers why a fallback could not be used. It is reported only if nothing replaces the fallback. */
  missFallback(name: string, report: () => void): void {
    if (name === "guid") this.item.missedGuid ??= report;
    else this.item.missedText ??= report;
  }

  setPublished(text: string, form?: "rfc822"): void {
    this.item.published ??= readDate(text, this.#report, form);
  }

  setUpdated(text: string): void {
    this.item.updated ??= readDate(text, this.#report);
  }

  /**
   * Takes an Atom link. Without `rel` it is an alternate: https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7.2. The first alternate counts,
   * but links to HTML, and those without a type, are preferred. Others of its type are pages, too, and so is HTML in other languages.
   */
  addAtomLink(attributes: XmlAttributes): void {
    this.setBase(baseLevels.link, attributes);
    const relations = relationsOf(attributes);
    const isSelf = relations.includes("self");
    this.mayHaveText = isAlternate(relations) && attributes.find("href") === -1;
    if (!isSelf && !isAlternate(relations)) return;
    const href = this.#resolved(attributes.url(attributes.find("href")));
    const { item } = this;
    if (isSelf) item.selfLink ||= href;
    if (href === "" || isSelf) return;
    const type = attributes.get("type")?.trim().toLowerCase() ?? "";
    const rank = type === "" || /^(text\/html|application\/xhtml\+xml)\b/.test(type) ? 2 : 1;
    // https://www.rfc-editor.org/rfc/rfc4287#section-4.1.2 allows only one link of each type and language.
    const language = ` ${attributes.get("hreflang")}`;
    const kind = type + language;
    const isOther = rank + item.alternateRank === 4 && !item.alternateKind.endsWith(language);
    const isMore = isOther || kind === item.alternateKind;
    if (this.#hasOwnLinks && isMore && href !== item.alternate) this.#addMore(href);
    if (rank <= item.alternateRank) return;
    item.alternateKind = kind;
    item.alternate = href;
    item.alternateRank = rank;
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#sink.countEntry();
    const { item } = this;
    const permaLink = item.guidIsPermaLink && urlsIn(item.guid).every(isHttpUrl) ? item.guid : "";
    const found = item.link || item.alternate || permaLink || item.selfLink;
    const [link = "", ...others] = [found, ...item.moreLinks].flatMap(urlsIn);
    if (link === "") {
      item.missedGuid?.();
      this.#report("url-missing");
      return;
    }
    if (item.title === "" && item.description === "") item.missedText?.();
    const url = this.#sink.takeUrl("page", link);
    if (url !== undefined) this.#sink.addPage(this.#page(url, item));
    for (const more of others) {
      this.#report("url-several", more);
      const other = this.#sink.takeUrl("page", more);
      if (other !== undefined) this.#sink.addPage({ url: other });
    }
  }

  #page(url: string, item: FeedItem): SitemapPage {
    const story: Draft<NewsStory> = {};
    const title = item.title || item.description;
    const publishDate = item.published ?? item.updated;
    if (title !== "") story.title = title;
    if (publishDate !== undefined) story.publishDate = publishDate;
    if (item.language !== "") story.publicationLanguage = item.language;
    const page: PageDraft = { url };
    if (item.updated !== undefined) page.lastModified = item.updated;
    if (title !== "" || publishDate !== undefined) page.newsStory = story;
    const image = item.image === "" ? undefined : this.#sink.resolveUrl(item.image);
    if (image !== undefined) page.images = [{ url: image }];
    return page;
  }
}

/** The nesting levels of elements that can have an `xml:base`. */
export const baseLevels = { root: 0, channel: 1, item: 2, link: 3 } as const;
type BaseLevel = (typeof baseLevels)[keyof typeof baseLevels];

// Longer URLs are not used as `xml:base`, not resolved against one, and not used as the next page.
const maxBaseLength = 8192;
// How many characters of a URL a problem shows.
const shownLength = 200;

const absolute = /^https?:\/\//i;
// The maximum number of links per item, besides the first. Most items have only that.
const mostLinks = 100;

// Returns the values of `rel`. An empty list means "alternate".
function relationsOf(attributes: XmlAttributes): string[] {
  const relations = attributes.get("rel")?.trim().toLowerCase().split(/\s+/) ?? [];
  return relations.filter((rel) => rel !== "").map((rel) => rel.replace(registeredRelation, ""));
}

function isAlternate(relations: readonly string[]): boolean {
  return relations.length === 0 || relations.includes("alternate");
}

// A relation may also be written as its registration URI.
const registeredRelation = /^https?:\/\/www\.iana\.org\/assignments\/relation\//;

// The elements of feeds that matter: items, their links, titles and dates.

type Rules = Map<string, ElementRule<FeedReader>>;

const published: RulePart<FeedReader> = { text: (reader, text) => reader.setPublished(text) };
const updated: RulePart<FeedReader> = { text: (reader, text) => reader.setUpdated(text) };

const item: Rules = new Map([
  ...elements<FeedReader>("rss", {
    title: { text: ({ item }, text) => void (item.title ||= text) },
    link: {
      isUrl: true,
      open: (reader, attributes) => reader.addPlainLink(attributes),
      text: (reader, text) => reader.setLink(text),
    },
    guid: {
      open({ item }, attributes) {
        item.guidIsPermaLink = attributes.get("isPermaLink")?.trim().toLowerCase() !== "false";
      },
      isUrl: true,
      isFallback: true,
      text: ({ item }, text) => void (item.guid ||= text),
    },
    description: { isFallback: true, text: ({ item }, text) => void (item.description ||= text) },
    pubDate: { text: (reader, text) => reader.setPublished(text, "rfc822") },
  }),
  // Dates of RSS 1.0 are in the Dublin Core module, https://web.resource.org/rss/1.0/modules/dc/, or use its qualified terms.
  ...elements<FeedReader>("dc", {
    date: published,
    issued: published,
    created: published,
    modified: updated,
  }),
  ...elements<FeedReader>("atom", { link: { open: (reader, attributes) => reader.addAtomLink(attributes) } }),
]);

// Creates the rule for an item or entry: in its proper place, or inside unknown elements, which may be misspelled or not closed.
function listed(children: Rules, isMisplaced: boolean): RulePart<FeedReader> {
  return {
    isEntry: true,
    children,
    open: (reader, attributes) => reader.begin(attributes, isMisplaced),
    close: (reader) => reader.end(),
    stray: (reader, url) => reader.setOddLink("xml-misplaced", url),
  };
}

const aroundItems: Rules = new Map();
const anything: ElementRule<FeedReader> = wrapper(aroundItems);
const around = { others: anything, foreign: anything };
const link: RulePart<FeedReader> = { open: (reader, attributes) => reader.addFeedLink(attributes) };
const feedLink: Rules = elements("atom", { link });
const items: Rules = new Map([...elements("rss", { item: listed(item, false), link }), ...feedLink]);
// In RSS 1.1 (https://www.rssboard.org/rss-1-1), the items are in a separate element.
for (const [key, found] of elements<FeedReader>("rss", { items: { children: items, ...around } }))
  items.set(key, found);

const stray = (reader: FeedReader, url: string): void => reader.takeStray(url);

const channel: Rules = elements<FeedReader>("rss", {
  channel: {
    children: items,
    ...around,
    stray,
    open(reader, attributes) {
      reader.hasChannel = true;
      reader.setBase(baseLevels.channel, attributes);
    },
  },
});
const channels: Rules = new Map([...channel, ...items]);
for (const [key, found] of [...channel, ...elements<FeedReader>("rss", { item: listed(item, true) })]) {
  aroundItems.set(key, found);
}

// https://www.rfc-editor.org/rfc/rfc4287#section-3.1.1: HTML is "escaped; for example, '<br>' as '&lt;br>'".
const atomText: RulePart<FeedReader> = {
  open: (reader, attributes) => void (reader.isHtml = attributes.get("type")?.trim().toLowerCase() === "html"),
};

const entry: Rules = elements("atom", {
  title: {
    ...atomText,
    text: ({ item, isHtml }, text) => void (item.title ||= isHtml ? decodeHtml(text) : text),
  },
  summary: {
    ...atomText,
    isFallback: true,
    text: ({ item, isHtml }, text) => void (item.description ||= isHtml ? decodeHtml(text) : text),
  },
  link: {
    isUrl: true,
    open: (reader, attributes) => reader.addAtomLink(attributes),
    text(reader, text) {
      if (reader.mayHaveText) reader.setOddLink("xml-namespace", text);
    },
  },
  updated,
  modified: updated,
  published,
  issued: published,
});
const entries: Rules = elements("atom", { entry: listed(entry, false) });
const inFeed: Rules = new Map([...entries, ...feedLink]);
const aroundEntries: ElementRule<FeedReader> = wrapper(elements("atom", { entry: listed(entry, true) }));

const others = ["urlset", "sitemapindex", "loc"];
const rss = { vocabulary: "rss", entryNames: ["item"], otherNames: [...others, "feed", "entry"] } as const;
const atom = { vocabulary: "atom", entryNames: ["entry"], otherNames: [...others, "rss", "rdf", "item"] } as const;
export const feedFormats: Readonly<Record<"rss" | "rdf" | "channel" | "feed" | "entry", Format<FeedReader>>> = {
  // RSS 2.0 and 0.9x: items are in the channel.
  rss: { ...rss, root: new ElementRule("rss", { children: channels, ...around }) },
  // RSS 1.0 and 0.90: items are next to the channel.
  rdf: { ...rss, root: new ElementRule("RDF", { children: channels, ...around, stray }) },
  // RSS 1.1: the root is the channel.
  channel: { ...rss, root: new ElementRule("Channel", { children: channels, ...around, stray }) },
  feed: {
    ...atom,
    root: new ElementRule("feed", { children: inFeed, others: aroundEntries, foreign: aroundEntries, stray }),
  },
  // An Atom entry can be a document: https://www.rfc-editor.org/rfc/rfc4287#section-2
  entry: { ...atom, root: new ElementRule("entry", { children: new Map([...entry, ...entries]) }) },
};
