// The options that shape a tree: written into an archive, and read from one to replay it. An archive may come from anybody, so
// only these count, each is checked, and no limit is above the reader's own.
import { boolean, expectObject, invalid, number, paths } from "../option-checks.ts";
import { type Limits, type Options, resolveOptions, type Settings } from "../options.ts";

/** What the reader of an archive decides: limits here may be smaller than those of the archive, or larger. */
export type ReaderOptions = Pick<Options, "signal" | "onEvent" | "limits">;
export type ReaderSettings = Pick<Settings, "signal" | "onEvent" | "limits">;

const readerOptions: ReadonlySet<string> = new Set<keyof ReaderOptions>(["signal", "onEvent", "limits"]);

const switches = [
  "useRobots",
  "useKnownPaths",
  "useHomepage",
  "normalizeHomepageUrl",
  "strictRobots",
  "strict",
] as const satisfies readonly (keyof Settings)[];

/** As JSON. A limit of `Infinity` is left out. */
export function archivedSettings(settings: Settings): Record<string, unknown> {
  // What a time budget cut off is in the archive; a replay takes its own time.
  const limits = Object.entries(settings.limits).filter(([name, value]) => name !== "time" && Number.isFinite(value));
  return {
    ...Object.fromEntries(switches.map((name) => [name, settings[name]])),
    extraKnownPaths: settings.extraKnownPaths,
    limits: Object.fromEntries(limits),
  };
}

/** Throws a `SitemapError` (`invalid-option`). */
export function readerSettings(options: ReaderOptions): ReaderSettings {
  const { limits, signal, onEvent } = resolveOptions(options);
  const other = Object.keys(options).find((name) => !readerOptions.has(name));
  if (other !== undefined) throw invalid(`The option \`${other}\` has no meaning for an archive`);
  return { limits, signal, onEvent };
}

/** The options of a replay. Throws a `SitemapError` where the archive's settings are not what we would have written. */
export function replayOptions(archived: Readonly<Record<string, unknown>>, reader: ReaderSettings): Options {
  const fields = new Map(Object.entries(archived));
  const options: Options = {
    ...reader,
    limits: fields.has("limits") ? smaller(reader.limits, fields.get("limits")) : reader.limits,
  };
  for (const name of switches) if (fields.has(name)) options[name] = boolean(name, fields.get(name));
  if (fields.has("extraKnownPaths")) options.extraKnownPaths = paths("extraKnownPaths", fields.get("extraKnownPaths"));
  return options;
}

function smaller(own: Limits, archived: unknown): Limits {
  expectObject("limits", archived);
  const given = new Map(Object.entries(archived as object));
  const limits = Object.entries(own).map(([name, value]: [string, number]) => {
    const counts = given.has(name) && name !== "time";
    return [name, counts ? Math.min(value, number(`limits.${name}`, given.get(name), 0)) : value];
  });
  return Object.fromEntries(limits) as Limits;
}
