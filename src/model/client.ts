// The interface of HTTP clients. The default is built on `node:http`; users may supply another one (a cache, a browser).
import type { Problem } from "./problem-facts.ts";

/** A request for a client to send: `GET`, without a body. */
export interface ClientRequest {
  /** Absolute, http or https, without a fragment, a user name or a password. */
  readonly url: string;
  /** The headers to send; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts the request and its body. */
  readonly signal: AbortSignal;
  /** Whether this request may connect to an address that is not globally routable. */
  readonly allowPrivate: boolean;
  /** 1 for the first attempt. A retry must not be answered from a cached failure. */
  readonly attempt?: number | undefined;
  /** Clients with `tellsWhenSent` call this once the request has been sent. */
  readonly onSent?: (() => void) | undefined;
}

/** The headers of a client's response, in one of their usual forms. */
export type ClientHeaders =
  | Iterable<readonly [name: string, value: string]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The response of a client. */
export interface ClientResponse {
  readonly status: number;
  /** Pairs, `Headers`, a `Map` or an object, such as that of `node:http`. Names may be written in any case. */
  readonly headers: ClientHeaders;
  /** The bytes as received: `content-encoding` is not decoded. May throw; the error becomes a problem. */
  readonly body: AsyncIterable<Uint8Array>;
  /** True if `body` is already decoded, as with `fetch`: `content-encoding` and `content-length` then no longer apply. */
  readonly decoded?: boolean | undefined;
}

/** Answers requests, without following redirects. May reject; the reason becomes a problem. May also return a `problem()`. */
export interface Client {
  request(request: ClientRequest): Promise<ClientResponse | Problem>;
  /** Whether the client calls `onSent`. Then `timeout.firstByte` starts at that call, and the client itself limits the time before it. */
  readonly tellsWhenSent?: boolean | undefined;
}
