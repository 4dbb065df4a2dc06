// The URLs of a whole website, each once.
import { Fingerprints, fingerprint } from "../fingerprints.ts";

export class UniqueUrls {
  readonly #seen = new Fingerprints();

  /** Whether the URL is new; it is not from now on. */
  add(url: string): boolean {
    const { high, low } = fingerprint(url);
    return this.#seen.add(high, low);
  }
}
