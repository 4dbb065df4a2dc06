// One request and its response: a document, a redirect, or a failure. `fetch/` makes exchanges, `archive/` keeps them, and
// `crawl/` follows the redirects and reads the documents.
import type { Problem } from "./problem.ts";
import { urlKey, withoutCredentials } from "./url.ts";

/** Headers in the order of the response, with their names in lower case. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What a document is requested as: robots.txt has its own limits, and the homepage is only read for its links. */
export type DocumentRole = "robots" | "sitemap" | "homepage";

export interface DocumentRequest {
  readonly url: string;
  readonly role: DocumentRole;
  /** Whether a redirect led here, so that the request takes precedence over new ones. */
  readonly isRedirected?: boolean | undefined;
  /** Whether to omit the caller's headers for this origin, because another website led here. */
  readonly anonymous?: boolean | undefined;
  /** How often the redirects so far returned to this URL with new cookies. The latest response counts. */
  readonly again?: number | undefined;
  /** The `Cookie` header, computed when the request is sent. */
  readonly cookie?: (() => string | undefined) | undefined;
  /** Headers of a conditional request. */
  readonly conditional?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why there is no document: it does not exist, access is denied, the request failed, or our own policy forbids it. */
export type FailureOutcome = "absent" | "blocked" | "failed" | "refused";

/** The answer to one request. */
export type Fetched = FetchedDocument | FetchedRedirect | FailedFetch;

/**
 * How a document was obtained: from the website now (`fetched`); from an earlier run, because the website answered 304 (`not-modified`);
 * or from the archive that this run resumes (`resumed`).
 */
export type Provenance = "fetched" | "not-modified" | "resumed";

interface Exchange
  extends Pick<DocumentRequest, "role" | "anonymous" | "again">,
    Pick<SitemapResponse, "receivedAt" | "revalidatedAt" | "firstByte"> {
  /** The requested URL, without user name and password. */
  readonly url: string;
  /** The number of attempts: 1 without a retry, 0 without a request. */
  readonly attempts: number;
  /** @default "fetched" */
  readonly obtained?: Provenance;
}

export interface FetchedDocument extends Exchange {
  readonly outcome: "found";
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body;
  /** From the request to the last byte, in milliseconds; known for stored documents. */
  readonly duration?: number;
}

/** A redirect, whose target is in the `location` header. */
export interface FetchedRedirect extends Exchange {
  readonly outcome: "redirect";
  readonly status: number;
  readonly headers: HeaderList;
}

export interface FailedFetch extends Exchange {
  readonly outcome: FailureOutcome;
  readonly status?: number;
  readonly headers?: HeaderList;
  readonly reason: Problem;
}

/** The response for a document, or the one that explains why there is none. */
export interface SitemapResponse {
  /** The HTTP status. Absent if there was no response. */
  readonly status?: number;
  /** The headers in the order of the response, with their names in lower case. */
  readonly headers: HeaderList;
  /** The redirects on the way, in order. */
  readonly hops: readonly RedirectHop[];
  /** The number of attempts: 1 without a retry. */
  readonly attempts: number;
  /** ISO 8601: when the head of the response was received, or the request failed. */
  readonly receivedAt?: string;
  /** ISO 8601: when the website confirmed, with status 304, that the document has not changed since `receivedAt`. */
  readonly revalidatedAt?: string;
  /** From the request to the head of the response, in milliseconds. Absent if there was no response. */
  readonly firstByte?: number;
  /** From the request to the last byte, in milliseconds. */
  readonly duration?: number;
  /** The character set that the document was decoded with, such as `utf-8`. */
  readonly charset?: string;
  /** Absent if the document was transferred for this run. */
  readonly obtained?: Exclude<Provenance, "fetched">;
}

/** A `SitemapResponse` with the size of the document. */
export interface DocumentResponse extends SitemapResponse {
  /** The size of the document as sent, in bytes, even if it was not transferred again (see `obtained`). */
  readonly wireBytes: number;
  /** The size after decompression, in bytes. */
  readonly decodedBytes: number;
}

/** A redirect on the way to a document. */
export interface RedirectHop {
  readonly url: string;
  readonly status: number;
}

/**
 * The bytes as received. Iterating never throws because of the website: a body that breaks just ends, and `end` says why. To wrap a body,
 * spread it and replace its iterator, so that both share the record `end`.
 */
export interface Body extends AsyncIterable<Uint8Array> {
  readonly end: BodyEnd;
  /** For an archived body: whether it is intact. Reads all of it. */
  readonly isGood?: (() => Promise<boolean>) | undefined;
}

/** How a body ended: one record, filled in while the body is received and read. */
export interface BodyEnd {
  /** Why the body is cut off. */
  problem?: Problem | undefined;
  /** From the request to the last byte, in milliseconds. */
  duration?: number | undefined;
  /** The number of attempts, including those after the body broke. */
  attempts?: number | undefined;
}

/** Anything that answers requests, one URL at a time: the network, a store, or an archive. */
export interface DocumentSource {
  /** Answers one request, without following redirects. */
  fetch(request: DocumentRequest): Promise<Fetched>;
  /** Whether a request without the caller's headers may get a different response. */
  variesByCredentials?(url: string): boolean;
  /**
   * Whether a request would be sent immediately; with `isSpare`, without delaying others. Absent if nothing is gained by fetching early.
   */
  hasRoomFor?(url: string, isSpare?: boolean): boolean;
  close(): Promise<void>;
}

/** Returns a key that is equal for requests for the same document, if all or none omit the caller's headers. */
export function documentKey({ url, anonymous }: Pick<DocumentRequest, "url" | "anonymous">): string {
  return anonymous ? `anonymous ${urlKey(url)}` : urlKey(url);
}

/** The fields that distinguish requests, and the responses to them. */
export type RequestIdentity = Pick<DocumentRequest, "url" | "role" | "anonymous">;

/**
 * Returns a key that is equal for requests with the same response, without user name and password. The role matters: robots.txt is cut
 * off earlier than a sitemap at the same URL.
 */
export function requestKey({ url, role, anonymous }: RequestIdentity): string {
  const key = documentKey({ url: withoutCredentials(url), anonymous });
  return role === "robots" ? `robots ${key}` : key;
}

/** Whether only the end of the connection shows the end of the body. https://www.rfc-editor.org/rfc/rfc9112#name-message-body-length */
export function endsWithConnection(headers: HeaderList): boolean {
  const encoding = header(headers, "transfer-encoding");
  return encoding === undefined ? header(headers, "content-length") === undefined : !/chunked\s*$/i.test(encoding);
}

/** The first value of a header; `name` in lower case. */
export function header(headers: HeaderList, name: string): string | undefined {
  return headers.find(([candidate]) => candidate === name)?.[1];
}
