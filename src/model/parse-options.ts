// The options of a single document.
import { limitsOption, resolveAll, strictOption, urlOption } from "./option-row.ts";
import type { AllLimits, Options, Settings } from "./options.ts";

/** Options of `parseSitemap` and `readSitemap`. */
export interface ParseOptions extends Pick<Options, "strict" | "limits"> {
  /** The URL of the document, to resolve relative URLs. If it ends in `/robots.txt`, the document is read as robots.txt. */
  url?: string | URL | undefined;
}

export interface ParseSettings extends Pick<Settings, "strict" | "limits"> {
  readonly url: string | undefined;
}

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveParseOptions(options?: ParseOptions): ParseSettings {
  return resolveAll([urlOption, strictOption, limitsOption], options);
}

export const defaultLimits: AllLimits = resolveParseOptions().limits;
