// The format `parquet`: three tables (pages, sitemaps, problems) for DuckDB, pandas and Spark. This file is imported
// only if the format is used, because it brings the library that writes them.
import type { NewsStory, SitemapPage, SitemapVideo } from "../model/page.ts";
import { isLossy, type Problem } from "../model/problem.ts";
import type { PageBatch } from "./batch.ts";
import { pagesTable, problemsTable, sitemapsTable } from "./parquet-schema.ts";
import { type ByteSink, ParquetTable, type Row } from "./parquet-table.ts";
import type { SitemapRow } from "./sitemap-rows.ts";

export type ParquetFile = "pages" | "sitemaps" | "problems";

/** The table of pages alone. */
export class ParquetPages {
  readonly #table: ParquetTable;
  readonly #site: string;

  constructor(sink: ByteSink, site: string) {
    this.#table = new ParquetTable(sink, pagesTable);
    this.#site = site;
  }

  add({ sitemap, pages }: PageBatch): void {
    for (const page of pages) this.#table.add({ site: this.#site, sitemap, ...pageRow(page) }, weightOf(page));
  }

  finish(): void {
    this.#table.finish();
  }
}

export class ParquetTables {
  readonly #run: string | undefined;
  readonly #pages: ParquetTable;
  readonly #sitemaps: ParquetTable;
  readonly #problems: ParquetTable;

  /** `run`: the name of the run in every row, for tables that are joined. */
  constructor(sink: (file: ParquetFile) => ByteSink, run?: string) {
    this.#run = run;
    this.#pages = new ParquetTable(sink("pages"), pagesTable);
    this.#sitemaps = new ParquetTable(sink("sitemaps"), sitemapsTable);
    this.#problems = new ParquetTable(sink("problems"), problemsTable);
  }

  addPages({ sitemap, pages }: PageBatch, site: string | undefined): void {
    for (const page of pages) {
      this.#pages.add({ run: this.#run, site, sitemap, ...pageRow(page) }, weightOf(page));
    }
  }

  addSitemap({ row, problems }: SitemapRow, site: string | undefined): void {
    const { wireBytes, decodedBytes, pageCount, declaredUrl, lastModified, fetchedAt, firstByte, ...rest } = row;
    this.#sitemaps.add(
      {
        run: this.#run,
        site,
        ...rest,
        depth: bigint(rest.depth),
        status: bigint(rest.status),
        first_byte: bigint(firstByte),
        duration: bigint(rest.duration),
        problems: bigint(rest.problems),
        declared_url: declaredUrl,
        last_modified: lastModified,
        page_count: bigint(pageCount),
        wire_bytes: bigint(wireBytes),
        decoded_bytes: bigint(decodedBytes),
        fetched_at: instant(fetchedAt),
      },
      1000,
    );
    for (const problem of problems) this.#addProblem(row.url, problem, site);
  }

  finish(): void {
    this.#pages.finish();
    this.#sitemaps.finish();
    this.#problems.finish();
  }

  #addProblem(url: string, { code, message, line, value, count }: Problem, site: string | undefined): void {
    const facts = { line: bigint(line), value, count: bigint(count) };
    this.#problems.add({ run: this.#run, site, url, code, loss: isLossy(code), message, ...facts }, 1000);
  }
}

function pageRow({
  url,
  lastModified,
  changeFrequency,
  priority,
  priorityGiven,
  newsStory,
  alternates,
  images,
  videos,
}: SitemapPage): Row {
  return {
    url,
    last_modified: instant(lastModified),
    last_modified_text: lastModified,
    change_frequency: changeFrequency,
    priority: priorityGiven ? priority : undefined,
    news: newsStory && newsRow(newsStory),
    alternates,
    images: images?.map(({ geoLocation: geo_location, ...image }) => ({ ...image, geo_location })),
    videos: videos?.map(videoRow),
  };
}

function newsRow(story: NewsStory): Row {
  return {
    title: story.title,
    publish_date: instant(story.publishDate),
    publish_date_text: story.publishDate,
    publication_name: story.publicationName,
    publication_language: story.publicationLanguage,
    access: story.access,
    genres: story.genres,
    keywords: story.keywords,
    stock_tickers: story.stockTickers,
  };
}

function videoRow(video: SitemapVideo): Row {
  return Object.fromEntries(
    Object.entries(video).map(([name, value]) => {
      const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return typeof value === "object" && name !== "tags" ? [`${column}_json`, JSON.stringify(value)] : [column, value];
    }),
  );
}

// A date of less precision becomes its first instant; one that no Date can hold is only in the text.
function instant(date: string | undefined): Date | undefined {
  const parsed = date === undefined ? undefined : new Date(date);
  return parsed === undefined || Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

function bigint(value: number | undefined): bigint | undefined {
  return value === undefined ? undefined : BigInt(Math.round(value));
}

// In characters, roughly: nearly all other content of a page is in these lists.
function weightOf({ url, newsStory, alternates = [], images = [], videos = [] }: SitemapPage): number {
  return (
    url.length + 100 + (newsStory ? 300 : 0) + alternates.length * 150 + images.length * 300 + videos.length * 2000
  );
}
