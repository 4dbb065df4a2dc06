// A page as a record of 20 bytes: fingerprints of its URL (64 bits), of its date and of its other fields (32 bits
// each), and its place in the order of the side. Records of the same URL are in the same partition.

import type { Scratch } from "../archive/scratch.ts";
import type { PageField } from "../model/change.ts";
import { FingerprintReader, mix } from "../model/fingerprints.ts";
import type { SitemapPage } from "../model/page.ts";
import { RecordLists } from "./record-lists.ts";

export const recordWidth = 5;
// Enough that the table of a partition stays small with a hundred million pages, few enough that their buffers do.
const partitionCount = 256;

export class PageRecords {
  readonly lists: RecordLists;
  readonly #ignored: ReadonlySet<PageField>;
  readonly #includes: ((url: string) => boolean) | undefined;
  readonly #reader = new FingerprintReader();

  constructor(scratch: Scratch, ignored: ReadonlySet<PageField>, includes: ((url: string) => boolean) | undefined) {
    this.lists = new RecordLists(scratch, partitionCount, recordWidth);
    this.#ignored = ignored;
    this.#includes = includes;
  }

  add(page: SitemapPage, ordinal: number): void {
    const { url } = page;
    if (this.#includes?.(url) === false) return;
    this.#reader.read(url);
    const first = mix(this.#reader.high ^ (this.#reader.low >>> 15), 0x85ebca6b);
    const second = mix(this.#reader.low ^ (first >>> 13), 0xc2b2ae35);
    // The table of a partition uses bits of the second word: if they were the same, all its records would collide.
    const partition = first >>> 24;
    const at = this.lists.next(partition);
    const words = this.lists.buffer(partition);
    words[at] = first;
    words[at + 1] = second;
    words[at + 2] = this.#ignored.has("lastModified") ? 0 : hashText(page.lastModified ?? "");
    words[at + 3] = this.#rest(page);
    words[at + 4] = ordinal;
  }

  #rest(page: SitemapPage): number {
    const ignored = this.#ignored;
    let hash = ignored.has("priority") ? 0 : hashNumber(page.priority);
    if (!ignored.has("changeFrequency")) hash = mix(hash ^ hashText(page.changeFrequency ?? ""), factor);
    const { newsStory, images, videos, alternates } = page;
    if (newsStory !== undefined && !ignored.has("newsStory")) hash = mix(hash ^ hashValue(newsStory), 0x2c1b3c6d);
    if (images !== undefined && !ignored.has("images")) hash = mix(hash ^ hashValue(images), 0x297a2d39);
    if (videos !== undefined && !ignored.has("videos")) hash = mix(hash ^ hashValue(videos), 0x1b56c4e9);
    if (alternates !== undefined && !ignored.has("alternates")) hash = mix(hash ^ hashValue(alternates), 0x7feb352d);
    return hash;
  }
}

const factor = 0x9e3779b1;

function hashText(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), factor);
    hash ^= hash >>> 15;
  }
  return mix(hash, 0x85ebca6b);
}

const float = new Float64Array(1);
const halves = new Int32Array(float.buffer);

function hashNumber(value: number): number {
  float[0] = value;
  return mix(halves[0]! ^ Math.imul(halves[1]!, factor), 0xc2b2ae35);
}

// Equal for equal values: the order of fields in an object does not matter.
function hashValue(value: unknown): number {
  if (typeof value === "string") return hashText(value);
  if (typeof value === "number") return hashNumber(value);
  if (Array.isArray(value)) {
    let hash = value.length;
    for (const item of value) hash = mix(hash ^ hashValue(item), factor);
    return hash;
  }
  if (typeof value !== "object" || value === null) return value === true ? 1 : 2;
  let sum = 0;
  for (const name of Object.keys(value)) {
    const field = hashValue(value[name as keyof typeof value]);
    sum = (sum + mix(field ^ hashText(name), 0x2c1b3c6d)) | 0;
  }
  return sum;
}
