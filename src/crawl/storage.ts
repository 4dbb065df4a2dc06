// Where a run keeps its documents: in a temporary store, in a new archive, or in one that it resumes.

import type { ArchiveInfo } from "../archive/info.ts";
import type { PreviousArchives } from "../archive/previous.ts";
import { ResumedArchive } from "../archive/resume.ts";
import { createStore, type Store } from "../archive/store.ts";
import { expectUsable } from "../fetch/fetcher.ts";
import { SitemapError } from "../model/errors.ts";
import { type Options, resolveStreamOptions, type Settings } from "../model/options.ts";
import { archivedSettings, type Prepared, prepare, replayOptions } from "./prepare.ts";

export interface Storage {
  /** With the settings of the resumed archive, if there is one. */
  readonly prepared: Prepared;
  readonly store: Store;
  /** The archives of earlier runs, opened before anything is written. */
  readonly previous: PreviousArchives | undefined;
}

/** Throws a `SitemapError` if an archive cannot be written, read or resumed. Nothing is created if the settings cannot be used. */
export async function openStorage(prepared: Prepared): Promise<Storage> {
  const { settings, start } = prepared;
  expectUsable(settings);
  const previous = settings.previous && (await (await import("./previous.ts")).openPrevious(start, settings));
  try {
    return { ...(await openStore(prepared)), previous };
  } catch (error) {
    await previous?.close();
    throw error;
  }
}

async function openStore(prepared: Prepared): Promise<Omit<Storage, "previous">> {
  const { settings, start } = prepared;
  if (settings.resume === undefined) {
    const store = await createStore({ kind: settings.store, save: settings.save, info: infoOf(prepared) });
    return { prepared, store };
  }
  const { signal, limits } = settings;
  const resumed = await ResumedArchive.open(settings.resume, { signal, documents: limits.documents });
  try {
    const goingOn = withSettingsOf(resumed.info, prepared);
    if (!isSame(resumed.info, infoOf(goingOn))) {
      const about = resumed.info.sitemaps?.join(" ") ?? resumed.info.homepage;
      const asked = start.sitemaps?.join(" ") ?? start.homepage;
      throw new SitemapError(
        "invalid-archive",
        `${resumed.path} cannot be resumed: it is about ${about}, not ${asked}`,
      );
    }
    const { limits } = goingOn.settings;
    const store = await createStore({ kind: settings.store, resumed, limits, info: infoOf(goingOn) });
    return { prepared: goingOn, store };
  } catch (error) {
    await resumed.close();
    throw error;
  }
}

function infoOf({ start, settings }: Prepared): ArchiveInfo {
  const { homepage, sitemaps } = start;
  return { homepage, ...(sitemaps === undefined ? {} : { sitemaps }), settings: archivedSettings(settings) };
}

// The options that shape the tree are those of the interrupted run, unless the caller sets them.
function withSettingsOf({ settings }: ArchiveInfo, prepared: Prepared): Prepared {
  const { target, options = {} } = prepared;
  const { limits, signal, onEvent } = prepared.settings;
  const archived = replayOptions(settings, { limits, rewrite: [], signal, onEvent });
  const merged: Options = {
    ...archived,
    ...given(options),
    limits: { ...archived.limits, ...given(options.limits ?? {}) },
  };
  const again = prepare(target, merged, resolveStreamOptions);
  return { ...again, filters: prepared.filters, settings: { ...again.settings, signal, onEvent } satisfies Settings };
}

function given<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function isSame(one: ArchiveInfo, other: ArchiveInfo): boolean {
  return one.homepage === other.homepage && String(one.sitemaps) === String(other.sitemaps);
}
