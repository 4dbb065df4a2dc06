// Where everything is in an archive: exchanges of ours by the URL that was asked for, responses of other tools by their own.
import { SitemapError } from "../errors.ts";
import type { ArchiveInfo } from "./contract.ts";
import { revive } from "./description.ts";
import { type ForeignResponse, foreignResponse, readForeignResponse } from "./foreign-response.ts";
import { maxHttpHead, parseHttpHead } from "./http-block.ts";
import { infoFromJson } from "./info.ts";
import { type Extent, KeptBody, skip } from "./kept-body.ts";
import { archiveKey, type Found, keysOnTheWay } from "./replay.ts";
import { readEntry } from "./saved-exchanges.ts";
import type { RecordHead } from "./warc-reader.ts";

/** An exchange of ours: its description, and the response that holds its document. */
interface OwnExchange {
  readonly description: Extent;
  readonly response: Extent | undefined;
}

/** Ten redirects with all the headers that a client takes stay below it. */
const maxDescription = 16 * 1024 * 1024;

/** Few heads are longer, and the body behind it is read when somebody wants it. */
const usualHttpHead = 8 * 1024;

export class ArchiveIndex {
  info: ArchiveInfo | undefined;
  finished = false;
  recordCount = 0;
  readonly urls: string[] = [];
  readonly #ownIds = new Set<string>();
  /** Responses of ours whose description is still to come. Without it an exchange does not count. */
  readonly #open = new Map<string, Extent>();
  readonly #exchanges = new Map<string, OwnExchange>();
  readonly #targets = new Map<string, OwnExchange>();
  readonly #foreign = new Map<string, ForeignResponse>();

  /** Takes in one record; `read` gives its content. */
  async add(record: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    this.recordCount += 1;
    if (record.type === "warcinfo") return this.#addInfo(record, read);
    if (!this.#ownIds.has(record.fields.get("warc-warcinfo-id") ?? "")) return this.#addForeign(record);
    if (record.type === "response") this.#open.set(record.fields.get("warc-record-id") ?? "", record.content);
    if (record.type !== "metadata") return;
    if (record.fields.has("warc-target-uri")) await this.#addExchange(record, read);
    else this.finished = true;
  }

  async find(key: string): Promise<Found | undefined> {
    const asked = this.#exchanges.get(key);
    const own = asked ?? (this.#foreign.has(key) ? undefined : this.#targets.get(key));
    if (own !== undefined) {
      const body = own.response === undefined ? [] : [await withoutHead(own.response)];
      const fetched = await readEntry({ description: [own.description], body });
      return { fetched, as: asked === undefined ? "target" : "asked" };
    }
    const foreign = this.#foreign.get(key);
    const fetched = foreign && (await readForeignResponse(foreign, (url) => this.#foreign.get(archiveKey(url))));
    return fetched && { fetched, as: "alone" };
  }

  async #addInfo({ fields, content }: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    if (content.length > maxDescription) return;
    const text = Buffer.from(await read()).toString();
    const json = /^sitegrove:[ \t]*(.*?)\r?$/m.exec(text)?.[1];
    if (json === undefined) return;
    // Where archives were joined, the first says what the whole is about.
    const info = infoFromJson(json);
    this.info ??= info;
    this.#ownIds.add(fields.get("warc-record-id") ?? "");
  }

  async #addExchange({ content, concurrentTo }: RecordHead, read: () => Promise<Uint8Array>): Promise<void> {
    if (content.length > maxDescription) throw damaged();
    const [first = ""] = concurrentTo;
    const response = this.#open.get(first);
    for (const id of concurrentTo) this.#open.delete(id);
    const fetched = revive(await read(), (problem) => new KeptBody([], problem));
    // A document whose response is not there: the file was changed.
    if (fetched.outcome === "found" && response === undefined) throw damaged();
    const exchange = { description: content, response: fetched.outcome === "found" ? response : undefined };
    const key = archiveKey(fetched.requestedUrl);
    if (!this.#exchanges.has(key)) {
      this.#exchanges.set(key, exchange);
      this.urls.push(fetched.requestedUrl);
    }
    for (const target of keysOnTheWay(fetched)) if (!this.#targets.has(target)) this.#targets.set(target, exchange);
  }

  #addForeign(record: RecordHead): void {
    const response = foreignResponse(record);
    if (response === undefined) return;
    const key = archiveKey(response.url);
    if (this.#foreign.has(key)) return;
    this.#foreign.set(key, response);
    this.urls.push(response.url);
  }
}

async function withoutHead(response: Extent): Promise<Extent> {
  for (const size of [usualHttpHead, maxHttpHead]) {
    const start = await response.file.read(response.offset, Math.min(response.length, size));
    const head = parseHttpHead(start);
    if (head !== undefined && (head.length < size || size === maxHttpHead)) return skip(response, head.length);
  }
  throw damaged();
}

function damaged(): SitemapError {
  return new SitemapError("invalid-archive", "it is damaged: an exchange in it is not whole");
}
