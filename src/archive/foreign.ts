// Responses in archives of other tools, interpreted like those of a website.
import { detached } from "../model/detached.ts";
import { type Fetched, type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { failureOf, isRedirect } from "../model/status.ts";
import { parseUrl, urlKey, withoutCredentials } from "../model/url.ts";
import { ArchivedBody, beginsWithChunk, readHttpHead } from "./archived-body.ts";
import { type Place, type RecordFile, RecordWalk } from "./records.ts";
import { type Digest, parseDigest, type RecordHead } from "./warc.ts";

/** The URL of a response; undefined for records without one. */
export function foreignUrl({ type, fields }: RecordHead): string | undefined {
  if (type !== "response" && type !== "resource" && type !== "revisit") return undefined;
  // WARC 1.0 printed angle brackets around URLs, and some tools write them.
  const url = withoutCredentials((fields.get("warc-target-uri") ?? "").replace(/^<(.*)>$/, "$1"));
  return /^https?:\/\//i.test(url) && parseUrl(url) !== null ? detached(url) : undefined;
}

/** When a response was received, by its record. */
export function dateOf({ fields }: RecordHead): string | undefined {
  const date = fields.get("warc-date") ?? "";
  return date.length < 40 && !Number.isNaN(Date.parse(date)) ? detached(date) : undefined;
}

/** The answer that a response gives. Throws an error that `isDamage`. `originals`: what a `revisit` may refer to. */
export async function readForeign(
  records: RecordFile,
  place: Place,
  originals: () => Promise<Originals>,
): Promise<Fetched> {
  const { head, content } = await records.open(place);
  const url = foreignUrl(head) ?? "";
  const receivedAt = dateOf(head);
  const asked = { url, role: "sitemap", attempts: 1, ...(receivedAt && { receivedAt }) } as const;
  const truncated = truncation(head);
  const found = (status: number, headers: HeaderList, body: ArchivedBody): FetchedDocument => {
    return { outcome: "found", ...asked, status, headers, body };
  };
  if (head.type === "resource") {
    await content.return(undefined);
    const type = head.fields.get("content-type");
    const headers: HeaderList = type === undefined ? [] : [["content-type", type]];
    return found(200, headers, new ArchivedBody({ records, place, problem: truncated, isResource: true }));
  }
  const { head: http, start } = await readHttpHead(content);
  await content.return(undefined);
  if (head.type === "revisit") {
    const original = (await originals()).find(referenceOf(head, url));
    if (original === undefined) return { outcome: "failed", ...asked, reason: problem("archive-revisit") };
    const repeated = await readForeign(records, original, originals);
    // A revisit whose head is not a 304 has the head of the same payload, sent again.
    const isWhole = repeated.outcome === "found" && http?.status === repeated.status;
    return { ...repeated, url, ...(isWhole ? { headers: http.headers } : {}) };
  }
  if (http === undefined) {
    return { outcome: "failed", ...asked, reason: problem("http-protocol", { value: "no head of a response" }) };
  }
  const { status, headers } = http;
  if (isRedirect(status)) return { outcome: "redirect", ...asked, status, headers };
  if (status < 200 || status > 299) return { ...asked, status, headers, ...failureOf(status, headers) };
  const isChunked = /\bchunked\b/i.test(header(headers, "transfer-encoding") ?? "") && beginsWithChunk(start);
  const isShort = !isChunked && Number(header(headers, "content-length")) > head.contentLength - http.length;
  const reason = truncated ?? (isShort ? problem("body-short") : undefined);
  return found(status, headers, new ArchivedBody({ records, place, problem: reason, isChunked }));
}

/** https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-truncated */
function truncation({ fields }: RecordHead): Problem | undefined {
  // The first of several segments is cut off, too.
  const reason = fields.get("warc-truncated") ?? (fields.has("warc-segment-number") ? "length" : undefined);
  if (reason === undefined) return undefined;
  return problem(reason.toLowerCase() === "disconnect" ? "body-reset" : "body-short");
}

/** What a `revisit` record says about its original. */
interface RevisitReference {
  readonly id: string | undefined;
  readonly url: string;
  readonly date: string | undefined;
  readonly digest: Digest | undefined;
}

function referenceOf({ fields }: RecordHead, url: string): RevisitReference {
  return {
    id: fields.get("warc-refers-to"),
    url: fields.get("warc-refers-to-target-uri") ?? url,
    date: fields.get("warc-refers-to-date"),
    digest: parseDigest(fields.get("warc-payload-digest")),
  };
}

interface RevisitedResponse {
  readonly place: Place;
  readonly date: string | undefined;
  readonly digest: string | undefined;
}

/**
 * The responses of a file, by everything that a revisit may name them by: the id of the record, its URL and date, the digest of its
 * payload, or nothing if the URL is the same. Built only for files with revisits.
 * https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#revisit The profiles
 * (`identical-payload-digest`, `server-not-modified`, with the URIs of WARC 1.0 or 1.1) differ in the meaning of the
 * head of the revisit, which its status shows as well.
 */
export class Originals {
  readonly #byId = new Map<string, RevisitedResponse>();
  readonly #byUrl = new Map<string, RevisitedResponse[]>();
  readonly #byDigest = new Map<string, RevisitedResponse>();

  /** `most`: the limit of responses, from the start of the file. */
  static async of(records: RecordFile, size: number, most: number): Promise<Originals> {
    const originals = new Originals();
    let left = most;
    for await (const { head, place } of new RecordWalk(records, size)) {
      const url = head.type === "revisit" ? undefined : foreignUrl(head);
      if (url !== undefined) originals.#add(head, url, place);
      if (url !== undefined && --left === 0) break;
    }
    return originals;
  }

  find({ id, url, date, digest }: RevisitReference): Place | undefined {
    const atUrl = this.#byUrl.get(urlKey(url)) ?? [];
    const responses = [
      id === undefined ? undefined : this.#byId.get(id),
      ...(date === undefined ? [] : atUrl.filter((response) => response.date === date)),
      digest === undefined ? undefined : this.#byDigest.get(digestKey(digest)),
      ...atUrl,
    ];
    return responses.find((response) => response !== undefined && agrees(response, digest))?.place;
  }

  #add({ fields }: RecordHead, url: string, place: Place): void {
    const kept = (name: string) => detached(fields.get(name) ?? "") || undefined;
    const response = { place, date: kept("warc-date"), digest: kept("warc-payload-digest") };
    const id = kept("warc-record-id");
    const digest = parseDigest(response.digest);
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, response);
    if (digest !== undefined && !this.#byDigest.has(digestKey(digest))) this.#byDigest.set(digestKey(digest), response);
    const key = urlKey(url);
    const others = this.#byUrl.get(key);
    if (others === undefined) this.#byUrl.set(key, [response]);
    else others.push(response);
  }
}

function digestKey({ algorithm, hex }: Digest): string {
  return `${algorithm} ${hex}`;
}

// A payload with another digest is not the original.
function agrees(response: RevisitedResponse, digest: Digest | undefined): boolean {
  const own = parseDigest(response.digest);
  return digest === undefined || own === undefined || own.algorithm !== digest.algorithm || own.hex === digest.hex;
}
