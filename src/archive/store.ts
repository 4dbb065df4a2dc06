// Keeps exchanges while a tree is in use: in memory, in a private temporary file, and in an archive if one is wanted.
import type { DocumentRequest, Fetched } from "../model/exchange.ts";
import type { Limits, StoreKind } from "../model/options.ts";
import { isCompressedName, writeArchive } from "./archive-writer.ts";
import { BodySpace } from "./body-space.ts";
import type { ArchiveInfo, EarlierFiles, Store } from "./contract.ts";
import { describe } from "./description.ts";
import { CheckedBody } from "./digest.ts";
import { closedError } from "./kept-body.ts";
import type { SavedReadings } from "./readings.ts";
import { archiveKey, replay } from "./replay.ts";
import type { ResumedArchive } from "./resume-archive.ts";
import { bodyOf, type Entry, type Repetition, readEntry, SavedExchanges } from "./saved-exchanges.ts";

export type { Archive, ArchiveInfo, Store } from "./contract.ts";
export { openArchive } from "./open-archive.ts";

// Up to this size `auto` keeps bodies in memory: enough for most websites, little for any machine.
const autoMemory = 8 * 1024 * 1024;

/** A store for one crawl. Exchanges are also appended to an archive: a new one at `save`, or one that is resumed. */
export async function createStore(options: {
  readonly kind: StoreKind;
  readonly save?: string | undefined;
  readonly resumed?: ResumedArchive | undefined;
  /** Which answers of a resumed archive count. */
  readonly limits?: Limits | undefined;
  /** The files of earlier runs: their documents stay there. Closed with the store, which owns them once it is made. */
  readonly earlier?: EarlierFiles | undefined;
  readonly info: ArchiveInfo;
}): Promise<Store> {
  const { kind, save, resumed, info, earlier } = options;
  // An archive that is not compressed is where bodies are read from: only what is on its way there needs space.
  const passing = resumed === undefined ? save !== undefined && !isCompressedName(save) : !resumed.isCompressed;
  const memory = kind === "memory" ? Number.POSITIVE_INFINITY : kind === "file" && !passing ? 0 : autoMemory;
  const space = new BodySpace(memory, passing);
  try {
    if (memory === 0) await space.prepare();
    const saved =
      resumed !== undefined
        ? await SavedExchanges.start(resumed.writer, info, resumed.infoId)
        : save === undefined
          ? undefined
          : await SavedExchanges.create(save, info);
    const copiesAll = kind === "memory";
    return new OpenStore({ space, saved, info, resumed, limits: options.limits, earlier, copiesAll });
  } catch (error) {
    await space.close();
    throw error;
  }
}

interface StoreParts {
  readonly space: BodySpace;
  readonly saved: SavedExchanges | undefined;
  readonly info: ArchiveInfo;
  readonly resumed: ResumedArchive | undefined;
  readonly limits: Limits | undefined;
  readonly earlier: EarlierFiles | undefined;
  /** Nothing is left in the files of earlier runs. */
  readonly copiesAll: boolean;
}

class OpenStore implements Store {
  readonly #parts: StoreParts;
  readonly #entries = new Map<string, Entry>();
  // Whether one was kept that was not asked for.
  #hasGuess = false;
  #finished = false;
  #readings: SavedReadings | undefined;
  #closed = false;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async keep<T extends Fetched>(fetched: T): Promise<T> {
    if (this.#closed) throw closedError();
    // Fetched ahead, and not needed any more: nothing comes after the end of an archive.
    if (this.#finished) return fetched;
    const stored = await this.#store(fetched);
    const problem = fetched.outcome === "found" ? fetched.body.problem : undefined;
    const repeated = repeatedBy(fetched);
    const described = repeated === undefined ? fetched : { ...fetched, came: repeated.came };
    const entry = await this.#place(describe(described, problem), stored, repeated);
    const key = archiveKey(fetched);
    if (fetched.notAsked === "guess") this.#hasGuess = true;
    if (fetched.again !== undefined || !this.#entries.has(key)) this.#entries.set(key, entry);
    if (fetched.outcome !== "found") return fetched;
    const { duration } = fetched.body;
    return {
      ...described,
      ...(duration === undefined ? {} : { duration }),
      body: bodyOf(entry, problem),
    } as T;
  }

  has(request: DocumentRequest): boolean {
    if (this.#find(archiveKey(request)) !== undefined) return true;
    const isPlain = request.notAsked === undefined;
    return isPlain && this.#find(archiveKey({ ...request, notAsked: "unchanged" })) !== undefined;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    return replay(
      request,
      (key) => this.#find(key),
      (found) => found(),
    );
  }

  wasNotAsked(url: string): boolean {
    // Often called, and never so in a first run.
    if (!this.#hasGuess && this.#parts.resumed === undefined) return false;
    return this.#find(archiveKey({ url, role: "sitemap", notAsked: "guess" })) !== undefined;
  }

  async finish(readings?: SavedReadings): Promise<void> {
    if (this.#closed) throw closedError();
    this.#finished = true;
    this.#readings = readings;
    await this.#parts.saved?.finish(readings);
  }

  async save(path: string): Promise<void> {
    if (this.#closed) throw closedError();
    const { info, resumed } = this.#parts;
    await writeArchive(path, async (writer) => {
      const saved = await SavedExchanges.start(writer, info);
      if (resumed !== undefined) {
        for (const key of resumed.keys()) if (!this.#entries.has(key)) await this.#copy(key, saved);
      }
      for (const entry of this.#entries.values()) await saved.append(entry);
      if (this.#finished) await saved.finish(this.#readings);
    });
  }

  forgetReading(url: string): void {
    const { by, documents } = this.#readings ?? { by: "", documents: [] };
    this.#readings = { by, documents: documents.filter((reading) => reading.url !== url) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#entries.clear();
    const { saved, resumed, space, earlier } = this.#parts;
    await saved?.close();
    await resumed?.close();
    await space.close();
    await earlier?.close();
  }

  // A document of an earlier run stays in its file, where it was found intact.
  async #store(fetched: Fetched): Promise<Pick<Entry, "body" | "digest">> {
    const { space, earlier, copiesAll } = this.#parts;
    if (fetched.outcome !== "found") return { body: [] };
    const { body } = fetched;
    if (earlier !== undefined && !copiesAll && body instanceof CheckedBody) {
      const { blocks, record, digest } = body;
      const isWhole = body.problem === undefined && blocks !== undefined && digest !== undefined;
      if (isWhole && repeatedBy(fetched) !== undefined) return { body: blocks, digest: record?.payloadDigest.trim() };
    }
    return { body: await space.take(body) };
  }

  // What was kept in this run, or in the one that it goes on with.
  #find(key: string): (() => Promise<Fetched>) | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) return () => readEntry(entry);
    const { resumed, limits } = this.#parts;
    const answer = resumed?.find(key, limits);
    if (resumed === undefined || answer === undefined) return undefined;
    return async () => {
      const fetched = await resumed.read(answer);
      return { ...fetched, came: fetched.came === "not-asked" ? fetched.came : "resumed" };
    };
  }

  async #copy(key: string, saved: SavedExchanges): Promise<void> {
    const fetched = await this.#find(key)?.();
    if (fetched === undefined) return;
    const body = fetched.outcome === "found" ? await this.#parts.space.take(fetched.body) : [];
    const problem = fetched.outcome === "found" ? fetched.body.problem : undefined;
    await saved.append({ description: [describe(fetched, problem)], body });
    this.#parts.space.release(body);
  }

  /** Where the exchange stays: in the archive, where it can be read from there. */
  async #place(
    description: Uint8Array,
    stored: Pick<Entry, "body" | "digest">,
    repeated: Repetition | undefined,
  ): Promise<Entry> {
    const { space, saved } = this.#parts;
    const entry = { description: [description], ...stored };
    if (repeated !== undefined) await saved?.appendRepeated(entry, repeated);
    const place = repeated === undefined ? await saved?.append(entry) : undefined;
    if (place === undefined) return { ...entry, description: [await space.put(description)] };
    space.release(stored.body);
    return place;
  }
}

// A document of an earlier run, whose record can be copied.
function repeatedBy(fetched: Fetched): Repetition | undefined {
  if (fetched.outcome !== "found") return undefined;
  const { body, status, headers, answered } = fetched;
  const isUnasked = fetched.came === "not-asked";
  const original = body.sameAs ?? (answered === undefined && !isUnasked ? undefined : body);
  if (!(original instanceof CheckedBody) || original.record === undefined) return undefined;
  const { record } = original;
  if (isUnasked) return { came: "not-asked", record };
  const came = body.sameAs === undefined ? "not-modified" : "same-payload";
  return { came, record, answered: answered ?? { status, headers } };
}
