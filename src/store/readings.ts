// What a run read in its large documents, in the last record of its archive, so that whoever opens it need not read them before the tree is
// there. Read with care: the file may come from anybody.
import type { Problem } from "../problem.ts";
import type { PagesFormat } from "../sitemap.ts";
import { archivedProblem } from "./archived-problem.ts";
import { parseJson, toJson } from "./json.ts";

/** What a document of pages turned out to be, read to its end and complete. */
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
  /** What they depend on: readers that read in the same way write the same text here. */
  readonly by: string;
  readonly documents: readonly SavedReading[];
}

/** The content of the record that ends a run. */
export function endToJson(readings: SavedReadings | undefined): string {
  const hasAny = readings !== undefined && readings.documents.length > 0;
  return toJson({ finished: true, ...(hasAny ? { readings } : {}) });
}

/** Undefined where there are none, or something that we would not have written. */
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
