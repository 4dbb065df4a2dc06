// The elements of the news, image and video extensions. If a field that is not a list is repeated, the first counts.
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
// Some fields are no longer used by search engines; they are read anyway.
import type {
  NewsStory,
  SitemapImage,
  SitemapVideo,
  VideoPrice,
  VideoRestriction,
  VideoTvShow,
} from "../model/page.ts";
import type { DocumentProblemCode } from "../model/problem-code.ts";
import type { Draft } from "./entries.ts";
import { type ElementRule, elements, type Part as RulePart } from "./table.ts";
import type { TextHints } from "./text-hints.ts";
import { parseBoolean, parseList, parseNumber } from "./values.ts";
import type { XmlAttributes } from "./xml/attributes.ts";

export type KeptAttribute = "currency" | "type" | "resolution" | "duration" | "relationship";

/** What the rules for these elements write to. */
export interface ExtensionTarget {
  /** The news story, image and video that are being read. */
  readonly news: Draft<NewsStory>;
  readonly image: Draft<SitemapImage>;
  readonly video: Draft<SitemapVideo>;
  /** Attributes, kept until the text of their element follows. */
  attributes: Partial<Record<KeptAttribute, string>>;
  report(code: DocumentProblemCode, value?: string, limit?: number): void;
  date(text: string, hints?: TextHints): string | undefined;
  newsDate(text: string, hints: TextHints): string | undefined;
  url(text: string, hints?: TextHints): string | undefined;
  /** Notes that the URL of this element is invalid, which was already reported. */
  refuseUrl(name: string): void;
}

type Rules = Map<string, ElementRule<ExtensionTarget>>;
type Part = RulePart<ExtensionTarget>;

/** The elements inside `<news:news>`. */
export const newsRules: Rules = elements("news", {
  publication: {
    children: elements("news", {
      name: text(({ news }, name) => (news.publicationName ??= name)),
      language: text(({ news }, language) => (news.publicationLanguage ??= language)),
    }),
  },
  title: text(({ news }, title) => (news.title ??= title)),
  publication_date: {
    form: "date",
    text(reader, content, hints) {
      const date = reader.newsDate(content, hints);
      if (date !== undefined) reader.news.publishDate ??= date;
    },
  },
  access: text(({ news }, access) => (news.access ??= access)),
  genres: text(({ news }, list) => (news.genres ??= parseList(list))),
  keywords: text(({ news }, list) => (news.keywords ??= parseList(list))),
  stock_tickers: text(({ news }, list) => (news.stockTickers ??= parseList(list))),
});

/** The elements inside `<image:image>`. */
export const imageRules: Rules = elements("image", {
  loc: url(({ image }, loc) => (image.url ??= loc), "loc"),
  caption: text(({ image }, caption) => (image.caption ??= caption)),
  geo_location: text(({ image }, location) => (image.geoLocation ??= location)),
  title: text(({ image }, title) => (image.title ??= title)),
  license: {
    ...url(({ image }, license) => (image.license ??= license)),
    text(reader, content, hints) {
      if (content === "") return;
      // Free text, such as "CC BY 4.0", would become a relative URL.
      const isUrl = hints.isUrl || urlLike.test(content);
      const license = isUrl ? reader.url(content, hints) : undefined;
      if (license !== undefined) reader.image.license ??= license;
      else if (!isUrl) reader.report("image-license", content);
    },
  },
});

/** The elements inside `<video:video>`. */
export const videoRules: Rules = elements("video", {
  thumbnail_loc: url(({ video }, url) => (video.thumbnailUrl ??= url), "thumbnail_loc"),
  title: text(({ video }, text) => (video.title ??= text)),
  description: text(({ video }, text) => (video.description ??= text)),
  content_loc: url(({ video }, url) => (video.contentUrl ??= url), "content_loc"),
  player_loc: {
    ...url(({ video }, url) => (video.playerUrl ??= url), "player_loc"),
    open(reader, attributes) {
      set(reader, "playerAllowsEmbed", parseBoolean, attributeOf(attributes, "allow_embed"));
      set(reader, "playerAutoplay", String, attributeOf(attributes, "autoplay"));
    },
  },
  duration: { ...value("duration", parseNumber), form: "number" },
  expiration_date: date("expirationDate"),
  rating: value("rating", (number) => atMost(5, parseNumber(number))),
  view_count: { ...value("viewCount", parseNumber), form: "number" },
  publication_date: date("publicationDate"),
  family_friendly: value("isFamilyFriendly", parseBoolean),
  restriction: restriction("restriction"),
  platform: restriction("platform"),
  price: {
    open: keep("currency", "type", "resolution"),
    text(reader, amount) {
      const price: Draft<VideoPrice> = reader.attributes;
      const parsed = amount === "" ? undefined : parseNumber(amount);
      if (parsed !== undefined) price.amount = parsed;
      else if (amount !== "") reader.report("video-invalid", `price: ${amount}`);
      if (Object.keys(price).length > 0) append(reader, "prices", price);
    },
  },
  requires_subscription: value("requiresSubscription", parseBoolean),
  uploader: {
    ...text(({ video }, text) => (video.uploader ??= text)),
    open(reader, attributes) {
      const info = attributeOf(attributes, "info");
      const resolved = info && reader.url(info);
      if (resolved !== undefined) reader.video.uploaderUrl ??= resolved;
    },
  },
  live: value("isLive", parseBoolean),
  tag: {
    form: "any",
    text(reader, tag) {
      if (tag !== "") append(reader, "tags", tag);
    },
  },
  category: text(({ video }, text) => (video.category ??= text)),
  gallery_loc: {
    ...url(({ video }, url) => (video.galleryUrl ??= url)),
    open: (reader, attributes) => set(reader, "galleryTitle", String, attributeOf(attributes, "title")),
  },
  content_segment_loc: {
    isUrl: true,
    open: keep("duration"),
    text(reader, loc, hints) {
      const resolved = loc === "" ? undefined : reader.url(loc, hints);
      if (resolved === undefined) return;
      const { duration } = reader.attributes;
      const seconds = duration === undefined ? undefined : parseNumber(duration);
      if (duration !== undefined && seconds === undefined) reader.report("video-invalid", `duration: ${duration}`);
      append(reader, "contentSegments", { url: resolved, ...(seconds !== undefined && { duration: seconds }) });
    },
  },
  tvshow: {
    children: elements<ExtensionTarget>("video", {
      show_title: show("showTitle", String),
      video_type: show("videoType", String),
      episode_title: show("episodeTitle", String),
      season_number: show("seasonNumber", parseNumber),
      episode_number: show("episodeNumber", parseNumber),
      premier_date: show("premierDate", (text, reader) => reader.date(text)),
    }),
  },
  id: {
    open: keep("type"),
    text(reader, id) {
      if (id === "") return;
      const { type } = reader.attributes;
      append(reader, "ids", type === undefined ? { value: id } : { type, value: id });
    },
  },
});

function text(set: (reader: ExtensionTarget, text: string) => unknown): Part {
  return {
    form: "any",
    text(reader, content) {
      if (content !== "") set(reader, content);
    },
  };
}

function url(set: (reader: ExtensionTarget, url: string) => unknown, name?: string): Part {
  return {
    isUrl: true,
    text(reader, content, hints) {
      const resolved = content === "" ? undefined : reader.url(content, hints);
      if (resolved !== undefined) set(reader, resolved);
      else if (name !== undefined && content !== "") reader.refuseUrl(name);
    },
  };
}

function date(key: "expirationDate" | "publicationDate"): Part {
  return {
    form: "date",
    text(reader, content, hints) {
      const parsed = content === "" ? undefined : reader.date(content, hints);
      if (parsed !== undefined) reader.video[key] ??= parsed;
    },
  };
}

type Parse<Key extends keyof SitemapVideo> = (text: string) => SitemapVideo[Key];

function value<Key extends keyof SitemapVideo>(key: Key, parse: Parse<Key>): Part {
  return { text: (reader, content) => set(reader, key, parse, content) };
}

function set<Key extends keyof SitemapVideo>(reader: ExtensionTarget, key: Key, parse: Parse<Key>, content?: string) {
  if (content === undefined) return;
  const parsed = parse(content);
  if (parsed === undefined) reader.report("video-invalid", `${key}: ${content}`);
  else (reader.video as { [K in keyof SitemapVideo]?: SitemapVideo[K] | undefined })[key] ??= parsed;
}

// Returns the value of an attribute, or undefined if it is missing or empty.
function attributeOf(attributes: XmlAttributes, name: string): string | undefined {
  return attributes.get(name)?.trim() || undefined;
}

// Creates the rule for a list of allowed or denied countries or platforms, separated by spaces or commas.
function restriction(key: "restriction" | "platform"): Part {
  return {
    open: keep("relationship"),
    text(reader, content) {
      const { relationship } = reader.attributes;
      const values = content.split(/[\s,]+/).filter((item) => item !== "");
      const known = relationship?.toLowerCase();
      const kept: VideoRestriction =
        known === "allow" || known === "deny" ? { relationship: known, values } : { values };
      if (relationship !== undefined && kept.relationship === undefined) {
        reader.report("video-invalid", `relationship: ${relationship}`);
      }
      if (values.length > 0) reader.video[key] ??= kept;
    },
  };
}

function show<Key extends keyof VideoTvShow>(
  key: Key,
  parse: (text: string, reader: ExtensionTarget) => VideoTvShow[Key] | undefined,
): Part {
  return {
    text(reader, content) {
      if (content === "") return;
      const parsed = parse(content, reader);
      // `date` has already reported an invalid date.
      if (parsed === undefined && key !== "premierDate") reader.report("video-invalid", `${key}: ${content}`);
      if (parsed !== undefined) reader.video.tvShow = { [key]: parsed, ...reader.video.tvShow };
    },
  };
}

// Keeps attributes until the text of their element follows.
function keep(...names: readonly KeptAttribute[]): NonNullable<Part["open"]> {
  return (reader, attributes) => {
    reader.attributes = {};
    for (const name of names) {
      const content = attributeOf(attributes, name);
      if (content !== undefined) reader.attributes[name] = content;
    }
  };
}

type List = "prices" | "tags" | "contentSegments" | "ids";

function append<Key extends List>(
  reader: ExtensionTarget,
  key: Key,
  item: NonNullable<SitemapVideo[Key]>[number],
): void {
  const items = (reader.video[key] ?? []) as (typeof item)[];
  if (items.length < maxItems) items.push(item);
  else reader.report("limit-video-values", key, maxItems);
  (reader.video as Record<Key, (typeof item)[]>)[key] = items;
}

function atMost(limit: number, number: number | undefined): number | undefined {
  return number !== undefined && number <= limit ? number : undefined;
}

const urlLike = /^(?:[a-z][a-z0-9+.-]*:|\.{0,2}\/|\S+\.(?:html?|php|aspx?|jsp|txt|pdf)(?:[?#]|$))/i;
// The maximum number of items in a list of a video, such as its tags. Google permits 32 tags.
const maxItems = 1000;
