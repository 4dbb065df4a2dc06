// What was asked of a website and what came back. `fetch/` makes exchanges, `store/` keeps them, `crawl/` reads them.
import type { Problem } from "./problem.ts";

/** In the order in which they came; names in lower case. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** One redirect on the way to a document. */
export interface Hop {
  readonly url: string;
  readonly status: number;
  readonly headers: HeaderList;
}

export interface DocumentRequest {
  readonly url: string;
  /** What the document is wanted as: robots.txt has limits of its own, and the homepage is only read for its links. */
  readonly role: "robots" | "sitemap" | "homepage";
  /**
   * Asked for each redirect, with its target: a document that is already there, or on its way, is not fetched a second
   * time. The redirect is then not followed, and the result is a `KnownDocument`.
   */
  readonly isKnown?: ((url: string) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why there is no document: not there, kept from us, broken, or against our own policy. */
export type FailureOutcome = "absent" | "blocked" | "failed" | "refused";

export type Fetched = FetchedDocument | KnownDocument | FailedFetch;

export interface FetchedDocument {
  readonly outcome: "found";
  readonly requestedUrl: string;
  /** Where the document was found, after redirects. */
  readonly url: string;
  readonly status: number;
  readonly headers: HeaderList;
  readonly hops: readonly Hop[];
  /** 1 where nothing had to be retried. */
  readonly attempts: number;
  /** Things worth saying about the way here, such as a redirect from https to http. */
  readonly problems: readonly Problem[];
  readonly body: Body;
}

/** A redirect led to a document that the caller has already. */
export interface KnownDocument {
  readonly outcome: "known";
  readonly requestedUrl: string;
  /** The document that the redirect led to. */
  readonly url: string;
  readonly hops: readonly Hop[];
  readonly attempts: number;
  readonly problems: readonly Problem[];
}

export interface FailedFetch {
  readonly outcome: FailureOutcome;
  readonly requestedUrl: string;
  /** Where it went wrong. */
  readonly url: string;
  readonly status?: number;
  readonly headers?: HeaderList;
  readonly hops: readonly Hop[];
  readonly attempts: number;
  readonly reason: Problem;
}

/**
 * The bytes as they came off the wire, without any decoding of content. Iterating never throws for what a website does:
 * where the body breaks, it ends, and `problem` says why. Leaving the loop early lets go of the connection.
 */
export interface Body extends AsyncIterable<Uint8Array> {
  /** Why the body ended before its end; known once it has been iterated. */
  readonly problem: Problem | undefined;
}

/** Anything that turns a request into a document: the network, or an archive. */
export interface DocumentSource {
  fetch(request: DocumentRequest): Promise<Fetched>;
  close(): Promise<void>;
}

/** The first value of a header; `name` in lower case. */
export function header(headers: HeaderList, name: string): string | undefined {
  return headers.find(([candidate]) => candidate === name)?.[1];
}
