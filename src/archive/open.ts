// An open archive, ours or another tool's: finds the response to each request by the index or, without a valid one (an interrupted run,
// joined files, other tools), in one pass over the records. The first exchange for a URL counts, as in a store.
import { open, stat } from "node:fs/promises";
import { SitemapError, systemReason } from "../model/errors.ts";
import type { DocumentRequest, DocumentSource, Fetched } from "../model/exchange.ts";
import { closedError, invalidArchive, KeptFile, storageFailed } from "../storage/file.ts";
import { ArchivedBody } from "./archived-body.ts";
import { dateOf, foreignUrl, Originals, readForeign } from "./foreign.ts";
import { AnswerLimit, countsFrom, type IndexedGroup, indexType, readIndex, readIndexHead } from "./index-record.ts";
import { type ArchiveInfo, type Counts, infoFrom, parseJson } from "./info.ts";
import { cutOf, revive } from "./kept-response.ts";
import { isDamage, RecordFile, type RecordSpan, RecordWalk, unlessDamaged, type WalkedRecord } from "./records.ts";
import { archiveKey, archiveKeys, replay, unanswered } from "./replay.ts";
import { DigestCheck, latin1, type RecordHead } from "./warc.ts";

/** The position of a response. */
export interface Answer {
  readonly response: RecordSpan | undefined;
  /** Absent in records from other tools. */
  readonly description?: RecordSpan | undefined;
  /** The length of the document, according to the index. */
  readonly bytes?: number | undefined;
  /** Its content, according to the index. */
  readonly counts?: unknown;
  /** It is incomplete because of damage or one of our limits, so another run may have more. */
  readonly isCut: boolean;
  /** It was requested again with new cookies, which supersedes earlier responses of the run. */
  readonly isAgain?: boolean;
  readonly isRevisit?: boolean;
  /** When it was received, in milliseconds, and by which run: known after a pass. */
  readonly time?: number;
  readonly run?: string;
}

/** How an archive is opened. */
export interface OpenArchiveOptions {
  /** Stops opening, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of sitemaps in a tree, which also limits the responses in an archive (it has one for each redirect, too). */
  readonly documents?: number | undefined;
  /** When to stop and use what was found, on the clock of performance.now(). */
  readonly until?: number | undefined;
  /** If there are several responses to one request, the last one counts instead of the first. */
  readonly newest?: boolean | undefined;
  /** Also collect the groups of records. */
  readonly withGroups?: boolean | undefined;
  readonly mostAnswers?: number | undefined;
  readonly writable?: boolean | undefined;
}

// More than any run with the default limits writes. Limited, because a small file must not use up all memory.
const leastAnswers = 600_000;
const answersOfDocument = 12;
// Larger than the headers that any client accepts.
const maxDescription = 4 * 1024 * 1024;

/** Opens a WARC file, our own or another tool's, compressed or not. Throws a `SitemapError` (`invalid-archive`) if it is not one. */
export async function openArchive(path: string, options: OpenArchiveOptions = {}): Promise<Archive> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw invalidArchive(path, error.code === "ENOENT" ? "there is no such file" : systemReason(error), error);
  });
  // Opening a pipe would wait for a writer.
  if (!stats.isFile()) throw invalidArchive(path, "it is not a file");
  const handle = await open(path, options.writable ? "r+" : "r").catch((error: NodeJS.ErrnoException) => {
    // Too many open files: not a fault of the archive.
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
    return await readArchive(new RecordFile(path, file, start.startsWith("\x1f\x8b")), stats.size, options);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The archived run; undefined if another tool wrote it. */
export async function archiveAbout(path: string): Promise<ArchiveInfo | undefined> {
  const archive = await openArchive(path);
  await archive.close();
  return archive.info;
}

/** Reads a file that is already open. */
export async function readArchive(
  records: RecordFile,
  size: number,
  options: OpenArchiveOptions = {},
): Promise<Archive> {
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
  /** The record that describes our last run. */
  infoId: string | undefined;
  /** Whether the crawl that wrote it finished. */
  finished = false;
  /** Whether it is cut off or damaged; the readable part is used. */
  truncated = false;
  /** Whether there are records after the damage. */
  goesOn = false;
  /** Whether a description of the run or of an exchange was modified. */
  altered = false;
  /** In joined archives: a website other than the first one's. */
  otherWebsite: string | undefined;
  /** The settings that the counts depend on. */
  countedBy: string | undefined;
  /** The requested URLs; in files of other tools, those with a response. Each once, in the order of the file. */
  readonly urls: string[] = [];
  /** With `withGroups`: all records from the start of the file, except for an index at its end. */
  readonly groups: IndexedGroup[] = [];
  readonly records: RecordFile;
  readonly size: number;
  readonly #options: OpenArchiveOptions;
  readonly #most: number;
  /** By `archiveKey`. */
  readonly answers: Map<string, Answer> = new Map();
  readonly #forgotten = new Set<string>();
  #closed = false;
  #originals: Promise<Originals> | undefined;
  // For the pass: the runs in the file, and those that are used: the first, and those that resumed it.
  readonly #infoIds = new Set<string>();
  readonly #runs = new Set<string>();
  // Responses whose description has not been found yet. Without it, an exchange is ignored.
  readonly #open = new Map<string, RecordSpan>();
  #exchanges = 0;
  // Records that belong to no group yet, and an index that may be the last.
  #loose: RecordSpan[] = [];
  #tail: RecordSpan[] = [];

  constructor(records: RecordFile, size: number, options: OpenArchiveOptions) {
    this.records = records;
    this.size = size;
    this.#options = options;
    this.#most = options.mostAnswers ?? Math.max(leastAnswers, (options.documents ?? 0) * answersOfDocument);
  }

  has(key: string): boolean {
    return this.answers.has(key);
  }

  /** The response with this key, which must exist. A damaged one is a failure. */
  async read(key: string, asked: DocumentRequest): Promise<Fetched> {
    const answer = this.answers.get(key) as Answer;
    const originals = () => {
      this.#originals ??= Originals.of(this.records, this.size, this.#most);
      return this.#originals;
    };
    const fetched = await unlessDamaged(() =>
      answer.description === undefined
        ? readForeign(this.records, answer.response as RecordSpan, originals)
        : readOwnExchange(this.records, key, answer),
    );
    return fetched ?? unanswered(asked, "archive-digest");
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    return replay(request, this);
  }

  tellsApart(url: string): boolean {
    return this.has(archiveKey({ url, role: "sitemap", anonymous: true }));
  }

  wasNotAsked(url: string): boolean {
    return this.has(archiveKey({ url, role: "sitemap", notAsked: "guess" }));
  }

  /** The content of the sitemap at this URL, according to the run that wrote it. */
  counts(url: string): Counts | undefined {
    const key = archiveKeys({ url, role: "sitemap" }).find((each) => this.has(each));
    const answer = this.answers.get(key ?? "");
    return answer && countsFrom(answer);
  }

  /** These counts turned out to be wrong: archives saved later omit them. */
  forgetCounts(url: string): void {
    this.#forgotten.add(url);
  }

  /** Copies the archive, record by record, compressed if the name ends in `.gz`. The file must not exist. */
  async save(path: string, overwrite?: boolean): Promise<void> {
    if (this.#closed) throw closedError();
    const { copyArchive } = await import("./write.ts");
    await copyArchive(this.records, this.size, path, this.#forgotten, overwrite);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.records.file.close();
  }

  /** Whether there is an index. */
  async readIndex(): Promise<boolean> {
    const index = await readIndex(this.records, this.size, (group) => {
      if (this.#options.withGroups) this.groups.push(group);
      if (group.kind === "i") this.records.infoSpans.push({ offset: group.offset, length: group.lengths[0] as number });
      else if (group.kind !== "-") this.#addGroup(group);
    });
    if (index === undefined) return false;
    this.info = index.info;
    this.infoId = index.infoId;
    this.countedBy = index.by;
    this.finished = true;
    this.records.file.remembersReads = true;
    return true;
  }

  #addGroup({ url, kind, lengths, bytes, counts, offset }: IndexedGroup): void {
    const last = lengths.at(-1) as number;
    const length = lengths.reduce((sum, each) => sum + each, 0);
    this.#set(keyOf(url, kind), url, {
      response: lengths.length === 1 ? undefined : { offset, length: lengths[0] as number },
      description: { offset: offset + length - last, length: last },
      bytes,
      counts,
      isCut: kind.includes("c"),
      isAgain: kind.includes("x"),
    });
  }

  /** Finds everything in one pass over the records. */
  async walk(): Promise<void> {
    const { signal, until = Number.POSITIVE_INFINITY } = this.#options;
    const walk = new RecordWalk(this.records, this.size);
    this.records.infoSpans.length = 0;
    let count = 0;
    for await (const record of walk) {
      signal?.throwIfAborted();
      count += 1;
      // After damage, what looks like a record of another tool may be part of a document.
      await this.#add(record, walk.goesOn && this.info !== undefined);
      if (performance.now() > until) break;
    }
    this.#pushLoose(this.#loose.length);
    this.truncated = walk.damage !== undefined;
    this.goesOn = walk.goesOn;
    const reason = walk.damage === "cut" ? "it is cut off inside its first record" : "it has no records";
    if (count === 0) throw new SitemapError("invalid-archive", reason);
    this.records.file.remembersReads = true;
  }

  async #add(record: WalkedRecord, isDoubtful: boolean): Promise<void> {
    const { head, span } = record;
    const { type, fields } = head;
    const isOurs = this.#infoIds.has(fields.get("warc-warcinfo-id") ?? "");
    if (isOurs && type === "metadata" && !fields.has("warc-target-uri")) {
      this.#tail.push(span);
      if (fields.get("content-type") === indexType) await this.#addEnd(record);
      return;
    }
    if (this.#options.withGroups) this.#loose.push(...this.#tail, span);
    this.#tail = [];
    if (type === "warcinfo") return this.#addInfo(record);
    if (!isOurs && !isDoubtful) this.#addForeign(record);
    if (isOurs && type === "response") this.#open.set(fields.get("warc-record-id") ?? "", span);
    if (isOurs && type === "metadata") await this.#addExchange(record);
  }

  async #addInfo(record: WalkedRecord): Promise<void> {
    const content = await this.#contentOf(record);
    const text = Buffer.from(content).toString();
    const json = /^sitegrove:[ \t]*(.*?)\r?$/m.exec(text)?.[1];
    this.#addGroupOf("", "i", undefined);
    if (json === undefined) {
      this.altered ||= text.startsWith("software: sitegrove/");
      return;
    }
    const { info, resumes } = infoFrom(parseJson(json));
    const id = record.head.fields.get("warc-record-id") ?? "";
    this.#infoIds.add(id);
    this.records.infoSpans.push(record.span);
    // In joined archives, the first one describes the run, unless it was resumed.
    const goesOn = resumes !== undefined && this.#runs.has(resumes);
    if (this.info !== undefined && !goesOn) {
      if (String(info.sitemaps ?? info.homepage) !== String(this.info.sitemaps ?? this.info.homepage))
        this.otherWebsite ??= info.sitemaps?.join(" ") ?? info.homepage;
      return;
    }
    this.altered ||= !isAsWritten(record.head, content);
    this.info = info;
    this.infoId = id;
    this.#runs.add(id);
  }

  async #addEnd(record: WalkedRecord): Promise<void> {
    const { head, span } = record;
    const end = await unlessDamaged(() => readIndexHead(this.records, span));
    // Heads of records have no digest: an exchange with a damaged head would be silently missing.
    this.altered ||= end === undefined || this.#exchanges < end.exchanges;
    if (this.#runs.has(head.fields.get("warc-warcinfo-id") ?? "")) this.finished = true;
  }

  async #addExchange(record: WalkedRecord): Promise<void> {
    const { head, span } = record;
    const [first = ""] = head.concurrentTo;
    const response = this.#open.get(first);
    for (const id of head.concurrentTo) this.#open.delete(id);
    const content = await this.#contentOf(record);
    const isAltered = !isAsWritten(head, content);
    // It may have been about another website.
    this.altered ||= isAltered;
    this.#exchanges += 1;
    const infoId = head.fields.get("warc-warcinfo-id") ?? "";
    const isMain = this.#runs.has(infoId);
    // After the end of a run, another one resumed it.
    if (isMain) this.finished = false;
    const fetched = await unlessDamaged(() => revive(content));
    this.altered ||= fetched === undefined;
    this.#addGroupOf(fetched?.url ?? "", fetched === undefined ? "-" : kindOf(fetched), response);
    if (fetched === undefined) return;
    const isDocument = fetched.outcome === "found";
    this.#set(archiveKey(fetched), fetched.url, {
      response: isDocument ? response : undefined,
      description: span,
      isCut: (isDocument && response === undefined) || cutOf(fetched) !== undefined,
      time: Date.parse(fetched.receivedAt ?? dateOf(head) ?? "") || 0,
      // A run that resumed another one counts as part of it.
      run: isMain ? "" : infoId,
      isAgain: fetched.again !== undefined,
    });
  }

  #addForeign({ head, span }: WalkedRecord): void {
    const url = foreignUrl(head);
    if (url === undefined) return;
    const time = Date.parse(dateOf(head) ?? "") || 0;
    const answer = { response: span, isRevisit: head.type === "revisit", isCut: false, time };
    this.#set(archiveKey({ url, role: "sitemap" }), url, answer);
  }

  // The records from the response on are a group; those before it belong to none.
  #addGroupOf(url: string, kind: string, response: RecordSpan | undefined): void {
    if (!this.#options.withGroups) return;
    this.#pushLoose(response === undefined ? this.#loose.length - 1 : this.#loose.indexOf(response));
    const [first, ...others] = this.#loose;
    this.#loose = [];
    // We write the records of an exchange consecutively.
    if (first === undefined || others.length > 3)
      throw new SitemapError("invalid-archive", "its records are out of order");
    const lengths = [first, ...others].map(({ length }) => length);
    this.groups.push({ url, kind, lengths, offset: first.offset, counts: undefined });
  }

  #pushLoose(count: number): void {
    const loose = count < 0 ? this.#loose : this.#loose.slice(0, count);
    this.#loose = this.#loose.slice(loose.length);
    for (const { offset, length } of loose) {
      this.groups.push({ url: "", kind: "-", lengths: [length], offset, counts: undefined });
    }
  }

  #set(key: string, url: string, answer: Answer): void {
    const before = this.answers.get(key);
    if (before !== undefined && !this.#replaces(answer, before)) return;
    if (this.answers.size >= this.#most) throw new AnswerLimit(this.#most);
    this.answers.set(key, answer);
    // If they are equal, one string is enough.
    if (before === undefined) this.urls.push(url === key ? key : url);
  }

  #replaces(answer: Answer, before: Answer): boolean {
    // A record that only refers to another is replaced by one with content.
    if (before.isRevisit === true || answer.isRevisit === true) return answer.isRevisit !== true;
    // So is an incomplete one, and one that was requested again.
    if (before.isCut || (answer.isAgain === true && before.run === answer.run)) return true;
    return this.#options.newest === true && (answer.time ?? 0) >= (before.time ?? 0);
  }

  async #contentOf({ head, span, content }: WalkedRecord): Promise<Uint8Array> {
    if (head.contentLength > maxDescription)
      throw new SitemapError("invalid-archive", "it is damaged: a record is too long");
    return content ?? (await this.records.read(span, maxDescription)).content;
  }
}

/** Throws an error for which `isDamage` is true, unless the description is about this request and unmodified. */
export async function readOwnExchange(
  records: RecordFile,
  key: string,
  { response, description, bytes }: Pick<Answer, "response" | "description" | "bytes">,
): Promise<Fetched> {
  const { head, content } = await records.read(description as RecordSpan, maxDescription);
  const [id] = head.concurrentTo;
  const fetched = revive(content, (problem) => new ArchivedBody({ records, span: response, id, bytes, problem }));
  if (!isAsWritten(head, content) || archiveKey(fetched) !== key) {
    throw new SitemapError("invalid-archive", "The description was changed");
  }
  const receivedAt = fetched.receivedAt ?? dateOf(head);
  return receivedAt === undefined ? fetched : { ...fetched, receivedAt };
}

/** The kind in the index: `s` or `r` for its role, then `a` if anonymous, `g` or `u` if not asked, `x` if asked again, `c` if cut. */
export function kindOf(fetched: Fetched): string {
  const { role, anonymous, notAsked, again } = fetched;
  const flags = [anonymous ? "a" : "", notAsked?.[0] ?? "", again === undefined ? "" : "x", cutOf(fetched) ? "c" : ""];
  return (role === "robots" ? "r" : "s") + flags.join("");
}

function keyOf(url: string, kind: string): string {
  const notAsked = kind.includes("g") ? "guess" : kind.includes("u") ? "unchanged" : undefined;
  const role = kind.startsWith("r") ? "robots" : "sitemap";
  return archiveKey({ url, role, anonymous: kind.includes("a"), notAsked });
}

function isAsWritten({ fields }: RecordHead, content: Uint8Array): boolean {
  const check = new DigestCheck(fields.get("warc-block-digest"));
  check.see(content);
  return check.isRight();
}
