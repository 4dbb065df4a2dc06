// Keeps exchanges while a tree is in use: in memory, in a private temporary file, and in an archive where one is wanted.
import type { DocumentRequest, Fetched } from "../exchange.ts";
import type { StoreKind } from "../options.ts";
import { isCompressedName, writeArchive } from "./archive-writer.ts";
import { BodySpace } from "./body-space.ts";
import type { ArchiveInfo, Store } from "./contract.ts";
import { describe } from "./description.ts";
import { type Block, closedError, KeptBody } from "./kept-body.ts";
import { archiveKey, replay } from "./replay.ts";
import { type Entry, readEntry, SavedExchanges } from "./saved-exchanges.ts";

export type { Archive, ArchiveInfo, Store } from "./contract.ts";
export { openArchive } from "./open-archive.ts";

/** Up to here `auto` keeps bodies in memory: enough for most websites, little enough for any machine. */
const autoMemory = 8 * 1024 * 1024;

/** A store for one crawl. With `save` everything is also appended to an archive at that path, as it comes. */
export async function createStore(options: {
  readonly kind: StoreKind;
  readonly save?: string | undefined;
  readonly info: ArchiveInfo;
}): Promise<Store> {
  const { kind, save, info } = options;
  // An archive that is not compressed is where bodies are read from: only what is on its way there needs space.
  const passing = save !== undefined && !isCompressedName(save);
  const memory = kind === "memory" ? Number.POSITIVE_INFINITY : kind === "file" && !passing ? 0 : autoMemory;
  const space = new BodySpace(memory, passing);
  try {
    if (memory === 0) await space.prepare();
    const saved = save === undefined ? undefined : await SavedExchanges.create(save, info);
    return new OpenStore(space, saved, info);
  } catch (error) {
    await space.close();
    throw error;
  }
}

class OpenStore implements Store {
  readonly #space: BodySpace;
  readonly #saved: SavedExchanges | undefined;
  readonly #info: ArchiveInfo;
  readonly #entries = new Map<string, Entry>();
  #finished = false;
  #closed = false;

  constructor(space: BodySpace, saved: SavedExchanges | undefined, info: ArchiveInfo) {
    this.#space = space;
    this.#saved = saved;
    this.#info = info;
  }

  async keep<T extends Fetched>(fetched: T): Promise<T> {
    if (this.#closed) throw closedError();
    const body = fetched.outcome === "found" ? await this.#space.take(fetched.body) : [];
    const problem = fetched.outcome === "found" ? fetched.body.problem : undefined;
    const entry = await this.#place(describe(fetched, problem), body);
    const key = archiveKey(fetched);
    if (!this.#entries.has(key)) this.#entries.set(key, entry);
    if (fetched.outcome !== "found") return fetched;
    const { duration } = fetched.body;
    return { ...fetched, ...(duration === undefined ? {} : { duration }), body: new KeptBody(entry.body, problem) };
  }

  has(request: DocumentRequest): boolean {
    return this.#entries.has(archiveKey(request));
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    return replay(request, (key) => this.#entries.get(key), readEntry);
  }

  async finish(): Promise<void> {
    if (this.#closed) throw closedError();
    this.#finished = true;
    await this.#saved?.finish();
  }

  async save(path: string): Promise<void> {
    if (this.#closed) throw closedError();
    await writeArchive(path, async (writer) => {
      const saved = await SavedExchanges.start(writer, this.#info);
      for (const entry of this.#entries.values()) await saved.append(entry);
      if (this.#finished) await saved.finish();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#entries.clear();
    await this.#saved?.close();
    await this.#space.close();
  }

  /** Where the exchange stays: in the archive, where it can be read from there. */
  async #place(description: Uint8Array, body: readonly Block[]): Promise<Entry> {
    const place = await this.#saved?.append({ description: [description], body, at: 0 });
    if (place === undefined) return { description: [await this.#space.put(description)], body, at: 0 };
    this.#space.release(body);
    return place;
  }
}
