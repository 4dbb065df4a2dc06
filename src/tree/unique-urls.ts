// The URLs of a whole website, each once.
import { FingerprintReader, Fingerprints } from "../model/fingerprints.ts";

export class UniqueUrls {
  readonly #seen = new Fingerprints();
  readonly #reader = new FingerprintReader();

  /** Whether the URL is new; it is not from now on. */
  add(url: string): boolean {
    this.#reader.read(url);
    return this.#seen.add(this.#reader.high, this.#reader.low);
  }
}
