// Collects the entries of `<urlset>` and `<sitemapindex>`: https://www.sitemaps.org/protocol.html
//   Lenient: an entry with several `loc`s is several entries. What else it says belongs to the first.
//   Lenient: a document may list pages and sitemaps.
//   Lenient: an extension that lacks required fields is kept with those it has.
import type { AlternatePage, ChangeFrequency, NewsStory, SitemapImage, SitemapPage, SitemapVideo } from "../page.ts";
import { defaultPriority } from "../page.ts";
import type { ProblemCode } from "../problem.ts";
import { readDate } from "./date.ts";
import type { EntrySink } from "./entry-sink.ts";
import { ListDraft } from "./list-draft.ts";
import type { TableTarget } from "./table-reader.ts";
import { noFacts, TextFacts } from "./text-facts.ts";
import { parseChangeFrequency, parsePriority } from "./values.ts";
import type { ElementAttributes } from "./xml-handler.ts";

/** Something that is being put together. */
export type Draft<T> = { -readonly [Key in keyof T]?: T[Key] };

export interface ReaderLimits {
  readonly documentEntries: number;
  readonly images: number;
  readonly videos: number;
  readonly alternates: number;
}

export class UrlsetReader implements TableTarget {
  readonly #sink: EntrySink;
  readonly #limits: ReaderLimits;
  readonly report: (code: ProblemCode, value?: string, limit?: number) => void;

  // The entry that is open.
  #kind: "page" | "sitemap" | undefined;
  // It has no element of its own: its URL stands where entries should.
  #isImplied = false;
  #isUrlRefused = false;
  #loc = "";
  readonly #locFacts = new TextFacts();
  #wrappedLoc = "";
  #moreLocs: string[] | undefined;
  #lastModified: string | undefined;
  #changeFrequency: ChangeFrequency | undefined;
  #priority = 0;
  #hasPriority = false;
  readonly #images = new ListDraft<SitemapImage>();
  readonly #videos = new ListDraft<SitemapVideo>();
  readonly #alternates = new ListDraft<AlternatePage>();
  #newsStory: NewsStory | undefined;

  /** The extension that is open. */
  news: Draft<NewsStory> = {};
  image: Draft<SitemapImage> = {};
  video: Draft<SitemapVideo> = {};
  /** What the attributes of an open element said, where its text is needed as well. */
  attributes: object = {};

  constructor(
    sink: EntrySink,
    limits: ReaderLimits,
    report: (code: ProblemCode, value?: string, limit?: number) => void,
  ) {
    this.#sink = sink;
    this.#limits = limits;
    this.report = report;
  }

  refuseUrl(): void {
    this.#isUrlRefused = true;
  }

  endRoot(): void {
    if (this.#isImplied) this.end();
  }

  /** The document is over. Of an index that was cut off, the last sitemap stays if its URL was read to its end. */
  finish(): void {
    if (this.#kind === "sitemap" && this.#loc !== "") this.end();
  }

  /** An entry, or the URL of one, is not where entries should be. */
  reportMisplaced(name: string): void {
    this.report("xml-misplaced", `<${name}>`);
  }

  /** A URL that stands where entries should: it is one, with what follows it. */
  beginImplied(kind: "page" | "sitemap", text: string, facts: TextFacts): void {
    this.reportMisplaced("loc");
    this.begin(kind);
    this.#isImplied = true;
    this.setLoc(text, facts);
  }

  /** Whether there is an entry that a field can belong to. */
  get isImplied(): boolean {
    return this.#isImplied;
  }

  /** In an entry, but inside of an element that nobody knows: counts where the entry has no other. */
  setWrappedLoc(text: string): void {
    if (text !== "") this.#wrappedLoc ||= text;
  }

  get hasLoc(): boolean {
    return this.#loc !== "";
  }

  setLoc(text: string, facts: TextFacts): void {
    if (text === "") return;
    if (this.#loc === "") {
      this.#loc = text;
      this.#locFacts.copy(facts);
    } else {
      this.report("url-several", text);
      this.#moreLocs ??= [];
      // One more than there is room for: the sink then says so.
      if (this.#moreLocs.length <= this.#limits.documentEntries) this.#moreLocs.push(text);
    }
  }

  setLastModified(text: string, facts: TextFacts): void {
    if (this.#lastModified === undefined) this.#lastModified = this.date(text, facts);
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

  /** What is wrong with a date that is there is reported. */
  date(text: string, facts: TextFacts = noFacts): string | undefined {
    return facts.isDate ? text : readDate(text, this.report);
  }

  /** Google reads fewer forms of publication dates, and rejects stories for theirs. */
  newsDate(text: string, facts: TextFacts): string | undefined {
    const report = (code: ProblemCode, value: string) =>
      this.report(code === "date-invalid" ? code : "news-date-form", value);
    return facts.isDate ? text : readDate(text, report);
  }

  url(text: string, facts: TextFacts = noFacts): string | undefined {
    return this.#sink.resolveUrl(text, facts);
  }

  begin(kind: "page" | "sitemap"): void {
    if (this.#kind !== undefined) this.end();
    this.#kind = kind;
    this.#isImplied = false;
    this.#isUrlRefused = false;
    this.#loc = "";
    this.#wrappedLoc = "";
    this.#moreLocs = undefined;
    this.#lastModified = undefined;
    this.#changeFrequency = undefined;
    this.#hasPriority = false;
    this.#images.clear();
    this.#videos.clear();
    this.#alternates.clear();
    this.#newsStory = undefined;
  }

  end(): void {
    const kind = this.#kind;
    if (kind === undefined) return;
    this.#kind = undefined;
    this.#isImplied = false;
    this.#sink.countEntry();
    if (this.#loc === "" && this.#wrappedLoc !== "") {
      this.reportMisplaced("loc");
      this.setLoc(this.#wrappedLoc, noFacts);
    }
    if (this.#loc === "") {
      if (!this.#isUrlRefused) this.report("url-missing");
    } else if (kind === "page") this.#endPage();
    else this.#endSitemap();
  }

  #endPage(): void {
    const url = this.#sink.takePageUrl(this.#loc, this.#locFacts);
    if (url !== undefined) this.#sink.addPage(this.#page(url));
    this.#moreLocs?.forEach((loc) => {
      const more = this.#sink.takePageUrl(loc);
      if (more !== undefined) this.#sink.addPage({ url: more, priority: defaultPriority });
    });
    if (this.#sink.sitemapCount > 0) this.#reportMixed();
  }

  #endSitemap(): void {
    const url = this.#sink.takeSitemapUrl(this.#loc, this.#locFacts);
    const lastModified = this.#lastModified;
    if (url !== undefined) this.#sink.addSitemap(lastModified === undefined ? { url } : { url, lastModified });
    this.#moreLocs?.forEach((loc) => {
      const more = this.#sink.takeSitemapUrl(loc);
      if (more !== undefined) this.#sink.addSitemap({ url: more });
    });
    if (this.#sink.pageCount > 0) this.#reportMixed();
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
    if (image.url === undefined) this.report("image-incomplete");
    else if (this.#images.count >= this.#limits.images) {
      this.report("limit-images", undefined, this.#limits.images);
    } else this.#images.add(image as SitemapImage);
    this.image = {};
  }

  endVideo(): void {
    const { video } = this;
    const missing = missingOf({
      thumbnail: video.thumbnailUrl,
      title: video.title,
      description: video.description,
      "content or player": video.contentUrl ?? video.playerUrl,
    });
    if (missing !== "") this.report("video-incomplete", missing);
    if (this.#videos.count >= this.#limits.videos) {
      this.report("limit-videos", undefined, this.#limits.videos);
    } else if (!isEmpty(video)) this.#videos.add(video);
    this.video = {};
  }

  /** `mistaken` is the element's name where it should have been `xhtml:link`. */
  addLink(attributes: ElementAttributes, mistaken: string | undefined): void {
    // https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
    if (!isAlternate(attributes.get("rel"))) return;
    const language = attributes.get("hreflang")?.trim();
    const hrefAt = attributes.find("href");
    const href = hrefAt === -1 ? undefined : attributes.value(hrefAt).trim();
    if (!language || !href) {
      // An alternate for other devices has no language.
      if (attributes.get("media") === undefined) this.report("alternate-incomplete");
      return;
    }
    if (this.#alternates.count >= this.#limits.alternates) {
      this.report("limit-alternates", undefined, this.#limits.alternates);
      return;
    }
    const url = this.#sink.resolveUrl(href, attributes.facts(hrefAt), "alternate-relative");
    if (url === undefined) return;
    if (mistaken !== undefined) this.report("xml-namespace", mistaken);
    this.#alternates.add({ language, url });
  }

  #page(url: string): SitemapPage {
    const page = this.#hasPriority
      ? withPriority(url, this.#priority, this.#lastModified, this.#changeFrequency)
      : withoutPriority(url, this.#lastModified, this.#changeFrequency);
    if (this.#newsStory !== undefined) page.newsStory = this.#newsStory;
    if (this.#images.count > 0) page.images = this.#images.toArray();
    if (this.#videos.count > 0) page.videos = this.#videos.toArray();
    if (this.#alternates.count > 0) page.alternates = this.#alternates.toArray();
    return page;
  }

  #mixedReported = false;
  #reportMixed(): void {
    if (!this.#mixedReported) this.report("xml-mixed");
    this.#mixedReported = true;
  }
}

type PageDraft = Draft<SitemapPage> & Pick<SitemapPage, "url" | "priority">;

// A few fixed shapes: objects that are alike are cheaper to make and to read.
function withPriority(
  url: string,
  priority: number,
  lastModified: string | undefined,
  changeFrequency: ChangeFrequency | undefined,
): PageDraft {
  if (lastModified === undefined) {
    if (changeFrequency === undefined) return { url, priority, priorityGiven: true };
    return { url, priority, priorityGiven: true, changeFrequency };
  }
  if (changeFrequency === undefined) return { url, priority, priorityGiven: true, lastModified };
  return { url, priority, priorityGiven: true, lastModified, changeFrequency };
}

function withoutPriority(
  url: string,
  lastModified: string | undefined,
  changeFrequency: ChangeFrequency | undefined,
): PageDraft {
  const priority = defaultPriority;
  if (lastModified === undefined) {
    return changeFrequency === undefined ? { url, priority } : { url, priority, changeFrequency };
  }
  if (changeFrequency === undefined) return { url, priority, lastModified };
  return { url, priority, lastModified, changeFrequency };
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
