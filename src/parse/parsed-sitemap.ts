// The result of parsing one document, from its outcome, entries and problems.
import type { Problem } from "../model/problem.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import type { Entries, ParseOutcome } from "./entries.ts";

export interface ParsedParts {
  readonly outcome: ParseOutcome;
  readonly complete: boolean;
  readonly problems: readonly Problem[];
}

export function parsedSitemap(
  { outcome, complete, problems }: ParsedParts,
  { pages, sitemaps }: Entries,
): ParsedSitemap {
  switch (outcome.kind) {
    case "invalid":
      return outcome;
    case "pages":
      return { ...outcome, pages, complete, problems };
    case "index": {
      // An index lists pages only against the protocol.
      const more = pages.length > 0 ? { pages } : {};
      return { ...outcome, sitemaps, ...more, complete, problems };
    }
  }
}
