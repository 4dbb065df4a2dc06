// Keeps exchanges while a tree is in use: in an archive if one is written, otherwise in memory or in a private temporary file.
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import {
  type Body,
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type RequestIdentity,
  requestKey,
} from "../model/exchange.ts";
import type { AllLimits, StoreKind } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { type Block, closedError, readBlocks } from "../storage/file.ts";
import { Scratch } from "../storage/scratch.ts";
import { cutOf, exchangeFromJson, exchangeToJson } from "./exchange-json.ts";
import type { ArchiveInfo } from "./info.ts";
import { archiveFailure, archiveKeys } from "./keys.ts";
import { Archive, type OpenArchiveOptions, openArchive } from "./reader.ts";
import { Digester } from "./warc.ts";
import { ArchiveWriter, copyArchive, type ReceivedBody, writeArchive } from "./writer.ts";

/** Creates a store for one crawl. Exchanges are appended to an archive, if there is one: a new one at `save`, or one that is resumed. */
export async function createStore(options: {
  readonly kind: StoreKind;
  readonly save?: string | undefined;
  readonly resumed?: Archive | undefined;
  /** The limits of this run. With `resumed`, responses that a lower limit cut off are requested again. */
  readonly limits?: AllLimits | undefined;
  readonly info: ArchiveInfo;
}): Promise<Store> {
  const { kind, save, resumed, limits, info } = options;
  // With an archive, only bodies that are being received need space.
  const isPassing = save !== undefined || resumed !== undefined;
  const memory = kind === "memory" ? Number.POSITIVE_INFINITY : kind === "file" && !isPassing ? 0 : undefined;
  const space = new Scratch(memory);
  let writer: ArchiveWriter | undefined;
  try {
    if (memory === 0) await space.file();
    if (resumed !== undefined) {
      await forgetCut(resumed, limits);
      writer = ArchiveWriter.after(resumed);
    } else if (save !== undefined) writer = await ArchiveWriter.create(save);
    if (writer === undefined) return new Store(info, space);
    const runStart = writer.end;
    await writer.start(info, resumed?.infoId);
    return new Store(info, space, { writer, archive: resumed ?? new Archive(writer.records, 0), runStart });
  } catch (error) {
    await writer?.close();
    await space.close();
    throw error;
  }
}

/** Opens an archive to resume its run. Throws a `SitemapError` (`invalid-archive`) if that is impossible. Changes nothing yet. */
export async function openToResume(
  path: string,
  options: OpenArchiveOptions = {},
): Promise<Archive & { readonly info: ArchiveInfo }> {
  const archive = await openArchive(path, { ...options, writable: true, withGroups: true });
  const { info, hasRecordsAfterDamage, altered } = archive;
  const [reason] = [
    ...(info === undefined ? ["it was written by another tool"] : []),
    ...(hasRecordsAfterDamage ? ["it is damaged"] : []),
    ...(altered ? ["it was changed after it was written"] : []),
  ];
  if (reason === undefined) return archive as Archive & { readonly info: ArchiveInfo };
  await archive.close();
  throw new SitemapError("invalid-archive", `${path} cannot be resumed: ${reason}`);
}

/** Appends notes to a finished archive, whose index moves behind them. */
export async function appendNotes(path: string, lines: readonly Block[]): Promise<void> {
  const archive = await openArchive(path, { writable: true, withGroups: true });
  try {
    const writer = ArchiveWriter.after(archive);
    [writer.info, writer.infoId] = [archive.info, archive.infoId ?? ""];
    await archive.records.file.truncate(writer.end);
    await writer.note(lines);
    await writer.finish();
  } finally {
    await archive.close();
  }
}

// Forgets incomplete responses, so that they are requested again, unless a size limit cut them off that is not higher now. The same goes for
// records that look like those of another tool: the index will not list them.
async function forgetCut(archive: Archive, limits: AllLimits | undefined): Promise<void> {
  for (const [key, { isCut, description }] of archive.answers) {
    if (description === undefined) archive.answers.delete(key);
    if (!isCut) continue;
    const { code, limit = 0 } = cutOf(await archive.read(key, { url: "", role: "sitemap" })) ?? { code: "" };
    const now = code === "limit-robots-bytes" ? limits?.robotsBytes : limits?.documentBytes;
    const isSizeLimit = code === "limit-document-bytes" || code === "limit-robots-bytes";
    if (!isSizeLimit || now === undefined || limit < now) archive.answers.delete(key);
  }
}

/** An exchange that is not in an archive: its description, and its body. */
interface Entry {
  readonly description: Block;
  readonly body: ReceivedBody | undefined;
}

/** The archive that exchanges are appended to, and where this run begins in it. */
interface Written {
  readonly writer: ArchiveWriter;
  readonly archive: Archive;
  readonly runStart: number;
}

/** Keeps exchanges and answers requests from them. */
export class Store implements DocumentSource {
  readonly #info: ArchiveInfo;
  readonly #space: Scratch;
  readonly #written: Written | undefined;
  // The exchanges by `requestKey`, if there is no archive.
  readonly #entries = new Map<string, Entry>();
  #finished = false;
  #closed = false;

  constructor(info: ArchiveInfo, space: Scratch, written?: Written) {
    this.#info = info;
    this.#space = space;
    this.#written = written;
  }

  /**
   * Resolves once the body is stored, with the same exchange and a body that can be read any number of times. The first exchange for a
   * URL counts, unless a later one was requested `again`. Rejects if the disk is full or the body throws (an abort); then nothing is kept.
   */
  async keep<T extends Fetched>(fetched: T): Promise<T> {
    if (this.#closed) throw closedError();
    // A prefetched response that was not needed may arrive late. Nothing may follow the end of an archive.
    if (this.#finished) return fetched;
    if (fetched.outcome !== "found") {
      await this.#store(fetched, undefined);
      return fetched;
    }
    const received = await this.#receive(fetched.body);
    const { attempts, duration } = fetched.body.end;
    const kept = { ...fetched, ...defined({ attempts, duration }) };
    return { ...kept, body: await this.#store(kept, received) };
  }

  /** Whether the response to this exact request was kept. */
  has(request: DocumentRequest): boolean {
    const key = requestKey(request);
    return this.#entries.has(key) || this.#written?.archive.answers.has(key) === true;
  }

  /** Whether the response to this exact request is from the run that this one resumes. */
  isResumed(request: RequestIdentity): boolean {
    const { archive, runStart = 0 } = this.#written ?? {};
    const { description } = archive?.answers.get(requestKey(request)) ?? {};
    return description !== undefined && description.offset < runStart;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    if (this.#written !== undefined) {
      const fetched = await this.#written.archive.fetch(request);
      return this.isResumed(fetched) ? { obtained: "resumed", ...fetched } : fetched;
    }
    request.signal?.throwIfAborted();
    const [entry] = archiveKeys(request).flatMap((key) => this.#entries.get(key) ?? []);
    if (entry === undefined) return archiveFailure(request, "archive-missing");
    return exchangeFromJson(await this.#space.get(entry.description), (problem) => keptBody(entry, problem));
  }

  /** Marks the crawl as finished, so that documents missing from the archive count as skipped on purpose. */
  async finish(): Promise<void> {
    if (this.#closed) throw closedError();
    this.#finished = true;
    await this.#written?.writer.finish();
  }

  /** Writes everything as one archive, compressed if the name ends in `.gz`. Replaces a file only with `overwrite`. */
  async save(path: string, overwrite?: boolean): Promise<void> {
    if (this.#closed) throw closedError();
    if (this.#written !== undefined) {
      const { records, groups, infoId } = this.#written.writer;
      const whole = { info: this.#info, infoId, finished: this.#finished, truncated: false, altered: false };
      return copyArchive({ ...whole, records, groups: [...groups] }, path, overwrite);
    }
    const write = async (writer: ArchiveWriter) => {
      await writer.start(this.#info);
      for (const { description, body } of this.#entries.values()) {
        await writer.append(exchangeFromJson(await this.#space.get(description)), body);
      }
      if (this.#finished) await writer.finish();
    };
    await writeArchive(path, write, overwrite);
  }

  /** Releases everything, including temporary files. Bodies must not be read any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#entries.clear();
    this.#written?.archive.answers.clear();
    await this.#written?.writer.close();
    await this.#space.close();
  }

  // Stores a body, and computes its digest on the way.
  async #receive(body: Body): Promise<ReceivedBody> {
    const digester = new Digester();
    const digested = async function* () {
      for await (const piece of body) {
        digester.update(piece);
        yield piece;
      }
    };
    const blocks = await this.#space.putAll(digested());
    return { blocks, digest: String(digester), problem: body.end.problem };
  }

  // Stores an exchange. Returns its body as it is stored now.
  async #store(fetched: Fetched, received: ReceivedBody | undefined): Promise<Body> {
    const key = requestKey(fetched);
    if (this.#written === undefined) {
      const description = Buffer.from(JSON.stringify(exchangeToJson(fetched, received?.problem)));
      const entry = { description: await this.#space.put(description), body: received };
      if (fetched.again !== undefined || !this.#entries.has(key)) this.#entries.set(key, entry);
      return keptBody(entry, received?.problem);
    }
    const { writer, archive } = this.#written;
    try {
      const answer = archive.set(await writer.append(fetched, received));
      return archive.bodyOf(answer, received?.problem);
    } finally {
      this.#space.release(received?.blocks ?? []);
    }
  }
}

function keptBody({ body }: Entry, problem: Problem | undefined): Body {
  return { end: { problem }, [Symbol.asyncIterator]: () => readBlocks(body?.blocks ?? []) };
}
