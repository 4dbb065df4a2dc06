// What a run read in its large documents, in the last record of its archive: opening the archive need not parse them.
// Checked when it is read: the file may come from anybody.
import type { Problem } from "../problem.ts";
import type { PagesFormat } from "../sitemap.ts";
import { archivedProblem } from "./archived-problem.ts";
import { parseJson, toJson } from "./json.ts";

/** The result of reading a document of pages to its end, without a loss. */
export interface SavedReading {
  readonly url: string;
  readonly format: PagesFormat;
  readonly pages: number;
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly charset?: string | undefined;
  readonly problems: readonly Problem[];
}

export interface SavedReadings {
  /** The settings that the readings depend on, as one text. */
  readonly by: string;
  readonly documents: readonly SavedReading[];
}

/** Without those of a URL that gave two documents, one of them to an anonymous request: a note does not say which. */
export function readingsByUrl(readings: SavedReadings | undefined): ReadonlyMap<string, SavedReading> {
  const known = new Map<string, SavedReading>();
  const twice = new Set<string>();
  for (const reading of readings?.documents ?? []) {
    if (known.has(reading.url)) twice.add(reading.url);
    known.set(reading.url, reading);
  }
  for (const url of twice) known.delete(url);
  return known;
}

/** The content of the record that ends a run. */
export function endToJson(readings: SavedReadings | undefined): string {
  const hasAny = readings !== undefined && readings.documents.length > 0;
  return toJson({ finished: true, ...(hasAny ? { readings } : {}) });
}

/** Undefined if there are none, or they are not valid. */
export function readingsFromJson(text: string): SavedReadings | undefined {
  const { readings } = (parseJson(text) ?? {}) as { readings?: unknown };
  const { by, documents } = (readings ?? {}) as Partial<Record<keyof SavedReadings, unknown>>;
  if (typeof by !== "string" || !Array.isArray(documents)) return undefined;
  const checked = documents.map(savedReading);
  return checked.includes(undefined) ? undefined : { by, documents: checked as SavedReading[] };
}

function savedReading(value: unknown): SavedReading | undefined {
  const fields = (value ?? {}) as Partial<Record<keyof SavedReading, unknown>>;
  const { url, format, pages, wireBytes, decodedBytes, charset, problems } = fields;
  if (typeof url !== "string" || !formats.has(format as PagesFormat)) return undefined;
  if (!isCount(pages) || !isCount(wireBytes) || !isCount(decodedBytes)) return undefined;
  if (charset !== undefined && !(typeof charset === "string" && /^[\w.:-]{1,40}$/.test(charset))) return undefined;
  if (!Array.isArray(problems)) return undefined;
  const known = problems.map(archivedProblem);
  if (known.includes(undefined)) return undefined;
  return {
    url,
    format: format as PagesFormat,
    pages,
    wireBytes,
    decodedBytes,
    ...(charset === undefined ? {} : { charset }),
    problems: known as Problem[],
  };
}

const formats: ReadonlySet<PagesFormat> = new Set(["xml", "text", "rss", "atom"]);

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
