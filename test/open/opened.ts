// Opens bytes and says everything that can be known about it; in every cut where asked.
import { brotliCompressSync, constants } from "node:zlib";
import { expect } from "vitest";
import type { HeaderList } from "../../src/model/exchange.ts";
import { type Problem, type ProblemCode, ProblemLog } from "../../src/model/problem.ts";
import type { ByteSource } from "../../src/open/byte-reader.ts";
import { OpenedDocument, type OpenOptions } from "../../src/open/open-document.ts";
import { some } from "../support/long.ts";
import { Random } from "../support/random.ts";

export interface Opened {
  readonly text: string;
  readonly codes: readonly ProblemCode[];
  readonly problems: readonly Problem[];
  readonly complete: boolean;
  readonly decodedBytes: number;
  readonly refusal: Problem | undefined;
}

export type Given = Partial<Pick<OpenOptions, "maxBytes" | "encodingLayers">> &
  Partial<Record<"contentEncoding" | "contentType", string | undefined>>;

export async function opened(bytes: Uint8Array | ByteSource, given: Given = {}): Promise<Opened> {
  const log = new ProblemLog();
  const source = bytes instanceof Uint8Array ? [bytes] : bytes;
  const { contentEncoding = "", contentType = "", maxBytes = 100 * 1024 * 1024, encodingLayers = 3 } = given;
  const headers: HeaderList = [
    ["content-encoding", contentEncoding],
    ["content-type", contentType],
  ];
  const document = new OpenedDocument(source, { headers, maxBytes, encodingLayers, problems: log });
  let text = "";
  for await (const piece of document) text += piece;
  const problems = log.toArray();
  return {
    text,
    codes: problems.map((problem) => problem.code),
    problems,
    complete: log.complete,
    decodedBytes: document.decodedBytes,
    refusal: document.refusal,
  };
}

/** Opens the bytes whole, with random cuts and, where they are few, one at a time; expects equal results. */
export async function openedInEveryCut(bytes: Uint8Array, given: Given = {}, cuts = some(8, 2)): Promise<Opened> {
  const whole = await opened(bytes, given);
  const single = bytes.length <= 4096 ? [Array.from(bytes, (_, index) => index)] : [];
  const random = new Random(bytes.length);
  const few = () => Array.from({ length: random.below(9) }, () => random.below(bytes.length + 1));
  for (const places of [...single, ...Array.from({ length: cuts }, few)]) {
    expect(await opened(cut(bytes, places), given)).toEqual(whole);
  }
  return whole;
}

/** Cuts bytes at the given places. */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places, bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** Brotli as servers use it: its best quality takes too long for a test. */
export function brotli(content: string | Uint8Array): Buffer {
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
}

/** A sitemap that does not compress too well. */
export function sitemap(entries: number): string {
  let text = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n';
  let state = 7;
  for (let entry = 0; entry < entries; entry += 1) {
    state = (state * 48_271) % 2_147_483_647;
    text += `<url><loc>https://example.org/${state.toString(36)}/${entry}</loc></url>\n`;
  }
  return `${text}</urlset>\n`;
}
