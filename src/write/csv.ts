// The format `csv`: one page a row below a fixed header. https://www.rfc-editor.org/rfc/rfc4180
//   "Fields containing line breaks (CRLF), double quotes, and commas should be enclosed in double-quotes."
// Deviation: lines end with LF, as everything that the program writes; readers of CSV accept both.
// Lists of words are joined as news sitemaps write them; images, videos and alternates are JSON, so that nothing is lost.
// Unless asked otherwise, a cell that a spreadsheet would take for a formula starts with an apostrophe
// (https://owasp.org/www-community/attacks/CSV_Injection), and control characters are escaped: one page, one line.
import type { SitemapPage } from "../page.ts";
import type { SitemapReference } from "../sitemap.ts";
import type { PageWriter } from "./batch.ts";
import { printable, printableJson } from "./printable.ts";

/** With `safe: false` every value stays exactly as it is. */
export function csvWriter({ safe = true }: { safe?: boolean } = {}): PageWriter {
  const cell = csvCell(safe);
  return {
    header: `${csvColumns.join(",")}\n`,
    write({ sitemap, pages }) {
      const declaredBy = cell(sitemap);
      let rows = "";
      for (const page of pages) {
        rows += `${cell(page.url)},${cell(page.lastModified)},${page.changeFrequency ?? ""},${page.priority},${declaredBy}`;
        rows += extensions(page, cell);
      }
      return rows;
    },
    // A row without a priority is a sitemap: every page has one.
    writeReferences(sitemap, references) {
      const row = ({ url, lastModified }: SitemapReference) => `${cell(url)},${cell(lastModified)},,,${cell(sitemap)}`;
      return references.map((reference) => row(reference) + noExtensions).join("");
    },
  };
}

/** What Excel needs at the start of a file: without it, it takes UTF-8 for the character set of the machine. */
export const byteOrderMark = "\ufeff";

/** How a value is written into a cell. */
export function csvCell(safe: boolean): CsvCell {
  return safe ? (text) => quoted(guarded(text ?? "")) : (text = "") => quoted(text);
}

export type CsvCell = (text: string | undefined) => string;

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

function extensions({ newsStory: news, images, videos, alternates }: SitemapPage, cell: CsvCell): string {
  if (news === undefined && images === undefined && videos === undefined && alternates === undefined) {
    return noExtensions;
  }
  const story = [
    news?.title,
    news?.publishDate,
    news?.publicationName,
    news?.publicationLanguage,
    news?.access,
    news?.genres?.join(", "),
    news?.keywords?.join(", "),
    news?.stockTickers?.join(", "),
  ];
  return `,${[...story, json(images), json(videos), json(alternates)].map(cell).join(",")}\n`;
}

function json(list: readonly unknown[] | undefined): string | undefined {
  return list && printableJson(JSON.stringify(list));
}

// To get back what was there: take away the first of the apostrophes before = + - @, and undo the \u escapes.
function guarded(text: string): string {
  return printable(formula.test(text) ? `'${text}` : text);
}

const formula = /^'*[=+\-@\t\r]/;

function quoted(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Leading and trailing spaces are part of a field, but some readers trim what is not quoted.
const special = /[",\r\n]|^ | $/;
