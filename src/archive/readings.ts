// What a run read in its large documents, in the last record of its archive: opening the archive need not parse them.
// Checked when it is read: the file may come from anybody.
import { isLossy, type Problem } from "../model/problem.ts";
import type { PagesFormat } from "../model/sitemap.ts";
import { archivedProblem } from "./archived-problem.ts";
import { parseJson, toJson } from "./json.ts";

/** The result of reading a document of pages to its end, without a loss. */
export interface SavedReading {
  readonly url: string;
  readonly format: PagesFormat;
  readonly pages: number;
  readonly wireBytes: number;
  readonly decodedBytes: number;
  readonly checksum?: number | undefined;
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

/** What the record that ends a run says. */
export interface RunEnd {
  readonly readings?: SavedReadings | undefined;
  /** How many exchanges the run wrote. */
  readonly exchanges?: number | undefined;
}

/** The content of the record that ends a run. */
export function endToJson({ readings, exchanges }: RunEnd): string {
  const documents = shortNotes(readings?.documents ?? []);
  return toJson({ finished: true, exchanges, ...(documents.length > 0 && { readings: { ...readings, documents } }) });
}

// As many as a reader takes: URLs and problems are as long as the website makes them. Documents without a note are parsed.
function shortNotes(documents: readonly SavedReading[]): readonly SavedReading[] {
  let room = mostNoted;
  return documents.filter((reading) => {
    const { length } = toJson(reading);
    if (length > room) return false;
    room -= length;
    return true;
  });
}

/** What is not valid is left out. */
export function endFromJson(text: string): RunEnd {
  const { readings, exchanges } = (parseJson(text) ?? {}) as { readings?: unknown; exchanges?: unknown };
  return { readings: readingsFrom(readings), exchanges: isCount(exchanges) ? exchanges : undefined };
}

function readingsFrom(value: unknown): SavedReadings | undefined {
  const { by, documents } = (value ?? {}) as Partial<Record<keyof SavedReadings, unknown>>;
  if (typeof by !== "string" || !Array.isArray(documents)) return undefined;
  const checked = documents.map(savedReading);
  return checked.includes(undefined) ? undefined : { by, documents: checked as SavedReading[] };
}

function savedReading(value: unknown): SavedReading | undefined {
  const fields = (value ?? {}) as Partial<Record<keyof SavedReading, unknown>>;
  const { url, format, pages, wireBytes, decodedBytes, checksum, charset, problems } = fields;
  if (typeof url !== "string" || !formats.has(format as PagesFormat)) return undefined;
  if (!isCount(pages) || !isCount(wireBytes) || !isCount(decodedBytes)) return undefined;
  if (checksum !== undefined && !isCount(checksum)) return undefined;
  if (charset !== undefined && !(typeof charset === "string" && /^[\w.:-]{1,40}$/.test(charset))) return undefined;
  if (!Array.isArray(problems)) return undefined;
  const known = problems.map(archivedProblem);
  // Documents with a loss have no note.
  if (known.some((each) => each === undefined || isLossy(each.code))) return undefined;
  return {
    url,
    format: format as PagesFormat,
    pages,
    wireBytes,
    decodedBytes,
    ...(checksum === undefined ? {} : { checksum }),
    ...(charset === undefined ? {} : { charset }),
    problems: known as Problem[],
  };
}

// In characters: the JSON of a website with thousands of large documents.
const mostNoted = 4 * 1024 * 1024;
const formats: ReadonlySet<PagesFormat> = new Set(["xml", "text", "rss", "atom"]);

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
