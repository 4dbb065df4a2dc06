// The elements of the video extension.
// https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps
// Some of its fields are no longer used by search engines; they are read anyway.
import type { SitemapVideo, VideoPrice, VideoRestriction, VideoTvShow } from "../model/page.ts";
import { type ElementRule, elements } from "./table.ts";
import type { Draft, UrlsetReader } from "./urlset.ts";
import { parseBoolean, parseNumber } from "./values.ts";
import type { ElementAttributes } from "./xml/names.ts";

/** Inside of `<video:video>`. */
export const videoRules: Map<string, ElementRule<UrlsetReader>> = elements("video", {
  thumbnail_loc: url("thumbnailUrl"),
  title: text("title"),
  description: text("description"),
  content_loc: url("contentUrl"),
  player_loc: {
    ...url("playerUrl"),
    open(reader, attributes) {
      attribute(reader, attributes, "allow_embed", "playerAllowsEmbed", parseBoolean);
      attribute(reader, attributes, "autoplay", "playerAutoplay", String);
    },
  },
  duration: value("duration", parseNumber),
  expiration_date: date("expirationDate"),
  rating: value("rating", (number) => atMost(5, parseNumber(number))),
  view_count: value("viewCount", parseNumber),
  publication_date: date("publicationDate"),
  family_friendly: value("isFamilyFriendly", parseBoolean),
  restriction: restriction("restriction"),
  platform: restriction("platform"),
  price: {
    open(reader, attributes) {
      const price: Draft<VideoPrice> = {};
      const currency = attributes.get("currency")?.trim();
      const type = attributes.get("type")?.trim();
      const resolution = attributes.get("resolution")?.trim();
      if (currency) price.currency = currency;
      if (type) price.type = type;
      if (resolution) price.resolution = resolution;
      reader.attributes = price;
    },
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
    ...text("uploader"),
    open(reader, attributes) {
      const info = attributes.get("info")?.trim();
      const resolved = info ? reader.url(info) : undefined;
      if (resolved !== undefined) reader.video.uploaderUrl ??= resolved;
    },
  },
  live: value("isLive", parseBoolean),
  tag: {
    text(reader, tag) {
      if (tag !== "") append(reader, "tags", tag);
    },
  },
  category: text("category"),
  gallery_loc: {
    ...url("galleryUrl"),
    open: (reader, attributes) => attribute(reader, attributes, "title", "galleryTitle", String),
  },
  content_segment_loc: {
    isUrl: true,
    open: keep("duration"),
    text(reader, loc, facts) {
      const resolved = loc === "" ? undefined : reader.url(loc, facts);
      if (resolved === undefined) return;
      const { duration } = reader.attributes as { duration?: string };
      const seconds = duration === undefined ? undefined : parseNumber(duration);
      if (duration !== undefined && seconds === undefined) reader.report("video-invalid", `duration: ${duration}`);
      append(
        reader,
        "contentSegments",
        seconds === undefined ? { url: resolved } : { url: resolved, duration: seconds },
      );
    },
  },
  tvshow: {
    children: elements<UrlsetReader>("video", {
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
      const { type } = reader.attributes as { type?: string };
      append(reader, "ids", type === undefined ? { value: id } : { type, value: id });
    },
  },
});

type Part = Partial<Omit<ElementRule<UrlsetReader>, "name">>;
type KeyOf<Value> = {
  [Key in keyof SitemapVideo]-?: SitemapVideo[Key] extends Value | undefined ? Key : never;
}[keyof SitemapVideo];

function text(key: KeyOf<string>): Part {
  return {
    isDetail: true,
    text({ video }, content) {
      if (content !== "") video[key] ??= content;
    },
  };
}

function url(key: KeyOf<string>): Part {
  return {
    isUrl: true,
    isDetail: true,
    text(reader, content, facts) {
      const resolved = content === "" ? undefined : reader.url(content, facts);
      if (resolved !== undefined) reader.video[key] ??= resolved;
    },
  };
}

function date(key: KeyOf<string>): Part {
  return {
    text(reader, content) {
      const parsed = content === "" ? undefined : reader.date(content);
      if (parsed !== undefined) reader.video[key] ??= parsed;
    },
  };
}

function value<Key extends keyof SitemapVideo>(key: Key, parse: (text: string) => SitemapVideo[Key]): Part {
  return { text: (reader, content) => set(reader, key, parse(content), content) };
}

function attribute<Key extends keyof SitemapVideo>(
  reader: UrlsetReader,
  attributes: ElementAttributes,
  name: string,
  key: Key,
  parse: (text: string) => SitemapVideo[Key],
): void {
  const content = attributes.get(name)?.trim();
  if (content) set(reader, key, parse(content), content);
}

function set<Key extends keyof SitemapVideo>(
  reader: UrlsetReader,
  key: Key,
  parsed: SitemapVideo[Key],
  content: string,
): void {
  if (parsed === undefined) reader.report("video-invalid", `${key}: ${content}`);
  else (reader.video as { [K in keyof SitemapVideo]?: SitemapVideo[K] | undefined })[key] ??= parsed;
}

// Countries or platforms, separated by spaces, and whether they are allowed or denied.
function restriction(key: "restriction" | "platform"): Part {
  return {
    open: keep("relationship"),
    text(reader, content) {
      const { relationship } = reader.attributes as { relationship?: string };
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
  parse: (text: string, reader: UrlsetReader) => VideoTvShow[Key] | undefined,
): Part {
  return {
    text(reader, content) {
      if (content === "") return;
      const parsed = parse(content, reader);
      // An invalid date was reported where it was read.
      if (parsed === undefined && key !== "premierDate") reader.report("video-invalid", `${key}: ${content}`);
      if (parsed !== undefined) reader.video.tvShow = { [key]: parsed, ...reader.video.tvShow };
    },
  };
}

// Keeps an attribute until the text of its element follows.
function keep(name: string): NonNullable<Part["open"]> {
  return (reader, attributes) => {
    const content = attributes.get(name)?.trim();
    reader.attributes = content ? { [name]: content } : {};
  };
}

function append<Key extends "prices" | "tags" | "contentSegments" | "ids">(
  reader: UrlsetReader,
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

// "A maximum of 32 <video:tag> tags is permitted"; more are kept, up to this many.
const maxItems = 1000;
