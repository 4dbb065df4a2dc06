// Where everything is in an archive: the answer to each request, ours and those of other tools alike.
import { SitemapError } from "../errors.ts";
import type { Fetched } from "../exchange.ts";
import { problem } from "../problem.ts";
import type { ArchiveInfo } from "./contract.ts";
import { revive } from "./description.ts";
import { CheckedBody, type DigestCheck, hasDigest, parseDigest } from "./digest.ts";
import { checkOf, dateOf, type ForeignResponse, foreignResponse, readForeignResponse } from "./foreign-response.ts";
import { maxHttpHead, parseHttpHead } from "./http-block.ts";
import { infoFromJson } from "./info.ts";
import { type Extent, KeptBody, skip } from "./kept-body.ts";
import { archiveKey } from "./replay.ts";
import { Originals } from "./revisits.ts";
import { readDescription } from "./saved-exchanges.ts";
import type { RecordHead } from "./warc-reader.ts";

/** An exchange of ours: its description, the place in it, and the response that holds its document. */
interface OwnExchange {
  readonly description: Extent;
  readonly at: number;
  readonly response: OwnResponse | undefined;
  /** The description is not what was written. */
  readonly isAltered: boolean;
  /** What WARC-Date says: version 0.1.0 did not describe it. */
  readonly receivedAt: string | undefined;
}

interface OwnResponse {
  readonly content: Extent;
  readonly check: DigestCheck;
}

export type Answer = OwnExchange | ForeignResponse;

/** All the headers that a client takes, ten times over, stay below it. */
const maxDescription = 16 * 1024 * 1024;

/** Few heads are longer, and the body behind it is read when somebody wants it. */
const usualHttpHead = 8 * 1024;

export class ArchiveIndex {
  info: ArchiveInfo | undefined;
  finished = false;
  /** What the archive says about itself, or about an exchange, is not what was written. */
  isAltered = false;
  recordCount = 0;
  readonly urls: string[] = [];
  readonly #ownIds = new Set<string>();
  /** Responses of ours whose description is still to come. Without it an exchange does not count. */
  readonly #open = new Map<string, OwnResponse>();
  readonly #answers = new Map<string, Answer>();
  readonly #walk: () => AsyncIterable<RecordHead>;
  #originals: Promise<Originals> | undefined;

  /** `walk` goes through the records once more. */
  constructor(walk: () => AsyncIterable<RecordHead>) {
    this.#walk = walk;
  }

  /** Takes in one record; `read` gives its content. */
  async add(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    this.recordCount += 1;
    if (record.type === "warcinfo") return this.#addInfo(record, read);
    if (!this.#ownIds.has(record.fields.get("warc-warcinfo-id") ?? "")) return this.#addForeign(record);
    if (record.type === "response") {
      this.#open.set(record.fields.get("warc-record-id") ?? "", { content: record.content, check: checkOf(record) });
    }
    if (record.type !== "metadata") return;
    if (record.fields.has("warc-target-uri")) await this.#addExchange(record, read);
    else await this.#addEnd(record, read);
  }

  find(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  async read(answer: Answer): Promise<Fetched> {
    return dated(await this.#read(answer), answer);
  }

  async #read(answer: Answer): Promise<Fetched> {
    if ("description" in answer) return readOwn(answer);
    if (answer.refersTo === undefined) return readForeignResponse(answer, undefined);
    this.#originals ??= Originals.of(this.#walk());
    const original = (await this.#originals).find(answer.refersTo);
    return readForeignResponse(answer, original && (await readForeignResponse(original, undefined)));
  }

  async #addInfo(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    if (record.content.length > maxDescription) return;
    const content = await read();
    const text = Buffer.from(content).toString();
    const json = /^sitegrove:[ \t]*(.*?)\r?$/m.exec(text)?.[1];
    if (json === undefined) return;
    // Where archives were joined, the first says what the whole is about.
    const info = infoFromJson(json);
    this.info ??= info;
    this.isAltered ||= !(await isAsWritten(record, content));
    this.#ownIds.add(record.fields.get("warc-record-id") ?? "");
  }

  async #addEnd(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    if (record.content.length > maxDescription) throw damaged();
    this.finished = true;
    this.isAltered ||= !(await isAsWritten(record, await read()));
  }

  async #addExchange(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    const { content, concurrentTo } = record;
    if (content.length > maxDescription) throw damaged();
    const [first = ""] = concurrentTo;
    const response = this.#open.get(first);
    for (const id of concurrentTo) this.#open.delete(id);
    const description = await read();
    const isAltered = !(await isAsWritten(record, description));
    // What it was about may have been something else.
    this.isAltered ||= isAltered;
    const exchanges = revive(description, (problem) => new KeptBody([], problem));
    for (const [at, fetched] of exchanges.entries()) {
      const isDocument = fetched.outcome === "found";
      // A document whose response is not there: the file was changed.
      if (isDocument && response === undefined) throw damaged();
      this.#set(archiveKey(fetched), fetched.url, {
        description: content,
        at,
        response: isDocument ? response : undefined,
        isAltered,
        receivedAt: dateOf(record),
      });
    }
  }

  #addForeign(record: RecordHead): void {
    const response = foreignResponse(record);
    if (response !== undefined) this.#set(plainKey(response.url), response.url, response);
  }

  // The first counts; but what only refers to another record makes room for what stands for itself.
  #set(key: string, url: string, answer: Answer): void {
    const before = this.#answers.get(key);
    if (before !== undefined && !(isRevisit(before) && !isRevisit(answer))) return;
    this.#answers.set(key, answer);
    if (before === undefined) this.urls.push(url);
  }
}

async function readOwn({ description, at, response, isAltered }: OwnExchange): Promise<Fetched> {
  if (response === undefined) {
    const fetched = await readDescription([description], at, (problem) => new KeptBody([], problem));
    if (!isAltered) return fetched;
    const { url, role, anonymous } = fetched;
    const asked = { url, role, ...(anonymous && { anonymous }), attempts: fetched.attempts };
    return { outcome: "failed", ...asked, reason: problem("archive-digest") };
  }
  const { head, payload } = await partsOf(response.content);
  if (isAltered) response.check.state = "bad";
  return readDescription(
    [description],
    at,
    (problem) => new CheckedBody({ head: [head], payload: [payload], problem }, response.check),
  );
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

function isAsWritten({ fields }: RecordHead, content: Uint8Array): Promise<boolean> {
  return hasDigest(parseDigest(fields.get("warc-block-digest")), [content]);
}

async function partsOf(response: Extent): Promise<{ head: Extent; payload: Extent }> {
  for (const size of [usualHttpHead, maxHttpHead]) {
    const start = await response.file.read(response.offset, Math.min(response.length, size));
    const head = parseHttpHead(start);
    if (head !== undefined && (head.length < size || size === maxHttpHead)) {
      return { head: { ...response, length: head.length }, payload: skip(response, head.length) };
    }
  }
  throw damaged();
}

function damaged(): SitemapError {
  return new SitemapError("invalid-archive", "it is damaged: an exchange in it is not whole");
}
