// Describes an archived run, as JSON in the `warcinfo` record at its start and in the index. The JSON is checked when read, because
// archives are not trusted.
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import { withoutCredentials } from "../model/url.ts";

/** The start and options of the archived run, to replay it. */
export interface ArchiveInfo {
  readonly homepage?: string;
  /** Present if the tree was built from given sitemaps, without discovery. */
  readonly sitemaps?: readonly string[];
  /** How many pages of the sitemaps a check requested. Their responses follow those of the crawl. */
  readonly pages?: number | "all";
  /** The options that affect a tree. Those that may contain secrets (`headers`, `proxy`, `tls`) are never written to a file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

// Increase this with every change of the format. Other versions are refused.
const formatVersion = 3;
// Options that may contain passwords and keys.
const secretSettings = new Set(["headers", "proxy", "tls"]);

/** Returns the description of a run, ready for `JSON.stringify`. `resumes` is the record id of the run that this one resumes. */
export function infoData({ homepage, sitemaps, pages, settings }: ArchiveInfo, resumes?: string): object {
  return {
    version: formatVersion,
    resumes,
    homepage: homepage === undefined ? undefined : withoutCredentials(homepage),
    sitemaps: sitemaps?.map(withoutCredentials),
    pages,
    settings: Object.fromEntries(Object.entries(settings).filter(([name]) => !secretSettings.has(name))),
  };
}

export function infoFrom(json: unknown): { readonly info: ArchiveInfo; readonly resumes: string | undefined } {
  if (!isJsonObject(json)) throw unexpected();
  const { version, resumes, homepage, sitemaps, pages, settings } = json;
  if (typeof version !== "number") throw unexpected();
  if (version !== formatVersion) {
    const [age, advice] =
      version < formatVersion ? ["an older", "crawl the website again"] : ["a newer", "update sitegrove"];
    throw new SitemapError("invalid-archive", `it was written by ${age} version of sitegrove; ${advice}`);
  }
  if (homepage !== undefined && typeof homepage !== "string") throw unexpected();
  if (sitemaps !== undefined && !(Array.isArray(sitemaps) && sitemaps.every((url) => typeof url === "string")))
    throw unexpected();
  if (pages !== undefined && pages !== "all" && !(Number.isSafeInteger(pages) && Number(pages) >= 0))
    throw unexpected();
  if (resumes !== undefined && typeof resumes !== "string") throw unexpected();
  if (!isJsonObject(settings)) throw unexpected();
  const start = { homepage, sitemaps: sitemaps as string[] | undefined, pages: pages as ArchiveInfo["pages"] };
  return { info: { ...defined(start), settings }, resumes };
}

function unexpected(): SitemapError {
  return new SitemapError("invalid-archive", "it is damaged: its first record cannot be read");
}

/** Parses JSON that is not trusted, so callers must check every field. Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
