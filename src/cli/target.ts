// The target on the command line: a website, given sitemaps, or an archive on disk.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { ArchiveInfo } from "../archive/contract.ts";
import { looksLikeArchive, magicLength } from "../diff/archive-magic.ts";
import { systemReason } from "../model/system-reason.ts";
import { parseUrl, withoutCredentials } from "../model/url.ts";
import { UsageError } from "./exit-codes.ts";

export type Target =
  | { readonly kind: "website"; readonly homepage: string; readonly isAssumed: boolean }
  | { readonly kind: "sitemaps"; readonly urls: readonly string[] }
  | { readonly kind: "archive"; readonly path: string };

export function chooseTarget(name: string | undefined, sitemaps: readonly string[] = []): Target {
  if (sitemaps.length > 0) {
    if (name !== undefined) throw new UsageError("give either a website or --sitemap, not both");
    return { kind: "sitemaps", urls: sitemaps.map((url) => webUrl(url) ?? fail(url, "--sitemap takes a URL, not")) };
  }
  if (name === undefined) throw new UsageError("no website given; --help shows examples");
  if (hasScheme.test(name)) {
    return { kind: "website", homepage: webUrl(name) ?? fail(name, "not an http or https URL:"), isAssumed: false };
  }
  const stat = statSync(name, { throwIfNoEntry: false });
  if (stat !== undefined) {
    // `ls example.org > example.org` makes the shell create an empty file first.
    const what = stat.isDirectory()
      ? "a folder"
      : stat.isFile()
        ? stat.size === 0
          ? "an empty file"
          : undefined
        : "not a regular file";
    if (what === undefined) {
      expectArchive(name);
      return { kind: "archive", path: name };
    }
    throw new UsageError(`${name} is ${what} here, not an archive${websiteHint(name)}`);
  }
  if (looksLikeFile.test(name)) throw new UsageError(`no such file: ${name}`);
  return { kind: "website", homepage: webUrl(name) ?? fail(name, "neither a URL nor a file:"), isAssumed: true };
}

/** What an archive says that it is about: never a file, and without a password of its own. */
export function archivedTarget({ homepage = "", sitemaps }: Partial<ArchiveInfo>): Target {
  const url = (text: string) =>
    (hasScheme.test(text) ? webUrl(withoutCredentials(text)) : undefined) ??
    fail(text, "the archive names no website:");
  if (sitemaps !== undefined && sitemaps.length > 0) return { kind: "sitemaps", urls: sitemaps.map(url) };
  return { kind: "website", homepage: url(homepage), isAssumed: false };
}

// A file with the name of a website, or a sitemap: the message says what to type.
function expectArchive(name: string): void {
  if (isArchiveName.test(name) || looksLikeArchive(startOf(name))) return;
  const hint = websiteHint(name) || `; for a sitemap that is a local file: sitegrove parse ${name}`;
  throw new UsageError(`${name} is a file here, and not an archive${hint}`);
}

function startOf(file: string): Uint8Array {
  try {
    const descriptor = openSync(file, "r");
    const start = Buffer.alloc(magicLength);
    try {
      return start.subarray(0, readSync(descriptor, start));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new UsageError(`${file}: ${systemReason(error)}`);
  }
}

/** What to type instead, if a file is named like a website. */
export function websiteHint(name: string): string {
  return looksLikeHost.test(name) ? `; for the website: sitegrove ls https://${name}` : "";
}

// People type `example.org`: https is what they mean.
function webUrl(text: string): string | undefined {
  const url = hasScheme.test(text) ? text : `https://${text}`;
  const parsed = parseUrl(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.hostname !== "" ? url : undefined;
}

function fail(text: string, what: string): never {
  throw new UsageError(`${what} ${withoutCredentials(text)}`);
}

const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i;
const looksLikeHost = /^(?!.*\.(?:xml|gz|txt|rss|atom|csv|json|html?)$)[\w-]+(\.[\w-]+)+$/i;
const isArchiveName = /\.warc(\.gz)?$/i;
const looksLikeFile = /^[./~\\]|\.warc(\.gz)?$/i;
