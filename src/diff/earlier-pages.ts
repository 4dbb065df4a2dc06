// The earlier fields of changed pages, and the sitemap that declared them: added in the order of the old side, read in
// the order of the new side. The fields are text in the scratch file.

import { PlacedRecords } from "../join/placed-records.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Block } from "../storage/file.ts";
import type { Scratch } from "../storage/scratch.ts";

const fullPiece = 32 * 1024;
// Pages rarely move far: the pieces that were used last are kept.
const mostOpen = 256;

export class EarlierPages {
  readonly #scratch: Scratch;
  // By the place on the new side: the list, and the piece, offset and length of the text.
  readonly #records: PlacedRecords;
  readonly #pieces: Block[] = [];
  readonly #open = new Map<number, Uint8Array>();
  // The piece that is not written yet.
  #texts: Buffer[] = [];
  #length = 0;

  /** `places`: the number of pages of the new side. */
  constructor(scratch: Scratch, places: number) {
    this.#scratch = scratch;
    this.#records = new PlacedRecords(scratch, places, 4);
  }

  /** `place`: the place of the page on the new side. */
  put(place: number, list: number, page: SitemapPage | undefined): void {
    // Without the URL, which is that of the new page.
    const text = Buffer.from(page === undefined ? "" : JSON.stringify({ ...page, url: undefined }));
    this.#records.put(place, list, this.#pieces.length, this.#length, text.length);
    if (text.length > 0) this.#texts.push(text);
    this.#length += text.length;
  }

  /** Writes full pieces. To be called now and then. */
  async flush(least: number = fullPiece): Promise<void> {
    await this.#records.store.flush();
    if (this.#length < least) return;
    const bytes = Buffer.concat(this.#texts);
    this.#texts = [];
    this.#length = 0;
    this.#pieces.push(await this.#scratch.put(bytes));
  }

  /** Nothing more is added. */
  async finish(): Promise<void> {
    await this.flush(1);
    await this.#records.store.finish();
  }

  /** The number of the list that it was in, and its earlier fields; absent if they are the same. Only for pages that were added. */
  async take(place: number, url: string): Promise<{ list: number; page: SitemapPage | undefined }> {
    const [list = 0, piece = 0, offset = 0, length] = await this.#records.at(place);
    if (length === 0) return { list, page: undefined };
    const bytes = this.#open.get(piece) ?? (await this.#scratch.get(this.#pieces[piece]!));
    this.#open.delete(piece);
    this.#open.set(piece, bytes);
    if (this.#open.size > mostOpen) this.#open.delete(this.#open.keys().next().value as number);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + offset, length).toString();
    return { list, page: { url, ...(JSON.parse(text) as Omit<SitemapPage, "url">) } };
  }
}
