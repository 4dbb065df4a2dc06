// A client based on any `fetch`-like function. The main differences from the built-in client: bodies are already decoded, connecting and
// waiting for the head share one timeout, and the address policy sees only names and literal addresses.
import type { Client, ClientResponse } from "../model/client.ts";
import { functionValue } from "../model/option-checks.ts";
import { problem } from "../model/problem.ts";

/** The part of `fetch` that is needed; the global one fits. */
export type FetchLike = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The arguments of a `fetch` function. */
export interface FetchInit {
  headers: Record<string, string>;
  signal: AbortSignal;
  redirect: "manual";
  method: "GET";
}

/** The result of a `fetch` function; a `Response` fits. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: Iterable<[string, string]> | { forEach(each: (value: string, name: string) => void): void };
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(reason?: unknown): Promise<void>;
    };
  } | null;
  /** `opaqueredirect` if the platform hides redirects, as browsers do. */
  readonly type?: string;
}

/**
 * Creates a client from a `fetch` function.
 * @example sitemapTreeForHomepage("https://example.org/", { client: fetchClient(fetch) })
 */
export function fetchClient(fetch: FetchLike): Client {
  functionValue("fetch", fetch);
  return {
    async request({ url, headers, signal }) {
      const response = await fetch(url, { method: "GET", headers: { ...headers }, signal, redirect: "manual" });
      if (response.type === "opaqueredirect") {
        return problem("client-failed", { value: "this fetch does not show where redirects lead" });
      }
      return {
        status: response.status,
        headers: headerPairs(response.headers),
        body: pieces(response.body),
        decoded: true,
      } satisfies ClientResponse;
    },
  };
}

function headerPairs(headers: FetchResponse["headers"]): [string, string][] {
  if (Symbol.iterator in headers) return [...headers];
  const pairs: [string, string][] = [];
  headers.forEach((value, name) => void pairs.push([name, value]));
  return pairs;
}

async function* pieces(body: FetchResponse["body"]): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value !== undefined) yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
