// Stores texts in the spill file, and finds them again by their position.
import type { SpillFile } from "./spill-file.ts";

/** Where a text is: the index of its first block in this store, the offset in it, and its length in bytes. */
export type TextSpan = readonly [block: number, offset: number, length: number];

export class Texts {
  readonly #spill: SpillFile;
  // The numbers of the full blocks in the spill file, in order.
  readonly #blocks: number[] = [];
  // The block that is being filled, and how many of its bytes are used.
  #last: Buffer;
  #used = 0;

  constructor(spill: SpillFile) {
    this.#spill = spill;
    this.#last = Buffer.alloc(spill.blockLength);
  }

  add(text: string): TextSpan {
    const bytes = Buffer.from(text);
    const span = [this.#blocks.length, this.#used, bytes.length] as const;
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.#last, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used < this.#spill.blockLength) continue;
      this.#blocks.push(this.#spill.put(this.#last));
      this.#last = Buffer.alloc(this.#spill.blockLength);
      this.#used = 0;
    }
    return span;
  }

  get([first, offset, length]: TextSpan): string {
    const pieces: Uint8Array[] = [];
    for (let block = first, at = offset, rest = length; rest > 0; block++, at = 0) {
      const number = this.#blocks[block];
      const piece = (number === undefined ? this.#last : this.#spill.get(number)).subarray(at, at + rest);
      pieces.push(piece);
      rest -= piece.length;
    }
    return Buffer.concat(pieces).toString();
  }
}
