// The options that shape a tree: written into an archive, and read from one to replay it. An archive may come from anybody, so
// only these count, each is checked, and no limit is above the reader's own.
import { expectObject } from "../model/option-checks.ts";
import type { OptionRow } from "../model/options/row.ts";
import {
  type ArchiveSettings,
  checkOption,
  type Limits,
  type Options,
  type Settings,
  shapingOptions,
} from "../model/options.ts";

/** As JSON. A limit of `Infinity` is left out. */
export function archivedSettings(settings: Settings): Record<string, unknown> {
  return kept(shapingOptions, settings as unknown as Record<string, unknown>);
}

function kept(rows: readonly OptionRow[], values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    rows
      .filter(({ name, shapesTree }) => shapesTree !== false && values[name] !== Number.POSITIVE_INFINITY)
      .map(({ name, members }) => [
        name,
        members === undefined ? values[name] : kept(members, values[name] as Record<string, unknown>),
      ]),
  );
}

/** The options of a replay. Throws a `SitemapError` if the archive's settings are not valid. */
export function replayOptions(archived: Readonly<Record<string, unknown>>, reader: ArchiveSettings): Options {
  const fields = new Map(Object.entries(archived));
  const options: Record<string, unknown> = { ...reader };
  for (const row of shapingOptions) {
    const value = fields.get(row.name);
    if (value === undefined) continue;
    options[row.name] = row.name === "limits" ? smaller(row, reader.limits, value) : checkOption(row, value);
  }
  return options as Options;
}

function smaller({ members = [] }: OptionRow, own: Limits, archived: unknown): Limits {
  expectObject("limits", archived);
  const given = new Map<string, unknown>(Object.entries(archived as object));
  const limits = members.map((row) => {
    const name = row.name as keyof Limits;
    const value = row.shapesTree === false ? undefined : given.get(name);
    if (value === undefined) return [name, own[name]];
    return [name, Math.min(own[name], checkOption(row, value, `limits.${name}`) as number)];
  });
  return Object.fromEntries(limits) as Limits;
}
