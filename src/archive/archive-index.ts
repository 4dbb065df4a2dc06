// The index of an archive: where the answer to each request is, in archives of ours and of other tools.
import { SitemapError } from "../model/errors.ts";
import type { Fetched } from "../model/exchange.ts";
import { grouped } from "../model/figures.ts";
import { problem } from "../model/problem.ts";
import type { ArchiveInfo } from "./contract.ts";
import { revive } from "./description.ts";
import { hasDigest, parseDigest } from "./digest.ts";
import { checkOf, dateOf, type ForeignResponse, foreignResponse, readForeignResponse } from "./foreign-response.ts";
import { infoFromJson } from "./info.ts";
import { type Extent, KeptBody } from "./kept-body.ts";
import { cutOf, type OwnExchange, type OwnResponse, readOwnExchange } from "./own-exchange.ts";
import { endFromJson, type SavedReadings } from "./readings.ts";
import { archiveKey } from "./replay.ts";
import { Originals } from "./revisits.ts";
import { type RecordSource, SavedRecord } from "./saved-record.ts";
import type { RecordHead } from "./warc-reader.ts";

export type Answer = OwnExchange | ForeignResponse;

// Ten times the headers that a client accepts.
const maxDescription = 16 * 1024 * 1024;

export interface IndexOptions {
  /** Reads the records once more. */
  readonly walk: () => AsyncIterable<RecordHead>;
  readonly compressed: RecordSource["compressed"];
  /** If there are several answers to one request, the last one counts instead of the first. */
  readonly newest?: boolean | undefined;
  /** Some are damaged, and do not come; or they come with a head that nobody has compared with a checksum. */
  readonly mayLackRecords?: boolean | undefined;
  /** The limit of answers. */
  readonly mostAnswers: number;
}

export class ArchiveIndex implements RecordSource {
  info: ArchiveInfo | undefined;
  finished = false;
  /** Of the run that finished. */
  readings: SavedReadings | undefined;
  /** The archive was edited: what it says about itself, or about an exchange, is not what was written. */
  isAltered = false;
  recordCount = 0;
  readonly urls: string[] = [];
  readonly #options: IndexOptions;
  readonly #infos = new Map<string, SavedRecord>();
  /** The runs whose exchanges count: the first, and those that resumed it. */
  readonly #runs = new Set<string>();
  /** Our responses whose description follows. Without it an exchange does not count. */
  readonly #open = new Map<string, OwnResponse>();
  readonly #answers = new Map<string, Answer>();
  /** How many exchanges each run has. */
  readonly #exchanges = new Map<string, number>();
  #originals: Promise<Originals> | undefined;

  constructor(options: IndexOptions) {
    this.#options = options;
  }

  /** Adds one record; `read` returns its content. */
  async add(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    this.recordCount += 1;
    const { mostAnswers } = this.#options;
    if (this.#answers.size + this.#open.size + this.#infos.size > mostAnswers) {
      throw new SitemapError("invalid-archive", `it holds more than ${grouped(mostAnswers)} documents`);
    }
    if (record.type === "warcinfo") return this.#addInfo(record, read);
    const infoId = record.fields.get("warc-warcinfo-id") ?? "";
    if (!this.#infos.has(infoId)) return this.#addForeign(record);
    if (record.type === "response") {
      const saved = this.#saved(record);
      this.#open.set(saved.id, { record: saved, content: record.content, check: checkOf(record, saved.payloadDigest) });
    }
    if (record.type !== "metadata") return;
    if (record.fields.has("warc-target-uri")) await this.#addExchange(record, read);
    else await this.#addEnd(record, read);
  }

  find(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  keys(): Iterable<string> {
    return this.#answers.keys();
  }

  async read(answer: Answer): Promise<Fetched> {
    return dated(await this.#read(answer), answer);
  }

  async #read(answer: Answer): Promise<Fetched> {
    if ("description" in answer) return readOwnExchange(answer);
    if (answer.refersTo === undefined) return readForeignResponse(answer, undefined);
    this.#originals ??= Originals.of(this.#options.walk(), this.#options.mostAnswers);
    const original = (await this.#originals).find(answer.refersTo);
    return readForeignResponse(answer, original && (await readForeignResponse(original, undefined)));
  }

  /** The record that describes the last run. */
  get lastRun(): string | undefined {
    return [...this.#runs].at(-1);
  }

  compressed(record: Extent): Promise<Extent | undefined> {
    return this.#options.compressed(record);
  }

  infoRecord(id: string): SavedRecord | undefined {
    return this.#infos.get(id);
  }

  async #addInfo(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    const { file, offset, length } = record.content;
    if (length > maxDescription) {
      if (isOurs(await file.read(offset, ourStart.length))) throw damaged();
      return;
    }
    const content = await read();
    const text = Buffer.from(content).toString();
    const json = /^sitegrove:[ \t]*(.*?)\r?$/m.exec(text)?.[1];
    if (json === undefined) {
      this.isAltered ||= isOurs(content);
      return;
    }
    const { info, resumes } = infoFromJson(json);
    const saved = this.#saved(record);
    this.#infos.set(saved.id, saved);
    // In joined archives, the first one says what the whole is about, unless a run resumed it.
    const goesOn = resumes !== undefined && this.#runs.has(resumes);
    if (this.info !== undefined && !goesOn) return;
    this.isAltered ||= !(await isAsWritten(record, content));
    this.info = info;
    this.#runs.add(saved.id);
  }

  async #addEnd(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    if (record.content.length > maxDescription) throw damaged();
    const content = await read();
    const infoId = record.fields.get("warc-warcinfo-id") ?? "";
    const { readings, exchanges = 0 } = endFromJson(Buffer.from(content).toString());
    // Heads of records have no digest: an exchange with a damaged one would be missing without a word.
    const isWhole = (this.#exchanges.get(infoId) ?? 0) >= exchanges;
    this.isAltered ||= !isWhole || !(await isAsWritten(record, content));
    if (!this.#runs.has(infoId)) return;
    this.finished = true;
    this.readings = readings;
  }

  async #addExchange(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    const { content, concurrentTo, fields } = record;
    if (content.length > maxDescription) throw damaged();
    const [first = ""] = concurrentTo;
    const response = this.#open.get(first);
    for (const id of concurrentTo) this.#open.delete(id);
    const description = await read();
    const isAltered = !(await isAsWritten(record, description));
    // It may have been about another website.
    this.isAltered ||= isAltered;
    const infoId = fields.get("warc-warcinfo-id") ?? "";
    this.#exchanges.set(infoId, (this.#exchanges.get(infoId) ?? 0) + 1);
    const isMain = this.#runs.has(infoId);
    // A run that resumed another belongs to it.
    const run = isMain ? "" : (this.#infos.get(infoId)?.id ?? "");
    // After the end of a run, another one resumed it.
    if (isMain) this.finished = false;
    const date = dateOf(record);
    const receivedAt = date === response?.record.date ? response?.record.date : date;
    const fetched = revive(description, (reason) => new KeptBody([], reason));
    const isDocument = fetched.outcome === "found";
    const isLost = isDocument && response === undefined;
    // A document without a response: the file was edited.
    if (isLost && !this.#options.mayLackRecords) throw damaged();
    this.#set(archiveKey(fetched), fetched.url, {
      description: content,
      response: isDocument ? response : undefined,
      isAltered: isAltered || isLost,
      receivedAt,
      cut: isLost ? problem("archive-digest") : cutOf(fetched),
      runsNotAsked: fetched.runsNotAsked ?? 0,
      run,
      isAgain: fetched.again !== undefined,
    });
  }

  #addForeign(record: RecordHead): void {
    const response = foreignResponse(record);
    if (response !== undefined) this.#set(plainKey(response.url), response.url, response);
  }

  #set(key: string, url: string, answer: Answer): void {
    const before = this.#answers.get(key);
    if (before !== undefined && !this.#replaces(answer, before)) return;
    this.#answers.set(key, answer);
    // If they are equal, one string is enough.
    if (before === undefined) this.urls.push(url === key ? key : url);
  }

  #replaces(answer: Answer, before: Answer): boolean {
    // A record that only refers to another is replaced by one with content.
    if (isRevisit(before) !== isRevisit(answer)) return isRevisit(before);
    // So is one that another run should have provided.
    if ("cut" in before && before.cut !== undefined) return true;
    if ("run" in before && "run" in answer && before.run === answer.run && answer.isAgain) return true;
    return this.#options.newest === true && timeOf(answer) >= timeOf(before);
  }

  #saved({ start, end, fields, content }: RecordHead): SavedRecord {
    return new SavedRecord({ file: content.file, offset: start, length: end - start }, fields, this);
  }
}

function damaged(): SitemapError {
  return new SitemapError("invalid-archive", "it is damaged: an exchange in it is not whole");
}

/** When an answer was received, in milliseconds. */
export function timeOf({ receivedAt }: Pick<Answer, "receivedAt">): number {
  return Date.parse(receivedAt ?? "") || 0;
}

function isRevisit(answer: Answer): boolean {
  return "refersTo" in answer && answer.refersTo !== undefined;
}

function dated(fetched: Fetched, { receivedAt }: Answer): Fetched {
  return fetched.receivedAt === undefined && receivedAt !== undefined ? { ...fetched, receivedAt } : fetched;
}

function plainKey(url: string): string {
  return archiveKey({ url, role: "sitemap" });
}

const ourStart = "software: sitegrove/";

function isOurs(content: Uint8Array): boolean {
  return Buffer.from(content.subarray(0, ourStart.length)).toString() === ourStart;
}

function isAsWritten({ fields }: RecordHead, content: Uint8Array): Promise<boolean> {
  return hasDigest(parseDigest(fields.get("warc-block-digest")), [content]);
}
