// Collects the entries of `<urlset>` and `<sitemapindex>`: https://www.sitemaps.org/protocol.html
//   Lenient: an entry with several `loc`s is several entries; its other fields belong to the first. A URL as its text is one, too.
//   Lenient: a document may list pages and sitemaps.
//   Lenient: an extension without its required fields is kept.
import type { AllLimits } from "../model/options.ts";
import type {
  AlternatePage,
  ChangeFrequency,
  NewsStory,
  SitemapImage,
  SitemapPage,
  SitemapVideo,
} from "../model/page.ts";
import type { DocumentProblemCode } from "../model/problem-code.ts";
import { urlsIn } from "../model/url-forms.ts";
import { readDate } from "./dates.ts";
import type { Draft, EntryKind, EntrySink, EntrySource, PageDraft } from "./entries.ts";
import { type ExtensionTarget, imageRules, type KeptAttribute, newsRules, videoRules } from "./extensions.ts";
import { ElementRule, elements, type Format, type Part as RulePart, type TableTarget, wrapper } from "./table.ts";
import { noHints, TextHints } from "./text-hints.ts";
import { parseChangeFrequency, parsePriority } from "./values.ts";
import type { XmlAttributes } from "./xml/attributes.ts";

export class UrlsetReader implements TableTarget, ExtensionTarget {
  readonly #sink: EntrySink;
  readonly #limits: AllLimits;
  readonly report: EntrySource["report"];

  // The current entry.
  #kind: EntryKind | undefined;
  /** Whether the entry has no element of its own, because its URL is where an entry should be. */
  isImplied = false;
  #isUrlRefused = false;
  // Elements of the current extension whose URL is invalid. They do not count as missing, because the invalid URL was reported.
  readonly #refused = new Set<string>();
  /** Whether another entry began and ended inside this one, so that the next URL does not belong to this one. */
  hasPassedEntry = false;
  loc = "";
  readonly #locHints = new TextHints();
  /** A URL inside an unknown element of the entry, used if the entry has no other. */
  wrappedLoc = "";
  #moreLocs: string[] | undefined;
  #lastModified: string | undefined;
  #changeFrequency: ChangeFrequency | undefined;
  #priority = 0;
  #hasPriority = false;
  #images: SitemapImage[] = [];
  #videos: SitemapVideo[] = [];
  #alternates: AlternatePage[] = [];
  #newsStory: NewsStory | undefined;

  /** The news story, image and video that are being read. */
  news: Draft<NewsStory> = {};
  image: Draft<SitemapImage> = {};
  video: Draft<SitemapVideo> = {};
  /** Attributes, kept until the text of their element follows. */
  attributes: Partial<Record<KeptAttribute, string>> = {};

  #isMixedReported = false;
  /** Whether only the URLs of pages are kept. */
  readonly urlsOnly: boolean;
  readonly pageSink: EntrySink;

  constructor(sink: EntrySink, limits: AllLimits, report: EntrySource["report"], urlsOnly = false) {
    this.urlsOnly = urlsOnly;
    this.pageSink = sink;
    this.#sink = sink;
    this.#limits = limits;
    this.report = report;
  }

  refuseUrl(name: string, isKey = false): void {
    if (isKey) this.#isUrlRefused = true;
    else this.#refused.add(name);
  }

  endImplied(): void {
    if (this.isImplied) this.end();
  }

  /** Ends the document. The last sitemap of an index that was cut off is kept if its URL is complete. */
  finish(): void {
    if (this.isImplied || (this.#kind === "sitemap" && this.loc !== "")) this.end();
  }

  /** Reports an entry, or the URL of one, in an unexpected place. */
  reportMisplaced(name: string): void {
    this.report("xml-misplaced", `<${name}>`);
  }

  /** Turns a URL in place of an entry into an entry, with the fields that follow it. */
  beginImplied(kind: EntryKind, text: string, hints: TextHints): void {
    this.reportMisplaced("loc");
    this.begin(kind);
    this.isImplied = true;
    this.setLoc(text, hints);
  }

  /** Takes a URL that is written as text, in place of an entry. */
  takeStray(kind: EntryKind, text: string): void {
    this.report("xml-misplaced", text);
    this.begin(kind);
    this.setLoc(text, noHints);
    this.end();
  }

  /** Takes a URL that is written as text inside an entry. */
  setStrayLoc(text: string): void {
    this.report("xml-misplaced", text);
    this.setLoc(text, noHints);
  }

  setLoc(text: string, hints: TextHints): void {
    for (const url of hints.isUrl ? [text] : urlsIn(text)) this.#addLoc(url, hints);
  }

  #addLoc(text: string, hints: TextHints): void {
    if (text === "") return;
    if (this.hasPassedEntry && this.loc !== "") {
      this.reportMisplaced("loc");
      this.begin(this.#kind!);
    }
    if (this.loc === "") {
      this.loc = text;
      this.#locHints.copy(hints);
    } else {
      this.report("url-several", text);
      this.#moreLocs ??= [];
      // Keeps one more than allowed, so that the sink reports the limit.
      if (this.#moreLocs.length <= this.#limits.documentEntries) this.#moreLocs.push(text);
    }
  }

  setLastModified(text: string, hints: TextHints): void {
    if (this.#lastModified === undefined) this.#lastModified = this.date(text, hints);
    else this.report("element-repeated", "lastmod");
  }

  setChangeFrequency(text: string): void {
    const value = parseChangeFrequency(text);
    if (value === undefined) this.report("change-frequency-invalid", text);
    else if (this.#changeFrequency === undefined) this.#changeFrequency = value;
    else this.report("element-repeated", "changefreq");
  }

  setPriority(text: string): void {
    const value = parsePriority(text);
    if (value === undefined) this.report("priority-invalid", text);
    else if (!this.#hasPriority) {
      this.#priority = value;
      this.#hasPriority = true;
    } else this.report("element-repeated", "priority");
  }

  /** Normalizes a date, or reports that it is invalid. */
  date(text: string, hints: TextHints = noHints): string | undefined {
    return hints.isDate ? text : readDate(text, this.report);
  }

  /** Google reads fewer date forms in news stories, and rejects stories with others. */
  newsDate(text: string, hints: TextHints): string | undefined {
    const report = (code: DocumentProblemCode, value: string) =>
      this.report(code === "date-invalid" ? code : "news-date-form", value);
    return hints.isDate ? text : readDate(text, report);
  }

  url(text: string, hints: TextHints = noHints): string | undefined {
    return this.#sink.resolveUrl(text, hints);
  }

  begin(kind: EntryKind): void {
    if (this.#kind !== undefined) this.end();
    this.#kind = kind;
    this.isImplied = false;
    this.#isUrlRefused = false;
    this.hasPassedEntry = false;
    this.loc = "";
    this.wrappedLoc = "";
    this.#moreLocs = undefined;
    this.#lastModified = undefined;
    this.#changeFrequency = undefined;
    this.#hasPriority = false;
    if (this.#images.length > 0) this.#images = [];
    if (this.#videos.length > 0) this.#videos = [];
    if (this.#alternates.length > 0) this.#alternates = [];
    this.#newsStory = undefined;
  }

  end(): void {
    const kind = this.#kind;
    if (kind === undefined) return;
    this.#kind = undefined;
    this.isImplied = false;
    this.#sink.countEntry();
    if (this.wrappedLoc !== "") {
      if (this.loc !== "") this.report("xml-entry-skipped", this.wrappedLoc);
      else {
        this.reportMisplaced("loc");
        this.setLoc(this.wrappedLoc, noHints);
      }
    }
    if (this.loc !== "") this.#add(kind);
    else if (!this.#isUrlRefused) this.report("url-missing");
  }

  #add(kind: EntryKind): void {
    const sink = this.#sink;
    const url = sink.takeUrl(kind, this.loc, this.#locHints);
    const repeated = sink.repeatedUrl;
    const lastModified = this.#lastModified;
    if (url !== undefined && kind === "page") sink.addPage(this.#page(url), !this.urlsOnly);
    else if (url !== undefined) sink.addSitemap(lastModified === undefined ? { url } : { url, lastModified });
    else if (repeated !== undefined && kind === "page" && !this.urlsOnly) sink.repeats.merge(this.#page(repeated));
    this.#moreLocs?.forEach((loc) => {
      const more = sink.takeUrl(kind, loc);
      if (more !== undefined && kind === "page") sink.addPage({ url: more }, !this.urlsOnly);
      else if (more !== undefined) sink.addSitemap({ url: more });
    });
    if (this.#isMixedReported || sink.count(kind === "page" ? "sitemap" : "page") === 0) return;
    this.#isMixedReported = true;
    this.report("xml-mixed");
  }

  endNews(): void {
    const { news } = this;
    const { publicationName, publicationLanguage, publishDate, title } = news;
    if (!publicationName || !publicationLanguage || !publishDate || !title) {
      const fields = {
        "publication name": publicationName,
        "publication language": publicationLanguage,
        "publication date": publishDate,
        title,
      };
      this.report("news-incomplete", missingOf(fields));
    }
    if (this.#newsStory !== undefined) this.report("news-repeated");
    else if (!isEmpty(news)) this.#newsStory = news;
    this.news = {};
  }

  endImage(): void {
    const { image } = this;
    if (image.url === undefined) {
      if (!this.#refused.has("loc")) this.report("image-incomplete");
    } else if (this.#images.length >= this.#limits.images) {
      this.report("limit-images", undefined, this.#limits.images);
    } else this.#images.push(image as SitemapImage);
    this.image = {};
    this.#refused.clear();
  }

  endVideo(): void {
    const { video } = this;
    const refused = (name: string) => (this.#refused.has(name) ? name : undefined);
    const missing = missingOf({
      thumbnail: video.thumbnailUrl ?? refused("thumbnail_loc"),
      title: video.title,
      description: video.description,
      "content or player": video.contentUrl ?? video.playerUrl ?? refused("content_loc") ?? refused("player_loc"),
    });
    if (missing !== "") this.report("video-incomplete", missing);
    if (this.#videos.length >= this.#limits.videos) {
      this.report("limit-videos", undefined, this.#limits.videos);
    } else if (!isEmpty(video)) this.#videos.push(video);
    this.video = {};
    this.#refused.clear();
  }

  /** Takes a link to an alternate page. `mistaken` is the element's name, if it should have been `xhtml:link`. */
  addLink(attributes: XmlAttributes, mistaken: string | undefined): void {
    // https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
    const rel = attributes.get("rel");
    if (rel === undefined && attributes.find("hreflang") !== -1) this.report("alternate-incomplete");
    if (!isAlternate(rel)) return;
    const language = attributes.get("hreflang")?.trim();
    const hrefAt = attributes.find("href");
    const href = attributes.url(hrefAt);
    if (!language || !href) {
      // An alternate for other devices has no language.
      if (attributes.get("media") === undefined) this.report("alternate-incomplete");
      return;
    }
    if (this.#alternates.length >= this.#limits.alternates) {
      this.report("limit-alternates", undefined, this.#limits.alternates);
      return;
    }
    const url = this.#sink.resolveUrl(href, attributes.hints(hrefAt), "alternate-relative");
    if (url === undefined) return;
    if (mistaken !== undefined) this.report("xml-namespace", mistaken);
    this.#alternates.push({ language, url });
  }

  #page(url: string): SitemapPage {
    if (this.urlsOnly) return { url };
    const page = this.#plainPage(url);
    if (this.#newsStory !== undefined) page.newsStory = this.#newsStory;
    // The lists are copied, because a list that has grown reserves more memory than it needs.
    if (this.#images.length > 0) page.images = this.#images.slice();
    if (this.#videos.length > 0) page.videos = this.#videos.slice();
    if (this.#alternates.length > 0) page.alternates = this.#alternates.slice();
    return page;
  }

  // Uses literals with a few fixed shapes: such objects are faster to create and to read, and reserve no extra memory.
  #plainPage(url: string): PageDraft {
    const lastModified = this.#lastModified;
    const changeFrequency = this.#changeFrequency;
    const priority = this.#priority;
    if (this.#hasPriority && lastModified !== undefined) {
      if (changeFrequency === undefined) return { url, priority, lastModified };
      return { url, priority, lastModified, changeFrequency };
    }
    if (this.#hasPriority)
      return changeFrequency === undefined ? { url, priority } : { url, priority, changeFrequency };
    if (changeFrequency === undefined) return lastModified === undefined ? { url } : { url, lastModified };
    return lastModified === undefined ? { url, changeFrequency } : { url, lastModified, changeFrequency };
  }
}

function isAlternate(rel: string | undefined): boolean {
  if (rel === "alternate") return true;
  return rel?.toLowerCase().split(/\s+/).includes("alternate") ?? false;
}

function missingOf(required: Readonly<Record<string, string | undefined>>): string {
  return Object.keys(required)
    .filter((name) => required[name] === undefined)
    .join(", ");
}

function isEmpty(draft: object): boolean {
  for (const _ in draft) return false;
  return true;
}

// The elements of `<urlset>` and `<sitemapindex>`, and of the hreflang extension.
// https://www.sitemaps.org/protocol.html
// https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
//   Lenient: `<link>` is read as `<xhtml:link>`.
//   Lenient: `<urlset>` and `<sitemapindex>` may be inside one another.

type Rules = Map<string, ElementRule<UrlsetReader>>;
type Part = RulePart<UrlsetReader>;

//   Lenient: a `<loc>` that is opened twice is read as if it were opened once, and so is what follows it.
function withLoc(fields: Rules): Rules {
  const loc: Part = {
    isUrl: true,
    isKey: true,
    children: fields,
    text: (reader, text, hints) => reader.setLoc(text, hints),
  };
  for (const [key, found] of elements("sitemap", { loc })) fields.set(key, found);
  return fields;
}

const sitemap: Rules = withLoc(
  elements("sitemap", {
    lastmod: { form: "date", text: (reader, text, hints) => reader.setLastModified(text, hints) },
  }),
);

const linkAttributes: Part["attributes"] = new Map([
  ["hreflang", "any"],
  ["href", "url"],
]);

const page: Rules = withLoc(
  new Map([
    ...elements<UrlsetReader>("sitemap", {
      lastmod: { form: "date", text: (reader, text, hints) => reader.setLastModified(text, hints) },
      changefreq: { text: (reader, text) => reader.setChangeFrequency(text) },
      priority: { text: (reader, text) => reader.setPriority(text) },
      link: { attributes: linkAttributes, open: (reader, attributes) => reader.addLink(attributes, "link") },
    }),
    ...elements<UrlsetReader>("xhtml", {
      link: { attributes: linkAttributes, open: (reader, attributes) => reader.addLink(attributes, undefined) },
    }),
    ...elements<UrlsetReader>("news", {
      news: { children: newsRules, close: (reader) => reader.endNews() },
    }),
    ...elements<UrlsetReader>("image", {
      image: { children: imageRules, close: (reader) => reader.endImage() },
    }),
    ...elements<UrlsetReader>("video", {
      video: { children: videoRules, close: (reader) => reader.endVideo() },
    }),
  ]),
);

// The fields that are read in unknown elements inside an entry. Elements of other namespaces are unknown extensions, so their content is
// skipped.
const fields: ElementRule<UrlsetReader> = wrapper(
  elements<UrlsetReader>("sitemap", {
    loc: { isUrl: true, text: (reader, text) => void (reader.wrappedLoc ||= text) },
    lastmod: {
      text(reader, text, hints) {
        if (reader.loc === "") reader.setLastModified(text, hints);
      },
    },
  }),
  new ElementRule("", {}),
);

// An unclosed entry may contain an empty one. A URL after that starts another entry.
const inner: Part = {
  children: fields.children,
  others: fields,
  open: (reader) => void (reader.hasPassedEntry = true),
};
for (const table of [page, sitemap]) {
  for (const [key, found] of elements("sitemap", { url: inner, sitemap: inner })) table.set(key, found);
}

function entry(name: "url" | "sitemap", kind: EntryKind, isMisplaced: boolean): Part {
  return {
    isEntry: true,
    isPage: kind === "page",
    children: kind === "page" ? page : sitemap,
    others: fields,
    open(reader) {
      if (isMisplaced) reader.reportMisplaced(name);
      reader.begin(kind);
    },
    close: (reader) => reader.end(),
    stray: (reader, text) => reader.setStrayLoc(text),
  };
}

// Returns the rules for the content of `<urlset>` or `<sitemapindex>`. In an index, `<url>` and `<sitemap>` are both sitemaps.
//   Lenient: a `<url>` in a `<sitemapindex>` is a sitemap.
//   Lenient: entries inside unknown elements, and after the end of the document, are read.
//   Lenient: a `<loc>` outside an entry is an entry.
//   Lenient: a URL as text between entries is an entry.
function entriesOf(root: EntryKind): Part & { children: Rules } {
  const loose: Rules = elements("sitemap", {
    loc: { isUrl: true, isKey: true, text: (reader, text, hints) => reader.beginImplied(root, text, hints) },
    lastmod: {
      text(reader, text, hints) {
        if (reader.isImplied) reader.setLastModified(text, hints);
      },
    },
  });
  const children: Rules = new Map([
    ...elements<UrlsetReader>("sitemap", {
      url: entry("url", root, root === "sitemap"),
      sitemap: entry("sitemap", "sitemap", false),
    }),
    ...loose,
  ]);
  const misplaced = elements<UrlsetReader>("sitemap", {
    url: entry("url", root, true),
    sitemap: entry("sitemap", "sitemap", true),
  });
  const foreign = wrapper(misplaced);
  const others = wrapper(new Map([...misplaced, ...loose]), foreign);
  return { children, others, foreign, stray: (reader, text) => reader.takeStray(root, text) };
}

const pages = entriesOf("page");
const sitemaps = entriesOf("sitemap");
const roots: Rules = elements("sitemap", { urlset: pages, sitemapindex: sitemaps });
for (const { children } of [pages, sitemaps]) for (const [key, found] of roots) children.set(key, found);

const format = {
  vocabulary: "sitemap",
  entryNames: ["url", "sitemap"],
  otherNames: ["rss", "rdf", "item", "feed", "entry"],
} as const;
export const urlsetFormats: Readonly<Record<"urlset" | "sitemapindex", Format<UrlsetReader>>> = {
  urlset: { ...format, root: new ElementRule("urlset", pages) },
  sitemapindex: { ...format, root: new ElementRule("sitemapindex", sitemaps) },
};
