// The file of pages of one website, in any format. Small ones are written at once: with thousands of websites at a
// time, open files are scarce.
import { open, rename, rm } from "node:fs/promises";
import { storageFailed } from "../../archive/file.ts";
import type { SitemapPage } from "../../model/page.ts";
import { csvWriter } from "../../write/csv.ts";
import { ndjsonWriter } from "../../write/pages.ts";
import type { ParquetPages } from "../../write/parquet.ts";
import type { FleetFormat } from "./formats.ts";

export type PagesFormat = Exclude<FleetFormat, "none">;

/** Turns pages into bytes or text. */
export interface PagesEncoder {
  write(sitemap: string, pages: readonly SitemapPage[]): string | Uint8Array;
  /** The end of the file. */
  end(): string | Uint8Array;
}

/** `site` is the homepage, for tables that several websites share. */
export async function pagesEncoder(format: PagesFormat, site: string): Promise<PagesEncoder> {
  if (format === "parquet") return new ParquetEncoder((await import("../../write/parquet.ts")).ParquetPages, site);
  const writer = format === "csv" ? csvWriter() : ndjsonWriter();
  let header = writer.header;
  const withHeader = (text: string) => {
    const all = header + text;
    header = "";
    return all;
  };
  return { write: (sitemap, pages) => withHeader(writer.write({ sitemap, pages })), end: () => withHeader("") };
}

class ParquetEncoder implements PagesEncoder {
  readonly #pages: ParquetPages;
  #chunks: Uint8Array[] = [];

  constructor(Pages: typeof ParquetPages, site: string) {
    // The buffer is reused afterwards.
    this.#pages = new Pages((bytes) => this.#chunks.push(bytes.slice()), site);
  }

  write(sitemap: string, pages: readonly SitemapPage[]): Uint8Array {
    this.#pages.add({ sitemap, pages });
    return this.#taken();
  }

  end(): Uint8Array {
    this.#pages.finish();
    return this.#taken();
  }

  #taken(): Uint8Array {
    const chunks = this.#chunks;
    this.#chunks = [];
    return Buffer.concat(chunks);
  }
}

/** Written under a temporary name, and renamed at the end. */
export class PagesFile {
  readonly #path: string;
  readonly #encoder: PagesEncoder;
  readonly #ready: (file: string) => Promise<void>;
  #held: (string | Uint8Array)[] = [];
  #size = 0;
  #handle: Awaited<ReturnType<typeof open>> | undefined;

  /** `ready` creates the folder of a file. */
  constructor(path: string, encoder: PagesEncoder, ready: (file: string) => Promise<void>) {
    this.#path = path;
    this.#encoder = encoder;
    this.#ready = ready;
  }

  write(sitemap: string, pages: readonly SitemapPage[]): Promise<void> | undefined {
    this.#hold(this.#encoder.write(sitemap, pages));
    return this.#size < mostHeld ? undefined : this.#flush();
  }

  async keep(): Promise<void> {
    this.#hold(this.#encoder.end());
    await this.#flush();
    await this.#handle?.close();
    this.#handle = undefined;
    await rename(this.#partial, this.#path);
  }

  async discard(): Promise<void> {
    // Most websites that fail have written nothing.
    if (this.#handle === undefined) return;
    await this.#handle.close();
    this.#handle = undefined;
    await rm(this.#partial, { force: true });
  }

  #hold(piece: string | Uint8Array): void {
    if (piece.length === 0) return;
    this.#held.push(piece);
    this.#size += piece.length;
  }

  async #flush(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    this.#size = 0;
    if (this.#handle === undefined) {
      await this.#ready(this.#path);
      await rm(this.#partial, { force: true });
      this.#handle = await open(this.#partial, "wx");
    }
    const [first = "", ...others] = held;
    const whole =
      others.length === 0 ? first : typeof first === "string" ? held.join("") : Buffer.concat(held as Uint8Array[]);
    await this.#handle.writeFile(whole).catch((error: unknown) => {
      // The system does not say which file it was.
      throw storageFailed(`${this.#path} could not be written`, error);
    });
  }

  get #partial(): string {
    return `${this.#path}.partial`;
  }
}

const mostHeld = 64 * 1024;
