// The response that a document came with, and how long it took: for judging a website, or finding what is slow.
import type { HeaderList } from "./exchange.ts";

/** The response of a document, or the one that says why there is none. */
export interface SitemapResponse {
  /** The HTTP status. Absent if there was no response. */
  readonly status?: number;
  /** In the order of the response; names in lower case. */
  readonly headers: HeaderList;
  /** The redirects on the way, in order. */
  readonly hops: readonly RedirectHop[];
  /** 1 if there was no retry. */
  readonly attempts: number;
  /** ISO 8601: when the head of the response was received. */
  readonly receivedAt?: string;
  /** From the request to the head of the response, in milliseconds. */
  readonly firstByte?: number;
  /** From the request to the last byte, in milliseconds. */
  readonly duration?: number;
  /** The character set that the document was decoded with, such as `utf-8`. */
  readonly charset?: string;
}

/** The same, with the size of the document. */
export interface DocumentResponse extends SitemapResponse {
  /** As received, in bytes. */
  readonly wireBytes: number;
  /** After decompression, in bytes. */
  readonly decodedBytes: number;
}

/** A redirect on the way to a document. */
export interface RedirectHop {
  readonly url: string;
  readonly status: number;
}
