// Remembers redirects, in as little memory as possible, so that they are requested once. A website can send any number
// of them with long URLs: the oldest are forgotten, and requested again if needed.
import type { FetchedRedirect } from "../model/exchange.ts";

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
    const headers = redirect.headers.filter(([name]) => name === "location" || name === "set-cookie");
    const kept = { ...redirect, headers };
    this.#delete(key);
    this.#redirects.set(key, kept);
    this.#size += sizeOf(key, kept);
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
  return headers.reduce((size, [, value]) => size + 50 + value.length, 150 + key.length + url.length);
}
