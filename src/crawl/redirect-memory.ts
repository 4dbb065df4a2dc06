// Remembers redirects, in as little memory as possible, so that they are requested once. A website can send any number
// of them with long URLs: the oldest are forgotten, and requested again if needed.
import { type FetchedRedirect, header } from "../model/exchange.ts";

// In characters: keys and URLs together.
const capacity = 4 * 1024 * 1024;

export class RedirectMemory {
  readonly #redirects = new Map<string, FetchedRedirect>();
  #size = 0;

  has(key: string): boolean {
    return this.#redirects.has(key);
  }

  get(key: string): FetchedRedirect | undefined {
    return this.#redirects.get(key);
  }

  set(key: string, redirect: FetchedRedirect): void {
    const location = header(redirect.headers, "location");
    const headers = location === undefined ? [] : [["location", location] as const];
    this.#delete(key);
    this.#redirects.set(key, { ...redirect, headers });
    this.#size += sizeOf(key, redirect);
    for (const oldest of this.#redirects.keys()) {
      if (this.#size <= capacity) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const redirect = this.#redirects.get(key);
    if (redirect === undefined) return;
    this.#redirects.delete(key);
    this.#size -= sizeOf(key, redirect);
  }
}

function sizeOf(key: string, { url, headers }: FetchedRedirect): number {
  // The memory of an entry besides its characters.
  return 200 + key.length + url.length + (header(headers, "location")?.length ?? 0);
}
