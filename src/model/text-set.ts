// A set of texts, as fingerprints.
import { FingerprintReader, Fingerprints } from "./fingerprints.ts";

export class TextSet {
  readonly #reader = new FingerprintReader();
  readonly #texts = new Fingerprints();

  get size(): number {
    return this.#texts.size;
  }

  /** Adds a text. Returns false if it was already in the set. */
  add(text: string): boolean {
    this.#reader.read(text);
    return this.#texts.add(this.#reader.high, this.#reader.low);
  }

  has(text: string): boolean {
    this.#reader.read(text);
    return this.#texts.has(this.#reader.high, this.#reader.low);
  }
}
