// An open archive, ours or another tool's. Finds the response to each request by the index or, without a valid one (an interrupted run,
// joined files, other tools), in one pass over the records. Of several exchanges for a URL, the first usually counts (see `set`).
import { open, stat } from "node:fs/promises";
import { SitemapError, systemReason } from "../model/errors.ts";
import { type DocumentRequest, type DocumentSource, type Fetched, requestKey } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import { closedError, invalidArchive, KeptFile, storageFailed } from "../storage/file.ts";
import { RecordBody } from "./body.ts";
import { descriptionType, exchangeFromJson } from "./exchange-json.ts";
import { dateOf, foreignUrl, Originals, readForeign } from "./foreign.ts";
import { AnswerLimit, flagsOf, type Group, indexType, notesType, readIndex, readMovedIndex } from "./index-record.ts";
import { type ArchiveInfo, infoFrom, parseJson } from "./info.ts";
import { archiveFailure, archiveKeys } from "./keys.ts";
import { isDamage, RecordFile, type RecordSpan, RecordWalk, unlessDamaged, type WalkedRecord } from "./records.ts";
import { DigestCheck, latin1, type RecordHead } from "./warc.ts";

/** The position of an exchange. */
export interface Answer {
  readonly response: RecordSpan | undefined;
  /** Absent in records from other tools. */
  readonly description?: RecordSpan | undefined;
  /** Whether a later run may get more, because the exchange failed or is incomplete: see `cutOf`. */
  readonly isCut?: boolean;
  /** In joined archives: the run that the exchange belongs to, unless it is the one that the archive is about. */
  readonly run?: string | undefined;
  readonly isRevisit?: boolean;
}

/** Options for opening an archive. */
export interface OpenArchiveOptions {
  /** Stops the opening, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of sitemaps in a tree. If it is high, it also raises the limit on the responses in an archive. */
  readonly documents?: number | undefined;
  /** When to stop and use what was found, on the clock of performance.now(). */
  readonly until?: number | undefined;
  /** Whether, in joined archives of ours, the response of the last run that completed it counts instead of the first. */
  readonly newest?: boolean | undefined;
  readonly mostAnswers?: number | undefined;
  /** Whether to collect the groups of records, to copy them or to append to them. */
  readonly withGroups?: boolean | undefined;
  readonly writable?: boolean | undefined;
}

// An archive may have 600,000 responses, or 12 for each document of a tree if that is more: a small file must not use up all memory.
const leastAnswers = 600_000;
const answersOfDocument = 12;
// The maximum length of a description. It contains headers, of which our client accepts far less.
const maxDescription = 4 * 1024 * 1024;

/** Opens a WARC file, our own or another tool's, plain or gzipped. Throws a `SitemapError` (`invalid-archive`) if it is not one. */
export async function openArchive(path: string, options: OpenArchiveOptions = {}): Promise<Archive> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw invalidArchive(path, error.code === "ENOENT" ? "there is no such file" : systemReason(error), error);
  });
  // Opening a pipe would wait for a writer.
  if (!stats.isFile()) throw invalidArchive(path, "it is not a file");
  const handle = await open(path, options.writable ? "r+" : "r").catch((error: NodeJS.ErrnoException) => {
    // Too many open files are not the fault of the archive.
    if (error.code === "EMFILE" || error.code === "ENFILE") throw storageFailed(`${path} could not be opened`, error);
    throw invalidArchive(path, systemReason(error), error);
  });
  const file = new KeptFile(handle, path);
  try {
    const start = latin1(await file.read(0, Math.min(4, stats.size)));
    if (start === "") throw invalidArchive(path, "it is empty");
    if (start.startsWith("PK"))
      throw invalidArchive(path, "it is a zip file; if it is a WACZ, unpack it and open the WARC in it");
    if (start === "\x28\xb5\x2f\xfd") throw invalidArchive(path, "it is compressed with zstd; decompress it first");
    const archive = await readArchive(new RecordFile(path, file, start.startsWith("\x1f\x8b")), stats.size, options);
    file.remembersReads = true;
    return archive;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a file that is already open. */
async function readArchive(records: RecordFile, size: number, options: OpenArchiveOptions): Promise<Archive> {
  try {
    const indexed = new Archive(records, size, options);
    if (await indexed.readIndex()) return indexed;
    const walked = new Archive(records, size, options);
    await walked.walk();
    return walked;
  } catch (error) {
    const isAboutFile = error instanceof SitemapError && error.message.includes(records.path);
    throw isDamage(error) && !isAboutFile ? invalidArchive(records.path, (error as Error).message, error) : error;
  }
}

export class Archive implements DocumentSource {
  /** Absent in files from other tools. */
  info: ArchiveInfo | undefined;
  /** The id of the record that describes the run or, if it was resumed, its last part. */
  infoId: string | undefined;
  /** Whether the crawl that wrote the archive finished. */
  finished = false;
  /** Whether the archive is cut off or damaged. The readable part is used. */
  truncated = false;
  /** Whether the archive is damaged in the middle, so that there are records after the damage. */
  hasRecordsAfterDamage = false;
  /** Whether a description of the run or of an exchange was modified or is missing. */
  altered = false;
  /** In joined archives: a website other than that of the first archive. */
  otherWebsite: string | undefined;
  /** With `withGroups`: all records, without an index at the end. */
  readonly groups: Group[] = [];
  readonly records: RecordFile;
  readonly size: number;
  /** The exchanges by `requestKey`, in the order in which the keys first occur in the file. */
  readonly answers: Map<string, Answer> = new Map();
  readonly #options: OpenArchiveOptions;
  readonly #most: number;
  #closed = false;
  #originals: Promise<Originals> | undefined;
  #notes: RecordSpan | undefined;
  // The runs in the file, and those that the tree is built from: the first, and those that resumed it.
  readonly #infoIds = new Set<string>();
  readonly #runs = new Set<string>();
  // The previous record, if it is a response of ours. It is ignored unless its description follows.
  #response: { readonly id: string; readonly span: RecordSpan } | undefined;
  // How many exchanges there are since the last run that does not resume another one.
  #exchanges = 0;

  constructor(records: RecordFile, size: number, options: OpenArchiveOptions = {}) {
    this.records = records;
    this.size = size;
    this.#options = options;
    this.#most = options.mostAnswers ?? Math.max(leastAnswers, (options.documents ?? 0) * answersOfDocument);
  }

  /** The requested URLs or, in files of other tools, those with a response. Each is listed once, in the order of the file. */
  get urls(): string[] {
    return [...new Set(Array.from(this.answers.keys(), (key) => key.replace(/^(?:robots |anonymous )+/, "")))];
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    request.signal?.throwIfAborted();
    const key = archiveKeys(request).find((each) => this.answers.has(each));
    return key === undefined ? archiveFailure(request, "archive-missing") : this.read(key, request);
  }

  /** Reads the exchange with this key, which must exist. Damage becomes a failure, unless it is in the body, which is read later. */
  async read(key: string, asked: DocumentRequest): Promise<Fetched> {
    const answer = this.answers.get(key) as Answer;
    const originals = () => (this.#originals ??= Originals.of(this.records, this.size, this.#most));
    const fetched = await unlessDamaged(() =>
      answer.description === undefined
        ? readForeign(this.records, answer.response as RecordSpan, originals)
        : this.#readOwn(key, answer),
    );
    return fetched ?? archiveFailure(asked, "archive-digest");
  }

  /** Yields the notes about the run, if it has any. Throws an error for which `isDamage` is true if they were modified. */
  async *notes(): AsyncGenerator<Uint8Array, void> {
    if (this.#notes === undefined) return;
    const { head, content } = await this.records.open(this.#notes);
    const check = new DigestCheck(head.fields.get("warc-block-digest"));
    for await (const piece of content) {
      check.update(piece);
      yield piece;
    }
    if (!check.matches()) throw this.records.damaged();
  }

  bodyOf({ response }: Answer, problem: Problem | undefined, id?: string): RecordBody {
    return new RecordBody({ records: this.records, span: response, id, problem });
  }

  variesByCredentials(url: string): boolean {
    return this.answers.has(requestKey({ url, role: "sitemap", anonymous: true }));
  }

  /** Copies the archive, record by record, compressed if the name ends in `.gz`. Replaces a file only with `overwrite`. */
  async save(path: string, overwrite?: boolean): Promise<void> {
    if (this.#closed) throw closedError();
    const { copyArchive } = await import("./writer.ts");
    await copyArchive(await readArchive(this.records, this.size, { withGroups: true }), path, overwrite);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.records.file.close();
  }

  // Throws an error for which `isDamage` is true, unless the description is about this request and unmodified.
  async #readOwn(key: string, answer: Answer): Promise<Fetched> {
    const { head, content } = await this.records.read(answer.description as RecordSpan, maxDescription);
    const [id] = head.concurrentTo;
    const fetched = exchangeFromJson(content, (problem) => this.bodyOf(answer, problem, id));
    if (!isIntact(head, content) || requestKey(fetched) !== key) throw this.records.damaged();
    const receivedAt = fetched.receivedAt ?? dateOf(head);
    return receivedAt === undefined ? fetched : { ...fetched, receivedAt };
  }

  /** Reads the index. Returns whether there is a valid one. */
  async readIndex(): Promise<boolean> {
    const index = await readIndex(this.records, this.size, (group) => this.#addGroup(group));
    this.info = index?.info;
    this.infoId = index?.infoId;
    this.finished = index !== undefined;
    return this.finished;
  }

  #addGroup(group: Group): void {
    if (this.#options.withGroups) this.groups.push(group);
    if (group.flags === "notes") this.#notes = { offset: group.offset, length: group.lengths[0] as number };
    if (group.key !== "") this.set(group);
  }

  /** Adds an exchange. */
  set({ key, offset, lengths, flags }: Group, run?: string): Answer {
    const last = lengths.at(-1) as number;
    const first = lengths.length === 1 ? 0 : (lengths[0] as number);
    const answer: Answer = {
      response: first === 0 ? undefined : { offset, length: first },
      description: { offset: offset + first, length: last },
      isCut: flags.includes("c"),
      run,
    };
    // The first response counts, unless it is incomplete, the run requested it again, or `newest` prefers that of a later run.
    const before = this.answers.get(key);
    const isSameRun = before?.run === run;
    const isNewer = isSameRun ? flags.includes("x") : this.#options.newest === true && !answer.isCut;
    if (before === undefined || before.isCut || isNewer) this.#set(key, answer);
    return answer;
  }

  async walk(): Promise<void> {
    const { signal, until = Number.POSITIVE_INFINITY } = this.#options;
    const walk = new RecordWalk(this.records, this.size);
    let count = 0;
    for await (const record of walk) {
      signal?.throwIfAborted();
      count += 1;
      // After damage, something that looks like another tool's record may be part of a document.
      await this.#add(record, walk.hasRecordsAfterDamage && this.info !== undefined);
      if (performance.now() > until) break;
    }
    while (this.groups.at(-1)?.flags === "index") this.groups.pop();
    this.truncated = walk.damage !== undefined;
    this.hasRecordsAfterDamage = walk.hasRecordsAfterDamage;
    const reason = walk.damage === "cut" ? "it is cut off inside its first record" : "it has no records";
    if (count === 0) throw new SitemapError("invalid-archive", reason);
  }

  async #add(record: WalkedRecord, isDoubtful: boolean): Promise<void> {
    const { head, span } = record;
    const { type, fields } = head;
    const response = this.#response;
    this.#response = undefined;
    const isOurs = this.#infoIds.has(fields.get("warc-warcinfo-id") ?? "");
    const isAboutRun = isOurs && type === "metadata" && !fields.has("warc-target-uri");
    const aboutRun = fields.get("content-type") === notesType ? "notes" : "index";
    const flags = isAboutRun ? aboutRun : type === "warcinfo" ? "info" : "";
    const other: Group = { key: "", offset: span.offset, lengths: [span.length], flags };
    if (isOurs && type === "metadata" && !isAboutRun) return this.#addExchange(record, response);
    this.#addGroup(other);
    // An exchange of ours without its run: the beginning of the archive is missing.
    if (!isOurs && type === "metadata" && (await this.#isDescription(record))) this.altered = true;
    if (isAboutRun && fields.get("content-type") === indexType) return this.#addIndex(record);
    if (type === "warcinfo") return this.#addInfo(record);
    if (!isOurs && !isDoubtful) this.#addForeign(record);
    if (isOurs && type === "response") this.#response = { id: fields.get("warc-record-id") ?? "", span };
  }

  async #addInfo(record: WalkedRecord): Promise<void> {
    const content = await this.#contentOf(record);
    const text = Buffer.from(content).toString();
    const json = /^sitegrove:[ \t]*(.*?)\r?$/m.exec(text)?.[1];
    if (json === undefined) {
      this.altered ||= text.startsWith("software: sitegrove/");
      return;
    }
    const { info, resumes } = infoFrom(parseJson(json));
    const id = record.head.fields.get("warc-record-id") ?? "";
    if (resumes === undefined || !this.#infoIds.has(resumes)) this.#exchanges = 0;
    this.#infoIds.add(id);
    // In joined archives, the first run counts, together with those that resume it.
    const isResumption = resumes !== undefined && this.#runs.has(resumes);
    if (this.info !== undefined && !isResumption) {
      if (String(info.sitemaps ?? info.homepage) !== String(this.info.sitemaps ?? this.info.homepage))
        this.otherWebsite ??= info.sitemaps?.join(" ") ?? info.homepage;
      return;
    }
    this.altered ||= !isIntact(record.head, content);
    this.info = info;
    this.infoId = id;
    this.#runs.add(id);
  }

  async #addIndex({ head, span }: WalkedRecord): Promise<void> {
    let hasLost = false;
    const check = (key: string) => {
      hasLost ||= key !== "" && !this.answers.has(key);
    };
    const end = await readMovedIndex(this.records, span, check);
    // Heads of records have no digest, so without this check, an exchange with a damaged head would be silently missing.
    this.altered ||= end === undefined || hasLost || this.#exchanges < end.exchanges;
    if (this.#runs.has(head.fields.get("warc-warcinfo-id") ?? "")) this.finished = true;
  }

  async #addExchange(record: WalkedRecord, before: { readonly id: string; readonly span: RecordSpan } | undefined) {
    const { head, span } = record;
    const response = before?.id === head.concurrentTo[0] ? before?.span : undefined;
    const content = await this.#contentOf(record);
    const fetched = await unlessDamaged(() => exchangeFromJson(content));
    // A modified description may no longer name the URL that was requested.
    this.altered ||= fetched === undefined || !isIntact(head, content);
    this.#exchanges += 1;
    const run = head.fields.get("warc-warcinfo-id") ?? "";
    const isMain = this.#runs.has(run);
    // An exchange after the end of a run shows that the run was resumed.
    if (isMain) this.finished = false;
    const isLost = fetched?.outcome === "found" && response === undefined;
    const group: Group = {
      key: fetched === undefined ? "" : requestKey(fetched),
      offset: response?.offset ?? span.offset,
      lengths: response === undefined ? [span.length] : [response.length, span.length],
      flags: `${fetched && flagsOf(fetched)}${isLost ? "c" : ""}`,
    };
    if (this.#options.withGroups) {
      if (response !== undefined) this.groups.pop();
      this.groups.push(group);
    }
    if (group.key !== "") this.set(group, isMain ? undefined : run);
  }

  async #isDescription(record: WalkedRecord): Promise<boolean> {
    const { fields, concurrentTo, contentLength } = record.head;
    if (fields.get("content-type") !== descriptionType || contentLength > maxDescription) return false;
    const isAboutResponse = fields.has("warc-warcinfo-id") && concurrentTo.length > 0;
    return (
      isAboutResponse &&
      (await unlessDamaged(async () => exchangeFromJson(await this.#contentOf(record)))) !== undefined
    );
  }

  #addForeign({ head, span }: WalkedRecord): void {
    const url = foreignUrl(head);
    if (url === undefined) return;
    const isRevisit = head.type === "revisit";
    const key = requestKey({ url, role: "sitemap" });
    const before = this.answers.get(key);
    // A record with content replaces a revisit, which only refers to content.
    if (before === undefined || (before.isRevisit === true && !isRevisit))
      this.#set(key, { response: span, isRevisit });
  }

  #set(key: string, answer: Answer): void {
    if (this.answers.size >= this.#most && !this.answers.has(key)) throw new AnswerLimit(this.#most);
    this.answers.set(key, answer);
  }

  async #contentOf({ head, span, content }: WalkedRecord): Promise<Uint8Array> {
    if (head.contentLength > maxDescription)
      throw new SitemapError("invalid-archive", "it is damaged: a record is too long");
    return content ?? (await this.records.read(span, maxDescription)).content;
  }
}

function isIntact({ fields }: RecordHead, content: Uint8Array): boolean {
  const check = new DigestCheck(fields.get("warc-block-digest"));
  check.update(content);
  return check.matches();
}
