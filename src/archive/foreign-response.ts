// Responses in archives of other tools, interpreted like those of a website.
import { detached } from "../model/detached.ts";
import { type Body, type Fetched, type FetchedDocument, type HeaderList, header } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { failureOf, isRedirect } from "../model/status.ts";
import { parseUrl, withoutCredentials } from "../model/url.ts";
import { CheckedBody, type Digest, DigestCheck, parseDigest } from "./digest.ts";
import { beginsWithChunk, dechunk, type HttpHead, readHttpHead } from "./http-block.ts";
import { type Extent, skip } from "./kept-body.ts";
import type { RecordHead } from "./warc-reader.ts";

/** What is kept in memory of such a response. */
export interface ForeignResponse {
  readonly url: string;
  /** A `resource` is a document without an HTTP head. */
  readonly type: "response" | "resource" | "revisit";
  readonly content: Extent;
  readonly contentType: string | undefined;
  /** The value of WARC-Truncated, or `length` for the first of several segments. */
  readonly truncated: string | undefined;
  /** What a `revisit` refers to. */
  readonly refersTo: Reference | undefined;
  readonly check: DigestCheck;
  /** The value of WARC-Date. */
  readonly receivedAt: string | undefined;
}

/** Undefined for records without an HTTP response. */
export function foreignResponse(record: RecordHead): ForeignResponse | undefined {
  const { type, fields, content } = record;
  if (type !== "response" && type !== "resource" && type !== "revisit") return undefined;
  // WARC 1.0 printed angle brackets around URLs, and some tools write them.
  const url = withoutCredentials((fields.get("warc-target-uri") ?? "").replace(/^<(.*)>$/, "$1"));
  if (!/^https?:\/\//i.test(url) || parseUrl(url) === null) return undefined;
  return {
    url: detached(url),
    type,
    content,
    contentType: kept(fields.get("content-type")),
    truncated: kept(fields.get("warc-truncated")) ?? (fields.has("warc-segment-number") ? "length" : undefined),
    refersTo: type === "revisit" ? referenceOf(record, url) : undefined,
    check: checkOf(record),
    receivedAt: dateOf(record),
  };
}

/** What a `revisit` record says about its original. */
export interface Reference {
  readonly id: string | undefined;
  readonly url: string;
  readonly date: string | undefined;
  readonly digest: Digest | undefined;
}

function referenceOf({ fields }: RecordHead, url: string): Reference {
  return {
    id: kept(fields.get("warc-refers-to")),
    url: kept(fields.get("warc-refers-to-target-uri")) ?? url,
    date: kept(fields.get("warc-refers-to-date")),
    digest: parseDigest(fields.get("warc-payload-digest")),
  };
}

/** When the response was received, by its record. */
export function dateOf({ fields }: RecordHead): string | undefined {
  const date = fields.get("warc-date") ?? "";
  return date.length < 40 && !Number.isNaN(Date.parse(date)) ? detached(date) : undefined;
}

/** The digests of a record. `payload`: a copy of the first that is kept anyway. */
export function checkOf({ fields }: RecordHead, payload?: string): DigestCheck {
  return new DigestCheck(payload ?? kept(fields.get("warc-payload-digest")), kept(fields.get("warc-block-digest")));
}

// An archive may hold hundreds of thousands of records: a field must not keep the whole head alive.
function kept(field: string | undefined): string | undefined {
  return field === undefined ? undefined : detached(field);
}

/** The answer that a response gives. `original`: what a `revisit` refers to. */
export async function readForeignResponse(response: ForeignResponse, original: Fetched | undefined): Promise<Fetched> {
  const { url, type, content } = response;
  if (type === "resource") {
    const headers: HeaderList = response.contentType === undefined ? [] : [["content-type", response.contentType]];
    const parts = { head: [], payload: [content], problem: truncation(response.truncated) };
    return found(url, 200, headers, new CheckedBody(parts, response.check));
  }
  const asked = { url, role: "sitemap", attempts: 1 } as const;
  const read = await readHttpHead(content);
  if (read === "damaged") return { outcome: "failed", ...asked, reason: problem("archive-digest") };
  const { head, start } = read ?? {};
  if (type === "revisit") {
    if (original === undefined) return { outcome: "failed", ...asked, reason: problem("archive-revisit") };
    // A revisit whose head is not a 304 has the head of the same payload, sent again.
    const isWhole = original.outcome === "found" && head?.status === original.status;
    return { ...original, url, ...(isWhole ? { headers: head.headers } : {}) };
  }
  if (head === undefined || start === undefined) {
    return { outcome: "failed", ...asked, reason: problem("http-protocol", { value: "no head of a response" }) };
  }
  const { status, headers } = head;
  if (isRedirect(status)) return { outcome: "redirect", ...asked, status, headers };
  if (status < 200 || status > 299) return { ...asked, status, headers, ...failureOf(status, headers) };
  return found(url, status, headers, bodyOf(response, head, start.subarray(head.length)));
}

function found(url: string, status: number, headers: HeaderList, body: Body): FetchedDocument {
  return { outcome: "found", url, role: "sitemap", attempts: 1, status, headers, body };
}

function bodyOf({ content, truncated, check }: ForeignResponse, head: HttpHead, start: Uint8Array): Body {
  const payload = skip(content, head.length);
  const parts = { head: [{ ...content, length: head.length }], payload: [payload], problem: truncation(truncated) };
  const coding = header(head.headers, "transfer-encoding");
  if (coding !== undefined && /\bchunked\b/i.test(coding) && beginsWithChunk(start)) {
    return new CheckedBody({ ...parts, decode: dechunk }, check);
  }
  const announced = Number(header(head.headers, "content-length"));
  const isShort = announced > payload.length;
  return new CheckedBody(isShort ? { ...parts, problem: parts.problem ?? truncation("unspecified") } : parts, check);
}

/** https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-truncated */
function truncation(reason: string | undefined): Problem | undefined {
  if (reason === undefined) return undefined;
  return problem(reason.toLowerCase() === "disconnect" ? "body-reset" : "body-short");
}
