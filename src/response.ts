// What the server said beside the document itself, and how long it took: for whoever judges a website, or looks for what is slow.
import type { HeaderList } from "./exchange.ts";

/** How a document came: the response that brought it, or that told why there is none. */
export interface SitemapResponse {
  /** The HTTP status. Absent where there was no response. */
  readonly status?: number;
  /** In the order in which they came; names in lower case. */
  readonly headers: HeaderList;
  /** The redirects on the way, in order. */
  readonly hops: readonly RedirectHop[];
  /** 1 where nothing had to be retried. */
  readonly attempts: number;
  /** ISO 8601: when the head of the response came. */
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
  /** As it came off the wire, in bytes. */
  readonly wireBytes: number;
  /** After decompression, in bytes. */
  readonly decodedBytes: number;
}

/** A redirect on the way to a document. */
export interface RedirectHop {
  readonly url: string;
  readonly status: number;
}
