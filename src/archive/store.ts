// Keeps exchanges while a tree is in use: in an archive if one is written, otherwise in memory and in a private temporary file.
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { Body, BodyEnd, DocumentRequest, DocumentSource, Fetched } from "../model/exchange.ts";
import type { Limits, StoreKind } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { type Block, closedError, keptBody } from "../storage/file.ts";
import { Scratch } from "../storage/scratch.ts";
import { ArchivedBody } from "./archived-body.ts";
import type { ArchiveInfo, RunCounts } from "./info.ts";
import { describe, type Repetition, revive } from "./kept-response.ts";
import { type Answer, readOwnExchange } from "./open.ts";
import { archiveKey, replay } from "./replay.ts";
import type { ResumedArchive } from "./resume.ts";
import { ArchiveWriter, copyArchive, writeArchive } from "./write.ts";

/** A store for one crawl. Exchanges are appended to an archive, if there is one: a new one at `save`, or one that is resumed. */
export async function createStore(options: {
  readonly kind: StoreKind;
  readonly save?: string | undefined;
  readonly resumed?: ResumedArchive | undefined;
  /** Decide which responses of a resumed archive are used. */
  readonly limits?: Limits | undefined;
  readonly info: ArchiveInfo;
}): Promise<Store> {
  const { kind, save, resumed, info } = options;
  // With an archive, only data that is being written to it needs space.
  const isPassing = save !== undefined || resumed !== undefined;
  const memory = kind === "memory" ? Number.POSITIVE_INFINITY : kind === "file" && !isPassing ? 0 : undefined;
  const space = new Scratch(memory);
  let writer = resumed?.writer;
  try {
    if (memory === 0) await space.file();
    if (save !== undefined) writer ??= await ArchiveWriter.create(save);
    await writer?.start(info, resumed?.archive.infoId);
    return new Store(space, writer, options);
  } catch (error) {
    await writer?.close();
    await space.close();
    throw error;
  }
}

/** The part of an exchange kept in memory: the positions of its description and body. */
interface Entry {
  readonly description: Block;
  readonly body: readonly Block[];
}

/** Keeps exchanges and answers requests from them. */
export class Store implements DocumentSource {
  readonly #space: Scratch;
  readonly #writer: ArchiveWriter | undefined;
  readonly #options: Parameters<typeof createStore>[0];
  readonly #entries = new Map<string, Entry | Answer>();
  #counts: RunCounts | undefined;
  readonly #forgotten = new Set<string>();
  #finished = false;
  #closed = false;

  constructor(space: Scratch, writer: ArchiveWriter | undefined, options: Parameters<typeof createStore>[0]) {
    this.#space = space;
    this.#writer = writer;
    this.#options = options;
  }

  /**
   * Resolves once the body is stored, with the same exchange and a body that can be read any number of times. The first exchange for a
   * URL counts, unless it was requested `again`. Rejects if the disk is full or the body throws (an abort); then nothing is kept.
   */
  async keep<T extends Fetched>(fetched: T): Promise<T> {
    if (this.#closed) throw closedError();
    // Prefetched but not needed: nothing may follow the end of an archive.
    if (this.#finished) return fetched;
    const isFound = fetched.outcome === "found";
    // If the record of an earlier archive is copied, its document need not be stored here.
    const isCopied = isFound && this.#writer !== undefined && repetitionOf(fetched) !== undefined;
    const body = isFound && !isCopied ? await this.#space.take(fetched.body) : [];
    const repetition = repetitionOf(fetched);
    const { attempts, duration, problem: reason } = isFound ? fetched.body.end : ({} as BodyEnd);
    const described = { ...fetched, ...defined({ attempts, duration, came: repetition?.came }) };
    const entry = await this.#span(describe(described, reason), body, repetition);
    const key = archiveKey(fetched);
    if (fetched.again !== undefined || !this.#entries.has(key)) this.#entries.set(key, entry);
    if (!isFound) return fetched;
    return { ...described, body: this.#bodyOf(entry, reason) };
  }

  /** Whether the response to this exact request was kept. */
  has(request: DocumentRequest): boolean {
    if (this.#has(archiveKey(request))) return true;
    return request.notAsked === undefined && this.#has(archiveKey({ ...request, notAsked: "unchanged" }));
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    return replay(request, { has: (key) => this.#has(key), read: (key, asked) => this.#read(key, asked) });
  }

  wasNotAsked(url: string): boolean {
    return this.#has(archiveKey({ url, role: "sitemap", notAsked: "guess" }));
  }

  /** The crawl finished: documents missing from the archive were skipped on purpose. `counts` are kept with it. */
  async finish(counts?: RunCounts): Promise<void> {
    if (this.#closed) throw closedError();
    this.#finished = true;
    this.#counts = counts;
    await this.#writer?.finish(counts);
  }

  /** The counts of this document turned out to be wrong: archives saved later omit them. */
  forgetCounts(url: string): void {
    this.#forgotten.add(url);
  }

  /** Writes everything as one archive, compressed if the name ends in `.gz`. Replaces a file only with `overwrite`. */
  async save(path: string, overwrite?: boolean): Promise<void> {
    if (this.#closed) throw closedError();
    const writer = this.#writer;
    if (writer !== undefined) return copyArchive(writer.records, writer.end, path, this.#forgotten, overwrite);
    await writeArchive(
      path,
      async (copy) => {
        await copy.start(this.#options.info);
        for (const entry of this.#entries.values()) {
          const { description, body } = entry as Entry;
          await copy.append(await this.#space.get(description), body);
        }
        const { by = "", documents = [] } = this.#counts ?? {};
        const known = new Map([...documents].filter(([url]) => !this.#forgotten.has(url)));
        if (this.#finished) await copy.finish({ by, documents: known });
      },
      overwrite,
    );
  }

  /** Releases everything, including temporary files. Bodies must not be read any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#entries.clear();
    await this.#writer?.close();
    await this.#options.resumed?.archive.close();
    await this.#space.close();
  }

  // In the archive, if there is one.
  async #span(
    description: Uint8Array,
    body: readonly Block[],
    repetition: Repetition | undefined,
  ): Promise<Entry | Answer> {
    const writer = this.#writer;
    if (writer === undefined) return { description: await this.#space.put(description), body };
    try {
      if (repetition !== undefined) return await writer.appendRepeated(description, repetition);
      return await writer.append(description, body);
    } finally {
      this.#space.release(body);
    }
  }

  #has(key: string): boolean {
    const { resumed, limits } = this.#options;
    return this.#entries.has(key) || resumed?.has(key, limits) === true;
  }

  // From this run, or from the one it resumes.
  async #read(key: string, asked: DocumentRequest): Promise<Fetched> {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const fetched = await this.#options.resumed?.archive.read(key, asked);
      if (fetched === undefined) throw new SitemapError("invalid-archive", "There is no such answer");
      return { ...fetched, came: fetched.came === "not-asked" ? fetched.came : "resumed" };
    }
    if (!("body" in entry)) return readOwnExchange((this.#writer as ArchiveWriter).records, key, entry);
    return revive(await this.#space.get(entry.description), (reason) => this.#bodyOf(entry, reason));
  }

  #bodyOf(entry: Entry | Answer, reason: Problem | undefined): Body {
    if ("body" in entry) return keptBody(entry.body, reason);
    const { records } = this.#writer as ArchiveWriter;
    return new ArchivedBody({ records, span: entry.response, bytes: entry.bytes, problem: reason });
  }
}

// A document of an earlier run, whose record can be copied.
function repetitionOf(fetched: Fetched): Repetition | undefined {
  if (fetched.outcome !== "found") return undefined;
  const { body, status, headers, answered } = fetched;
  const isUnasked = fetched.came === "not-asked";
  const original = body.end.sameAs ?? (answered === undefined && !isUnasked ? undefined : body);
  if (!(original instanceof ArchivedBody) || original.source === undefined) return undefined;
  const about = { source: original.source, bytes: original.length };
  if (isUnasked) return { came: "not-asked", ...about };
  const came = body.end.sameAs === undefined ? "not-modified" : "same-payload";
  return { came, ...about, answered: answered ?? { status, headers } };
}
