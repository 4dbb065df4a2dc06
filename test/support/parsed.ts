// Parses a document in every cut, and returns everything that the parser reports.

import type { AllLimits } from "../../src/model/options.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { type Problem, type ProblemCode, ProblemLog } from "../../src/model/problem.ts";
import type { SitemapReference } from "../../src/model/sitemap.ts";
import type { TextPiece } from "../../src/model/text.ts";
import { createDocumentParser, type DocumentParserOptions } from "../../src/parse/document.ts";
import type { Entries, ParseOutcome } from "../../src/parse/entries.ts";
import { usualFastPath } from "../../src/parse/fast/token-reader.ts";
import { inEveryCut } from "./cuts.ts";

export interface Parsed {
  readonly outcome: ParseOutcome;
  readonly pages: readonly SitemapPage[];
  readonly sitemaps: readonly SitemapReference[];
  readonly complete: boolean;
  readonly problems: readonly Problem[];
  /** The codes alone. */
  readonly codes: readonly ProblemCode[];
}

type Options = Partial<Omit<DocumentParserOptions, "problems" | "limits">> & { readonly limits?: Partial<AllLimits> };

/** Parses a text whole and cut into pieces; all ways have to give the same result. */
export function parsed(text: string, options: Options = {}): Parsed {
  return inEveryCut(text, (pieces) => parsePieces(pieces, options));
}

/** What most tests compare: the URLs of the pages, the codes of the problems, and whether nothing was lost. */
export function summary(text: string, options: Options = {}) {
  const result = parsed(text, options);
  return { urls: urlsOf(result), codes: result.codes, complete: result.complete };
}

export function parsePieces(pieces: Iterable<TextPiece>, options: Options = {}): Parsed {
  const problems = new ProblemLog();
  const limits = { ...defaultLimits, ...options.limits };
  const parser = createDocumentParser({
    url: "https://example.org/maps/sitemap.xml",
    fastPath: usualFastPath,
    ...options,
    limits,
    problems,
  });
  const pages: SitemapPage[] = [];
  const sitemaps: SitemapReference[] = [];
  const take = (entries: Entries) => {
    for (const page of entries.lines ?? entries.pages) pages.push(page);
    for (const sitemap of entries.sitemaps) sitemaps.push(sitemap);
  };
  for (const piece of pieces) take(parser.write(piece));
  take(parser.end());
  const list = problems.toArray();
  return {
    outcome: parser.outcome,
    pages,
    sitemaps,
    complete: problems.complete,
    problems: list,
    codes: list.map(({ code }) => code),
  };
}

export function urlsOf(result: { readonly pages: readonly SitemapPage[] }): string[] {
  return result.pages.map(({ url }) => url);
}
