// Where a run keeps its documents: in a temporary store, in a new archive, or in one that it resumes.
import type { ArchiveInfo } from "../archive/info.ts";
import { type Archive, type OpenArchiveOptions, openArchive } from "../archive/reader.ts";
import { createStore, openToResume, type Store } from "../archive/store.ts";
import { expectUsable } from "../fetch/fetcher.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { type AllLimits, type Options, resolveStreamOptions } from "../model/options.ts";
import { bareHost, parseUrl } from "../model/url.ts";
import { invalidArchive } from "../storage/file.ts";
import { archivedSettings, type Prepared, prepare, replayOptions } from "./prepare.ts";

export interface Storage {
  /** The crawl, with the settings of the resumed archive if there is one. */
  readonly prepared: Prepared;
  readonly store?: Store;
  /** The archives of earlier runs, opened before anything is written. Closed when the crawl ends. */
  readonly previous: readonly Archive[] | undefined;
}

/** Pages that are requested after a crawl: how many, and the limits of their responses. */
export interface PageStorage {
  readonly pages: ArchiveInfo["pages"];
  readonly limits: AllLimits;
}

/** Creates a store for `save` or `resume`, or if one `isNeeded`. Throws a `SitemapError` if an archive or the settings cannot be used. */
export async function openStorage(prepared: Prepared, isNeeded = false, page?: PageStorage): Promise<Storage> {
  const { settings, start } = prepared;
  expectUsable(settings);
  const { save, resume, store: kind, signal, limits } = settings;
  const options = { signal, documents: limits.sitemaps };
  const previous = settings.previous && (await openPrevious(settings.previous, start.homepage, options));
  try {
    if (resume !== undefined) return { ...(await resumeArchive(resume, prepared, page)), previous };
    if (save === undefined && !isNeeded) return { prepared, previous };
    return { prepared, store: await createStore({ kind, save, info: infoOf(prepared, page?.pages) }), previous };
  } catch (error) {
    for (const archive of previous ?? []) await archive.close();
    throw error;
  }
}

// Opens the archives of earlier runs. Throws a `SitemapError` (`invalid-archive`) if one cannot be read, or is about another website.
async function openPrevious(
  paths: readonly string[],
  homepage: string,
  options: OpenArchiveOptions,
): Promise<Archive[]> {
  const archives: Archive[] = [];
  // A website that moved from http to https is still the same. Another port is another website.
  const hostOf = (url: string) => bareHost(parseUrl(url)?.host ?? "");
  try {
    for (const path of paths) {
      const archive = await openArchive(path, { ...options, newest: true });
      archives.push(archive);
      if (archive.hasRecordsAfterDamage) throw invalidArchive(path, "it is damaged");
      const about = archive.info?.homepage === undefined ? archive.urls : [archive.info.homepage];
      if (!about.some((url) => hostOf(url) === hostOf(homepage)))
        throw new SitemapError(
          "invalid-archive",
          `${path} is an archive of ${about[0] ?? "nothing"}, not of ${homepage}`,
        );
    }
  } catch (error) {
    for (const archive of archives) await archive.close();
    throw error;
  }
  return archives;
}

async function resumeArchive(
  path: string,
  prepared: Prepared,
  page: PageStorage | undefined,
): Promise<{ prepared: Prepared; store: Store }> {
  const { signal, limits, store: kind } = prepared.settings;
  const resumed = await openToResume(path, { signal, documents: limits.sitemaps });
  try {
    const goingOn = withSettingsOf(resumed.info, prepared);
    const info = infoOf(goingOn, page?.pages ?? resumed.info.pages);
    const [about, asked] = [targetOf(resumed.info), targetOf(info)];
    if (about !== asked || resumed.info.homepage !== info.homepage) {
      const message = `${path} cannot be resumed: it is an archive of ${about}, not of ${asked}`;
      throw new SitemapError("invalid-archive", message);
    }
    const store = await createStore({ kind, resumed, limits: page?.limits ?? goingOn.settings.limits, info });
    return { prepared: goingOn, store };
  } catch (error) {
    await resumed.close();
    throw error;
  }
}

function targetOf({ homepage, sitemaps }: ArchiveInfo): string {
  return sitemaps?.join(" ") ?? homepage ?? "";
}

function infoOf({ start, settings }: Prepared, pages?: ArchiveInfo["pages"]): ArchiveInfo {
  const { homepage, sitemaps } = start;
  return { homepage, ...defined({ sitemaps, pages }), settings: archivedSettings(settings) };
}

// Options that affect the tree come from the interrupted run, unless the caller sets them.
function withSettingsOf(
  { settings }: ArchiveInfo,
  { target, options = {}, filters, settings: own }: Prepared,
): Prepared {
  const { limits, signal, onEvent } = own;
  const archived = replayOptions(settings, { limits, rewrite: [], signal, onEvent });
  const merged = { ...archived, ...defined(options), limits: { ...archived.limits, ...defined(options.limits ?? {}) } };
  const again = prepare(target, merged as Options, resolveStreamOptions);
  const given = again.settings.rewrite;
  // The option `here` may have added rewrites to `own`.
  const rewrite = [...given, ...own.rewrite.filter(([from]) => !given.some(([known]) => known === from))];
  return { ...again, filters, settings: { ...again.settings, rewrite, signal, onEvent } };
}
