// What answers a single HTTP request. The default is built on undici; a user may bring another one (a cache, a browser).
import type { HeaderList } from "./exchange.ts";
import type { Problem } from "./problem.ts";

/** One request, as a `Client` gets it. */
export interface ClientRequest {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the request, and the body with it. */
  readonly signal: AbortSignal;
  /** Whether an address that is not globally routable may be connected to for this request. */
  readonly allowPrivate: boolean;
}

/** The response to one request, as a `Client` gives it. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: HeaderList;
  /** The bytes as they came, without decoding of `content-encoding`. May throw; a thrown error becomes a problem. */
  readonly body: AsyncIterable<Uint8Array>;
  /** True where `body` was decoded already, as `fetch` does it: `content-encoding` then no longer applies. */
  readonly decoded?: boolean;
}

/** One request, one response; redirects are not followed here. May reject: what it rejects with becomes a problem. */
export interface Client {
  request(request: ClientRequest): Promise<ClientResponse | Problem>;
}
