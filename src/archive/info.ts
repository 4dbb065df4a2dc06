// What an archive is about, as JSON on one line of its first record. Checked when it is read: the file may come from
// anybody.
import { SitemapError } from "../model/errors.ts";
import { withoutCredentials } from "../model/url.ts";
import type { ArchiveInfo } from "./contract.ts";
import { parseJson, toJson, withoutPrototypes } from "./json.ts";

// Raised if readers of an earlier version could not make the same tree.
const formatVersion = 2;
// Options that may hold passwords and keys.
const secretSettings = new Set(["headers", "proxy", "tls"]);

/** `resumes`: the id of the record of the run that this one resumes. */
export function infoToJson({ homepage, sitemaps, settings }: ArchiveInfo, resumes?: string): string {
  return toJson({
    version: formatVersion,
    resumes,
    homepage: homepage === undefined ? undefined : withoutCredentials(homepage),
    sitemaps: sitemaps?.map(withoutCredentials),
    settings: Object.fromEntries(Object.entries(settings).filter(([name]) => !secretSettings.has(name))),
  });
}

export function infoFromJson(text: string): { readonly info: ArchiveInfo; readonly resumes: string | undefined } {
  return infoFrom(parseJson(text));
}

export function infoFrom(json: unknown): { readonly info: ArchiveInfo; readonly resumes: string | undefined } {
  const value = withoutPrototypes(json);
  if (!isObject(value)) throw unexpected();
  const { version, resumes, homepage, sitemaps, settings } = value as Partial<
    Record<keyof ArchiveInfo | "version" | "resumes", unknown>
  >;
  if (typeof version !== "number" || version < formatVersion) throw unexpected();
  if (version > formatVersion) {
    throw new SitemapError("invalid-archive", "it was written by a later version of this program");
  }
  if (homepage !== undefined && typeof homepage !== "string") throw unexpected();
  if (sitemaps !== undefined && !isStrings(sitemaps)) throw unexpected();
  if (resumes !== undefined && typeof resumes !== "string") throw unexpected();
  if (!isObject(settings)) throw unexpected();
  const info = {
    ...(homepage === undefined ? {} : { homepage }),
    ...(sitemaps === undefined ? {} : { sitemaps }),
    settings: settings as Readonly<Record<string, unknown>>,
  };
  return { info, resumes };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function unexpected(): SitemapError {
  return new SitemapError("invalid-archive", "it is damaged: its first record cannot be read");
}
