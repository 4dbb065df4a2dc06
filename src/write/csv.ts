// The format `csv`: one page per row below a fixed header. https://www.rfc-editor.org/rfc/rfc4180
//   "Fields containing line breaks (CRLF), double quotes, and commas should be enclosed in double-quotes."
// Deviation: lines end with LF, as everything that the program writes; readers of CSV accept both.
// Lists of words are joined as news sitemaps write them; images, videos and alternates are JSON, so that nothing is lost.
import type { NewsStory, SitemapPage } from "../model/page.ts";
import type { SitemapReference } from "../model/sitemap.ts";
import type { PageWriter } from "./batch.ts";
import { type CsvCell, csvCell, csvJsonCell } from "./csv-cell.ts";

/** With `safe: false` every value stays exactly as it is. */
export function csvWriter({ safe = true }: { safe?: boolean } = {}): PageWriter {
  const cell = csvCell(safe);
  return {
    header: `${csvColumns.join(",")}\n`,
    write({ sitemap, pages }) {
      const declaredBy = cell(sitemap);
      let rows = "";
      for (const page of pages) {
        rows += `${cell(page.url)},${cell(page.lastModified)},${page.changeFrequency ?? ""},${page.priorityGiven ? page.priority : ""},${declaredBy}`;
        rows += extensions(page, cell);
      }
      return rows;
    },
    writeReferences(sitemap, references) {
      const row = ({ url, lastModified }: SitemapReference) => `${cell(url)},${cell(lastModified)},,,${cell(sitemap)}`;
      return references.map((reference) => row(reference) + noExtensions).join("");
    },
  };
}

/** Excel needs it at the start of a file: otherwise it reads UTF-8 in the character set of the machine. */
export const byteOrderMark = "\ufeff";

export const csvColumns: readonly string[] = [
  "url",
  "lastModified",
  "changeFrequency",
  "priority",
  "sitemap",
  "newsTitle",
  "newsPublishDate",
  "newsPublicationName",
  "newsPublicationLanguage",
  "newsAccess",
  "newsGenres",
  "newsKeywords",
  "newsStockTickers",
  "images",
  "videos",
  "alternates",
];

// Most pages have none.
const noExtensions = `${",".repeat(11)}\n`;

function extensions({ newsStory, images, videos, alternates }: SitemapPage, cell: CsvCell): string {
  if (newsStory === undefined && images === undefined && videos === undefined && alternates === undefined) {
    return noExtensions;
  }
  const news = newsStory === undefined ? noNews : newsCells(newsStory, cell);
  return `${news},${csvJsonCell(images)},${csvJsonCell(videos)},${csvJsonCell(alternates)}\n`;
}

const noNews = ",".repeat(8);

function newsCells(news: NewsStory, cell: CsvCell): string {
  const { title, publishDate, publicationName, publicationLanguage, access, genres, keywords, stockTickers } = news;
  const story = `,${cell(title)},${cell(publishDate)},${cell(publicationName)},${cell(publicationLanguage)},${cell(access)}`;
  return `${story},${cell(genres?.join(", "))},${cell(keywords?.join(", "))},${cell(stockTickers?.join(", "))}`;
}
