// What was asked of a website and what came back, one URL at a time: a document, a redirect, or a failure. `fetch/` makes
// exchanges, `store/` keeps them, and `crawl/` follows the redirects and reads the documents.
import type { Problem } from "./problem.ts";
import { urlKey } from "./url.ts";

/** In the order in which they came; names in lower case. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What a document is wanted as: robots.txt has limits of its own, and the homepage is only read for its links. */
export type DocumentRole = "robots" | "sitemap" | "homepage";

export interface DocumentRequest {
  readonly url: string;
  readonly role: DocumentRole;
  /** A redirect led here: the request comes before those that begin something new. */
  readonly isRedirected?: boolean | undefined;
  /** Sent without the headers that the operator supplied for this origin: another origin led here. */
  readonly anonymous?: boolean | undefined;
  /** The answer of an earlier run counts, and the website is not asked. */
  readonly notAsked?: NotAsked | undefined;
  /** Headers that ask for the document only where it changed. */
  readonly conditional?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why the website is not asked: a `guess` came to nothing before, or what is declared is `unchanged` by what its index says. */
export type NotAsked = "guess" | "unchanged";

/** Why there is no document: not there, kept from us, broken, or against our own policy. */
export type FailureOutcome = "absent" | "blocked" | "failed" | "refused";

/** The answer to one request. */
export type Fetched = FetchedDocument | FetchedRedirect | FailedFetch;

/**
 * How an answer came: from the website now (`fetched`); from an earlier run, because the website says so (`not-modified`), its
 * bytes are the same (`same-payload`) or it was not asked (`not-asked`); or from the archive that this run goes on with (`resumed`).
 */
export type Came = "fetched" | "not-modified" | "same-payload" | "not-asked" | "resumed";

interface Exchange extends Pick<DocumentRequest, "role" | "anonymous" | "notAsked"> {
  /** What was asked for, without user name and password. */
  readonly url: string;
  /** 1 where nothing had to be retried, 0 where nothing was asked. */
  readonly attempts: number;
  /** ISO 8601: when the head of the response came, or that there is none became clear. Absent where nobody knows. */
  readonly receivedAt?: string;
  /** From the request to the head of the response, in milliseconds. */
  readonly firstByte?: number;
  /** @default "fetched" */
  readonly came?: Came;
  /** In how many runs on end the website was not asked. */
  readonly runsNotAsked?: number;
}

export interface FetchedDocument extends Exchange {
  readonly outcome: "found";
  readonly status: number;
  readonly headers: HeaderList;
  /** What the website answered this time, where the document is one of an earlier run. */
  readonly answered?: { readonly status: number; readonly headers: HeaderList };
  readonly body: Body;
  /** From the request to the last byte, in milliseconds; of a document that was kept. */
  readonly duration?: number;
}

/** Where it leads is in its `location` header. */
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

/**
 * The bytes as they came off the wire, without any decoding of content. Iterating never throws for what a website does:
 * where the body breaks, it ends, and `problem` says why. Leaving the loop early lets go of the connection.
 */
export interface Body extends AsyncIterable<Uint8Array> {
  /** The body of an earlier run with the same bytes; known once this one has been iterated. */
  readonly sameAs?: Body | undefined;
  /** Why the body ended before its end; known once it has been iterated. */
  readonly problem: Problem | undefined;
  /** From the request to the last byte, in milliseconds; known once it has come off the wire. */
  readonly duration?: number | undefined;
}

/** Anything that answers requests, one URL at a time: the network, a store, or an archive. */
export interface DocumentSource {
  /** Does not follow redirects. */
  fetch(request: DocumentRequest): Promise<Fetched>;
  /** Whether an anonymous request for this URL may get another answer than one with the operator's headers. */
  tellsApart?(url: string): boolean;
  /** Whether the website was not asked for what may be at this URL, a guess: the answer is one of an earlier run. */
  wasNotAsked?(url: string): boolean;
  /** Whether another request for this URL would get its turn at once. Absent where nothing is gained by asking early. */
  hasRoomFor?(url: string): boolean;
  close(): Promise<void>;
}

/** Equal for requests that name the same document. */
export function documentKey({ url, anonymous }: Pick<DocumentRequest, "url" | "anonymous">): string {
  return anonymous ? `anonymous ${urlKey(url)}` : urlKey(url);
}

/** What tells requests apart, and the answers to them. */
export type RequestIdentity = Pick<DocumentRequest, "url" | "role" | "anonymous" | "notAsked">;

/**
 * Equal for requests that get the same answer: robots.txt is cut off earlier than a sitemap at the same URL, and what was not
 * asked for in one place of a website may be asked for in another.
 */
export function requestKey(request: RequestIdentity): string {
  const key = request.role === "robots" ? `robots ${documentKey(request)}` : documentKey(request);
  return request.notAsked === undefined ? key : `${request.notAsked} ${key}`;
}

/** The first value of a header; `name` in lower case. */
export function header(headers: HeaderList, name: string): string | undefined {
  return headers.find(([candidate]) => candidate === name)?.[1];
}
