// The table of page fields. The CSV and Parquet columns, schema/output.json, the check of ndjson files, the comparison of pages and the option
// `rewrite` come from its rows. page.ts explains what each field means.
import type {
  AlternatePage,
  NewsStory,
  SitemapImage,
  SitemapPage,
  SitemapVideo,
  VideoId,
  VideoPrice,
  VideoRestriction,
  VideoSegment,
  VideoTvShow,
} from "./page.ts";

/**
 * The type of a field. `page` is the URL of a page, which `rewrite` changes; `url` is any other URL. `date` is an ISO 8601 text.
 * An object has `fields`, and a list of objects has `items`.
 */
export type FieldType =
  | "page"
  | "url"
  | "text"
  | "date"
  | "number"
  | "boolean"
  | "texts"
  | { readonly oneOf: readonly string[] }
  | { readonly fields: FieldTypes }
  | { readonly items: FieldTypes };

/** The types of the fields of an object, in the order of their columns. */
export type FieldTypes = Readonly<Record<string, FieldType>>;

// Requires a row for each field of T: a missing, unknown or mistyped row does not compile.
type TypesOf<T> = { readonly [Name in keyof T]-?: TypeOf<NonNullable<T[Name]>> };
type TypeOf<T> = [T] extends [string]
  ? string extends T
    ? "page" | "url" | "text" | "date"
    : { readonly oneOf: readonly T[] }
  : [T] extends [number]
    ? "number"
    : [T] extends [boolean]
      ? "boolean"
      : T extends readonly string[]
        ? "texts"
        : T extends readonly (infer Item)[]
          ? { readonly items: TypesOf<Item> }
          : { readonly fields: TypesOf<T> };

export const newsFields: TypesOf<NewsStory> = {
  title: "text",
  publishDate: "date",
  publicationName: "text",
  publicationLanguage: "text",
  access: "text",
  genres: "texts",
  keywords: "texts",
  stockTickers: "texts",
  section: "text",
};

export const imageFields: TypesOf<SitemapImage> = {
  url: "url",
  caption: "text",
  geoLocation: "text",
  title: "text",
  license: "url",
};

export const restrictionFields: TypesOf<VideoRestriction> = {
  relationship: { oneOf: ["allow", "deny"] },
  values: "texts",
};

export const priceFields: TypesOf<VideoPrice> = {
  amount: "number",
  currency: "text",
  type: "text",
  resolution: "text",
};

export const segmentFields: TypesOf<VideoSegment> = { url: "url", duration: "number" };

export const idFields: TypesOf<VideoId> = { type: "text", value: "text" };

export const tvShowFields: TypesOf<VideoTvShow> = {
  showTitle: "text",
  videoType: "text",
  episodeTitle: "text",
  seasonNumber: "number",
  episodeNumber: "number",
  premierDate: "date",
};

export const videoFields: TypesOf<SitemapVideo> = {
  thumbnailUrl: "url",
  title: "text",
  description: "text",
  contentUrl: "url",
  playerUrl: "url",
  playerAllowsEmbed: "boolean",
  playerAutoplay: "text",
  duration: "number",
  expirationDate: "date",
  rating: "number",
  viewCount: "number",
  publicationDate: "date",
  isFamilyFriendly: "boolean",
  restriction: { fields: restrictionFields },
  platform: { fields: restrictionFields },
  prices: { items: priceFields },
  requiresSubscription: "boolean",
  uploader: "text",
  uploaderUrl: "url",
  isLive: "boolean",
  tags: "texts",
  category: "text",
  galleryUrl: "url",
  galleryTitle: "text",
  contentSegments: { items: segmentFields },
  ids: { items: idFields },
  tvShow: { fields: tvShowFields },
};

export const alternateFields: TypesOf<AlternatePage> = { language: "text", url: "page" };

/** A field of pages. */
export interface PageFieldRow {
  readonly type: FieldType;
  /** The column of CSV and Parquet, if its name differs from that of the field. */
  readonly column?: string;
  /** The value that `diff` compares if the field is absent. */
  readonly default?: unknown;
  /** The typical number of characters of the object, or of each item of the list. */
  readonly weight?: number;
  /** What the JSON schema says besides the type. */
  readonly schema?: object;
}

type Rows = {
  readonly [Name in keyof SitemapPage]-?: PageFieldRow & { readonly type: TypeOf<NonNullable<SitemapPage[Name]>> };
};

/** Every field of a page, in the order of CSV columns and of changes. Merging repeated entries joins lists, and keeps the first value of other fields. */
export const pageFields: Rows = {
  url: { type: "page" },
  lastModified: { type: "date" },
  changeFrequency: { type: { oneOf: ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"] } },
  // https://www.sitemaps.org/protocol.html#prioritydef: "The default priority of a page is 0.5."
  priority: { type: "number", default: 0.5, schema: { minimum: 0, maximum: 1 } },
  newsStory: { type: { fields: newsFields }, column: "news", weight: 300 },
  images: { type: { items: imageFields }, weight: 300 },
  videos: { type: { items: videoFields }, weight: 2000 },
  alternates: { type: { items: alternateFields }, weight: 150 },
};

/** The rows with their names. */
export const pageFieldRows: readonly (PageFieldRow & { readonly name: keyof SitemapPage })[] = Object.entries(
  pageFields,
).map(([name, row]) => ({ name: name as keyof SitemapPage, ...row }));

/** The name of a field with a list of objects. */
export type ListField = keyof {
  [Name in keyof SitemapPage as NonNullable<SitemapPage[Name]> extends readonly object[] ? Name : never]: true;
};

/** Returns the types of the fields of a list's items; undefined for other types. */
export function itemTypes(type: FieldType): FieldTypes | undefined {
  return typeof type === "object" && "items" in type ? type.items : undefined;
}

/** Returns the types of the fields of an object; undefined for other types. */
export function objectTypes(type: FieldType): FieldTypes | undefined {
  return typeof type === "object" && "fields" in type ? type.fields : undefined;
}

export const listFields: readonly ListField[] = pageFieldRows
  .filter(({ type }) => itemTypes(type) !== undefined)
  .map(({ name }) => name as ListField);

/** The name of a field with an object. */
export type ObjectField = keyof {
  [Name in Exclude<keyof SitemapPage, ListField> as NonNullable<SitemapPage[Name]> extends object ? Name : never]: true;
};
