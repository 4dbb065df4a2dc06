// The columns of a table of pages: every field of the model by its path (`news.title`), and, if one list is spread over
// rows (`--explode images`), the fields of its items (`images.url`).
import { SitemapError } from "../model/errors.ts";
import { suggestion } from "../model/option-checks.ts";
import type { AlternatePage, SitemapImage, SitemapPage, SitemapVideo } from "../model/page.ts";
import { csvJson } from "./csv-cell.ts";

/** A list of a page that can be spread over rows, one row per item. */
export type ExplodedList = (typeof explodedLists)[number];
export const explodedLists = ["images", "videos", "alternates"] as const;

type Item = SitemapImage | SitemapVideo | AlternatePage;
type Value = string | number | boolean | undefined;

export interface CsvColumn {
  readonly name: string;
  /** `item`: the item of the row, if a list is spread over rows and is not empty. */
  readonly read: (page: SitemapPage, sitemap: string, item: Item | undefined) => Value;
}

/** The columns by name. Throws a `SitemapError` for an unknown name, or if its list is not spread over rows. */
export function columnsNamed(names: readonly string[], explode: ExplodedList | undefined): CsvColumn[] {
  const known = new Map([...pageColumns, ...itemColumns(explode)].map((column) => [column.name, column]));
  return names.map((name) => {
    const column = known.get(name);
    if (column !== undefined) return column;
    const list = explodedLists.find((candidate) => name.startsWith(`${candidate}.`));
    if (list !== undefined && list !== explode && itemFields[list].includes(name.slice(list.length + 1))) {
      throw new SitemapError("invalid-option", `The column ${name} needs --explode ${list}`);
    }
    const hint = suggestion(name, known.keys()) || `; there are ${[...known.keys()].join(", ")}`;
    throw new SitemapError("invalid-option", `Unknown column ${name}${hint}`);
  });
}

/** The default columns if a list is spread over rows. */
export function explodedColumns(list: ExplodedList): string[] {
  return ["url", "lastModified", "sitemap", ...itemFields[list].map((field) => `${list}.${field}`)];
}

/** Every name, for the docs. */
export function allCsvColumns(): string[] {
  return [...pageColumns, ...explodedLists.flatMap(itemColumns)].map(({ name }) => name);
}

const pageColumns: readonly CsvColumn[] = [
  column("url", ({ url }) => url),
  column("lastModified", ({ lastModified }) => lastModified),
  column("changeFrequency", ({ changeFrequency }) => changeFrequency),
  column("priority", ({ priority, priorityGiven }) => (priorityGiven ? priority : undefined)),
  { name: "sitemap", read: (_, sitemap) => sitemap },
  column("news.title", ({ newsStory }) => newsStory?.title),
  column("news.publishDate", ({ newsStory }) => newsStory?.publishDate),
  column("news.publicationName", ({ newsStory }) => newsStory?.publicationName),
  column("news.publicationLanguage", ({ newsStory }) => newsStory?.publicationLanguage),
  column("news.access", ({ newsStory }) => newsStory?.access),
  column("news.genres", ({ newsStory }) => newsStory?.genres?.join(", ")),
  column("news.keywords", ({ newsStory }) => newsStory?.keywords?.join(", ")),
  column("news.stockTickers", ({ newsStory }) => newsStory?.stockTickers?.join(", ")),
  column("images", ({ images }) => json(images)),
  column("videos", ({ videos }) => json(videos)),
  column("alternates", ({ alternates }) => json(alternates)),
];

const itemFields: Readonly<Record<ExplodedList, readonly string[]>> = {
  images: fieldsOf<SitemapImage>()("url", "caption", "geoLocation", "title", "license"),
  videos: fieldsOf<SitemapVideo>()(
    "thumbnailUrl",
    "title",
    "description",
    "contentUrl",
    "playerUrl",
    "playerAllowsEmbed",
    "playerAutoplay",
    "duration",
    "expirationDate",
    "rating",
    "viewCount",
    "publicationDate",
    "isFamilyFriendly",
    "restriction",
    "platform",
    "prices",
    "requiresSubscription",
    "uploader",
    "uploaderUrl",
    "isLive",
    "tags",
    "category",
    "galleryUrl",
    "galleryTitle",
    "contentSegments",
    "ids",
    "tvShow",
  ),
  alternates: fieldsOf<AlternatePage>()("language", "url"),
};

function itemColumns(list: ExplodedList | undefined): CsvColumn[] {
  if (list === undefined) return [];
  return itemFields[list].map((field) => ({
    name: `${list}.${field}`,
    read: (_page, _sitemap, item) => cellValue(item?.[field as keyof Item]),
  }));
}

function column(name: string, read: (page: SitemapPage) => Value): CsvColumn {
  return { name, read };
}

// A list of texts is joined with commas; other values that are not simple are JSON.
function cellValue(value: unknown): Value {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return typeof value === "object" ? json(value) : (value as Value);
}

function json(value: object | null | undefined): string | undefined {
  return value ? csvJson(value) : undefined;
}

// Requires every field of a type: a missing or unknown one does not compile.
function fieldsOf<T>() {
  return <const Names extends readonly (keyof T & string)[]>(
    ...names: Exclude<keyof T, Names[number]> extends never ? Names : never
  ): readonly string[] => names;
}
