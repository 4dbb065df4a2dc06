// The section of each page, by its number: rules across sitemaps name pages by number after the last page. Four bytes a
// page, on disk if there are many.

import type { Block } from "../archive/file.ts";
import { Scratch } from "../archive/scratch.ts";
import { PageBits } from "../check/page-bits.ts";

const blockLength = 16_384;
// The top bit: the page has a finding already.
const flawedBit = 0x8000_0000;

export class PageSections {
  readonly #scratch = new Scratch();
  readonly #pieces: Block[] = [];
  #full: Uint32Array[] = [];
  #block = new Uint32Array(blockLength);
  #fill = 0;
  #count = 0;
  #flawed: PageBits | undefined;

  add(section: number, isFlawed: boolean): void {
    if (this.#fill === blockLength) {
      this.#full.push(this.#block);
      this.#block = new Uint32Array(blockLength);
      this.#fill = 0;
    }
    this.#block[this.#fill++] = isFlawed ? section | flawedBit : section;
    this.#count += 1;
  }

  async flush(): Promise<void> {
    if (this.#full.length === 0) return;
    const full = this.#full;
    this.#full = [];
    for (const block of full) this.#pieces.push(await this.#scratch.put(new Uint8Array(block.buffer)));
  }

  /** Must be called after the last page. */
  flaw(ordinal: number): void {
    this.#flawed ??= new PageBits(this.#count);
    this.#flawed.set(ordinal);
  }

  /** The section of each page that `flaw` named and that was not flawed before. Ends the use of this object. */
  async *newlyFlawed(): AsyncGenerator<number, void> {
    try {
      await this.flush();
      const flawed = this.#flawed;
      if (flawed === undefined) return;
      let ordinal = 0;
      for (let index = 0; index <= this.#pieces.length; index++) {
        const piece = this.#pieces[index];
        const bytes = piece === undefined ? undefined : await this.#scratch.get(piece);
        const words =
          bytes === undefined
            ? this.#block.subarray(0, this.#fill)
            : new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
        for (const word of words) {
          if (flawed.has(ordinal) && word < flawedBit) yield word;
          ordinal += 1;
        }
      }
    } finally {
      await this.#scratch.close();
    }
  }

  async close(): Promise<void> {
    await this.#scratch.close();
  }
}
