// Reads responses from the archives of other tools as if the website had sent them.
import { type Fetched, type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { failureOf, isDocument, isRedirect } from "../model/status.ts";
import { detached } from "../model/text.ts";
import { parseUrl, urlKey, withoutCredentials } from "../model/url.ts";
import { maxChunkLine, RecordBody, readHttpHead } from "./body.ts";
import { type RecordFile, type RecordSpan, RecordWalk } from "./records.ts";
import { type Digest, latin1, parseDigest, type RecordHead } from "./warc.ts";

/** Returns the URL of a `response`, `resource` or `revisit` record; undefined for other records, and if the URL is not http(s). */
export function foreignUrl({ type, fields }: RecordHead): string | undefined {
  if (type !== "response" && type !== "resource" && type !== "revisit") return undefined;
  // The WARC 1.0 specification shows angle brackets around URLs, and some tools write them.
  const url = withoutCredentials((fields.get("warc-target-uri") ?? "").replace(/^<(.*)>$/, "$1"));
  return /^https?:\/\//i.test(url) && parseUrl(url) !== null ? detached(url) : undefined;
}

/** Returns when a response was received, according to its record. */
export function dateOf({ fields }: RecordHead): string | undefined {
  const date = fields.get("warc-date") ?? "";
  return date.length < 40 && !Number.isNaN(Date.parse(date)) ? detached(date) : undefined;
}

/** Reads the exchange in a record. If it is damaged, throws an error for which `isDamage` is true. A `revisit` refers to `originals`. */
export async function readForeign(
  records: RecordFile,
  span: RecordSpan,
  originals: () => Promise<Originals>,
): Promise<Fetched> {
  const { head, content } = await records.open(span);
  const url = foreignUrl(head) ?? "";
  const receivedAt = dateOf(head);
  const exchange = { url, role: "sitemap", attempts: 1, ...(receivedAt && { receivedAt }) } as const;
  const truncated = truncation(head);
  const found = (status: number, headers: HeaderList, body: RecordBody): FetchedDocument => {
    return { outcome: "found", ...exchange, status, headers, body };
  };
  if (head.type === "resource") {
    await content.return(undefined);
    const type = head.fields.get("content-type");
    const headers: HeaderList = type === undefined ? [] : [["content-type", type]];
    return found(200, headers, new RecordBody({ records, span, problem: truncated, isResource: true }));
  }
  const { head: http, start } = await readHttpHead(content);
  await content.return(undefined);
  if (head.type === "revisit") {
    const original = (await originals()).find(head, url);
    if (original === undefined) return { outcome: "failed", ...exchange, reason: problem("archive-revisit") };
    const repeated = await readForeign(records, original, originals);
    // If the revisit has the status of the original instead of 304, the same payload was sent again, with this head.
    const isWhole = repeated.outcome === "found" && http?.status === repeated.status;
    return { ...repeated, url, ...(isWhole ? { headers: http.headers } : {}) };
  }
  if (http === undefined) {
    return { outcome: "failed", ...exchange, reason: problem("http-protocol", { value: "no response headers" }) };
  }
  const { status, headers } = http;
  if (isRedirect(status)) return { outcome: "redirect", ...exchange, status, headers };
  if (!isDocument(status)) return { ...exchange, status, headers, ...failureOf(status, headers) };
  const isChunked = /\bchunked\b/i.test(header(headers, "transfer-encoding") ?? "") && beginsWithChunk(start);
  const isShort = !isChunked && Number(header(headers, "content-length")) > head.contentLength - http.length;
  const reason = truncated ?? (isShort ? problem("body-short") : undefined);
  return found(
    status,
    headers,
    new RecordBody({ records, span, problem: reason, decode: isChunked ? dechunk : undefined }),
  );
}

/** Returns why a record is truncated: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-truncated */
function truncation({ fields }: RecordHead): Problem | undefined {
  // A record with a segment number is only the first part of a response, so it counts as truncated.
  const reason = fields.get("warc-truncated") ?? (fields.has("warc-segment-number") ? "length" : undefined);
  if (reason === undefined) return undefined;
  return problem(reason.toLowerCase() === "disconnect" ? "body-reset" : "body-short");
}

/**
 * The responses of a file, by what a revisit may refer to: record id, date and URL, digest, or URL. The profile of a revisit is not
 * read, because the status in its head also shows whether the payload was sent again.
 * https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#revisit
 */
export class Originals {
  readonly #byName = new Map<string, { readonly span: RecordSpan; readonly digest: Digest | undefined }[]>();

  /** Collects the first `most` responses of a file. */
  static async of(records: RecordFile, size: number, most: number): Promise<Originals> {
    const originals = new Originals();
    let left = most;
    for await (const { head, span } of new RecordWalk(records, size)) {
      const url = head.type === "revisit" ? undefined : foreignUrl(head);
      if (url === undefined) continue;
      const { fields } = head;
      const digest = parseDigest(fields.get("warc-payload-digest"));
      for (const name of namesOf(fields.get("warc-record-id"), url, fields.get("warc-date"), digest)) {
        const known = originals.#byName.get(name);
        if (known === undefined) originals.#byName.set(detached(name), [{ span, digest }]);
        else known.push({ span, digest });
      }
      if (--left === 0) break;
    }
    return originals;
  }

  /** Finds the record that best matches what a revisit of this URL refers to. A payload with a different digest does not match. */
  find({ fields }: RecordHead, url: string): RecordSpan | undefined {
    const digest = parseDigest(fields.get("warc-payload-digest"));
    const original = fields.get("warc-refers-to-target-uri") ?? url;
    const names = namesOf(fields.get("warc-refers-to"), original, fields.get("warc-refers-to-date"), digest);
    const isSame = (own: Digest | undefined) =>
      digest === undefined || own === undefined || own.algorithm !== digest.algorithm || own.hex === digest.hex;
    return names.flatMap((name) => this.#byName.get(name) ?? []).find((response) => isSame(response.digest))?.span;
  }
}

function namesOf(id: string | undefined, url: string, date: string | undefined, digest: Digest | undefined): string[] {
  const key = urlKey(url);
  return [
    ...(id === undefined ? [] : [`id ${id}`]),
    ...(date === undefined ? [] : [`date ${date} ${key}`]),
    ...(digest === undefined ? [] : [`digest ${digest.algorithm} ${digest.hex}`]),
    `url ${key}`,
  ];
}

// Some tools keep the Transfer-Encoding header but remove the coding, so the beginning of the body is checked, too.
function beginsWithChunk(bytes: Uint8Array): boolean {
  return chunkStart.test(latin1(bytes.subarray(0, maxChunkLine)));
}

// Decodes chunks. Calls `onCut` if the last one is missing. Also reads the bytes after it, which belong to the content of the record.
async function* dechunk(pieces: AsyncIterable<Uint8Array>, onCut: () => void): AsyncGenerator<Uint8Array, undefined> {
  let waiting: Uint8Array = Buffer.alloc(0);
  let left = 0;
  let end: "whole" | "cut" | undefined;
  for await (const piece of pieces) {
    if (end !== undefined) continue;
    waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece]);
    while (waiting.length > 0 && end === undefined) {
      if (left === 0) {
        const [start, size] = chunkStart.exec(latin1(waiting.subarray(0, maxChunkLine))) ?? [];
        // The line may continue in the next piece.
        if (start === undefined && waiting.length < maxChunkLine) break;
        left = Number.parseInt(size ?? "", 16);
        if (start === undefined || left === 0) end = start === undefined ? "cut" : "whole";
        else waiting = waiting.subarray(start.length);
      } else {
        const bytes = waiting.subarray(0, left);
        left -= bytes.length;
        waiting = waiting.subarray(bytes.length);
        yield bytes;
      }
    }
  }
  if (end !== "whole") onCut();
}

// Matches the end of the previous chunk, the size of this one, and extensions, which are ignored.
const chunkStart = /^(?:\r?\n)?([0-9a-f]{1,12})[ \t]*(?:;[^\n]*)?\r?\n/i;
