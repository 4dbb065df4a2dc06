// Writes down what a run read in its large documents, for the archive. When that archive is opened, the notes replace
// parsing. The documents are compared with notes and checksums when their pages are read, or at once where that is asked for.
import { version } from "../options.ts";
import { pageCount } from "../parse/entry-parser.ts";
import type { Archive } from "../store/contract.ts";
import type { CheckedBody } from "../store/digest.ts";
import type { SavedReading, SavedReadings } from "../store/readings.ts";
import { type Document, type ReadDocument, type Reading, type ReadSettings, read } from "./read.ts";

// In bytes, decoded. Smaller documents are parsed in no time.
const large = 256 * 1024;
// Keeps the notes of one website far below the size limit of a record.
const mostDocuments = 20_000;
const mostProblems = 20;

// The settings that notes depend on.
function readBy({ limits, strict }: ReadSettings): string {
  return JSON.stringify([version, strict, limits]);
}

export class ReadingLog {
  readonly #documents: SavedReading[] = [];
  readonly #by: string;
  readonly #read: ReadDocument;

  constructor(settings: ReadSettings, readDocument: ReadDocument = read) {
    this.#by = readBy(settings);
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
        pages += pageCount(step.value);
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
    const { outcome, complete, problems, wireBytes, decodedBytes, charset, untoldPages } = reading;
    if (url === undefined || outcome.kind !== "pages" || !complete || untoldPages !== undefined) return;
    if (decodedBytes < large || problems.length > mostProblems || this.#documents.length === mostDocuments) return;
    this.#documents.push({ url, format: outcome.format, pages, wireBytes, decodedBytes, charset, problems });
  }
}

/** Reads documents by the notes of an archive. */
export class KnownReadings {
  readonly #archive: Archive;
  readonly #known: ReadonlyMap<string, SavedReading>;
  readonly #verify: boolean;
  /** The URLs of documents whose pages were counted from a note. */
  readonly believed: Set<string> = new Set();

  private constructor(archive: Archive, known: ReadonlyMap<string, SavedReading>, verify: boolean) {
    this.#archive = archive;
    this.#known = known;
    this.#verify = verify;
  }

  /** Undefined if the archive has no notes, or other settings would make other ones. With `verify`, checksums are compared now. */
  static of(archive: Archive, settings: ReadSettings, verify: boolean): KnownReadings | undefined {
    const { readings, truncated, altered, finished } = archive;
    if (readings === undefined || truncated || altered || !finished || readings.by !== readBy(settings))
      return undefined;
    return new KnownReadings(archive, new Map(readings.documents.map((each) => [each.url, each])), verify);
  }

  readonly read: ReadDocument = (document, settings) => this.#read(document, settings);

  async *#read(document: Document, settings: ReadSettings): ReturnType<ReadDocument> {
    const known = await this.#find(document);
    if (known === undefined) return yield* read(document, settings);
    const { url, format, pages, ...rest } = known;
    this.believed.add(url);
    return {
      ...rest,
      outcome: { kind: "pages", format },
      complete: true,
      untoldPages: pages,
      crawlDelay: () => undefined,
    };
  }

  // A document whose checksum is known to differ is parsed; so is one without, because no later reading would show that it differs.
  async #find({ url, isRobots, isCut }: Document): Promise<SavedReading | undefined> {
    const known = url === undefined || isRobots ? undefined : this.#known.get(url);
    if (known === undefined || isCut?.()) return undefined;
    const fetched = await this.#archive.fetch({ url: known.url, role: "sitemap" });
    if (fetched.outcome !== "found") return undefined;
    const body = fetched.body as CheckedBody;
    if (body.digest === undefined || body.problem !== undefined) return undefined;
    return !this.#verify || (await body.isGood()) ? known : undefined;
  }
}
