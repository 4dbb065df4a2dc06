// Writes down what a run read in its large documents, for the archive. When that archive is opened, or a later run takes documents
// from it, the notes replace parsing. The documents are compared with notes and checksums when their pages are read, or at once where
// that is asked for.

import type { Archive } from "../archive/contract.ts";
import type { CheckedBody } from "../archive/digest.ts";
import { readingsByUrl, type SavedReading, type SavedReadings } from "../archive/readings.ts";
import type { Came } from "../model/exchange.ts";
import { type Limits, version } from "../model/options.ts";
import { type Document, type ReadDocument, type Reading, type ReadSettings, read, readUrls } from "./read.ts";

// In bytes, decoded. Smaller documents are parsed in no time.
const large = 256 * 1024;
// Keeps the notes of one website far below the size limit of a record.
const mostDocuments = 20_000;
const mostProblems = 20;

/** The settings that notes depend on, as one text. */
export function readSettings({ limits, strict }: ReadSettings): string {
  return JSON.stringify([version, strict, limits]);
}

export class ReadingLog {
  readonly #documents: SavedReading[] = [];
  readonly #by: string;
  readonly #read: ReadDocument;

  constructor(settings: ReadSettings, readDocument: ReadDocument = read) {
    this.#by = readSettings(settings);
    this.#read = readDocument;
  }

  get readings(): SavedReadings {
    return { by: this.#by, documents: this.#documents };
  }

  /** Reads a document, and takes a note. */
  readonly read: ReadDocument = (document, settings) => this.#noted(document, settings);

  async *#noted(document: Document, settings: ReadSettings): ReturnType<ReadDocument> {
    const reading = this.#read(document, settings);
    let pages = 0;
    let isWhole = true;
    try {
      let step = await reading.next();
      while (!step.done) {
        pages += step.value.pages.length;
        const goesOn = yield step.value;
        isWhole &&= goesOn !== false;
        step = await reading.next(goesOn);
      }
      if (isWhole) this.#note(document, pages, step.value);
      return step.value;
    } finally {
      await reading.return(undefined as never);
    }
  }

  #note({ url }: Document, pages: number, reading: Reading): void {
    const {
      outcome,
      complete,
      problems,
      wireBytes,
      decodedBytes,
      checksum,
      charset,
      untoldPages = 0,
      isNoted,
    } = reading;
    if (url === undefined || outcome.kind !== "pages" || outcome.next !== undefined || !complete) return;
    // A note goes on from archive to archive: whoever opens one compares it.
    if (reading.untoldPages !== undefined && !isNoted) return;
    if (decodedBytes < large || problems.length > mostProblems || this.#documents.length === mostDocuments) return;
    const { format } = outcome;
    const all = pages + untoldPages;
    this.#documents.push({ url, format, pages: all, wireBytes, decodedBytes, checksum, charset, problems });
  }
}

/** By the URL of a document whose pages were counted from a note: how many it says there are. */
export type Believed = Map<string, number>;

type FindNote = (url: string, came: Came | undefined) => Promise<SavedReading | undefined>;

/** Reads documents by the notes of archives. */
export class KnownReadings {
  readonly believed: Believed;
  readonly #find: FindNote;

  private constructor(find: FindNote, believed: Believed = new Map()) {
    this.#find = find;
    this.believed = believed;
  }

  /** Undefined if the archive has no notes, or other settings would make other ones. With `verify`, checksums are compared now. */
  static of(archive: Archive, settings: ReadSettings, verify: boolean): KnownReadings | undefined {
    const { readings, truncated, altered, finished } = archive;
    if (truncated || altered || !finished || readings?.by !== readSettings(settings)) return undefined;
    const notes = readingsByUrl(readings);
    return new KnownReadings(async (url) => {
      const note = notes.get(url);
      const fetched = note && (await archive.fetch({ url, role: "sitemap" }));
      if (note === undefined || fetched?.outcome !== "found") return undefined;
      const body = fetched.body as CheckedBody;
      // A document whose checksum is known to differ is parsed; so is one without, because no later reading would show that it differs.
      if (body.digest === undefined || body.problem !== undefined || body.length !== note.wireBytes) return undefined;
      return !verify || (await body.isGood()) ? note : undefined;
    });
  }

  /** For a run that builds on earlier ones, whose documents it has compared with their checksums. */
  static again(run: { noteOf(url: string): SavedReading | undefined }, believed: Believed): KnownReadings {
    return new KnownReadings(async (url, came) => {
      return came === "not-modified" || came === "not-asked" ? run.noteOf(url) : undefined;
    }, believed);
  }

  readonly read: ReadDocument = (document, settings) => this.#read(document, settings);

  async *#read(document: Document, settings: ReadSettings): ReturnType<ReadDocument> {
    const { url, isRobots, anonymous, isCut, came } = document;
    const isPlain = url !== undefined && !isRobots && !anonymous && !isCut?.();
    const note = isPlain ? await this.#find(url, came) : undefined;
    if (note === undefined || !isPossible(note, settings.limits)) return yield* readUrls(document, settings);
    const { url: _, format, pages, ...rest } = note;
    this.believed.set(note.url, pages);
    return {
      ...rest,
      outcome: { kind: "pages", format },
      complete: true,
      untoldPages: pages,
      isNoted: true,
      crawlDelay: () => undefined,
    };
  }
}

// Whether a document can have so many pages: the shortest one of all is `http://a`.
function isPossible({ pages, decodedBytes }: SavedReading, { documentBytes, documentEntries }: Limits): boolean {
  return decodedBytes <= documentBytes && pages <= documentEntries && pages * 8 <= decodedBytes;
}
