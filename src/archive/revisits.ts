// Finds the response that a `revisit` record repeats, anywhere in the file. Tools name it in different ways: by the id
// of its record, by its URL and date, by the digest of its payload, or not at all if the URL is the same.
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#revisit The profiles
// (`identical-payload-digest`, `server-not-modified`, with the URIs of WARC 1.0 or 1.1) differ in the meaning of the
// head of the revisit, which its status shows as well.
import { urlKey } from "../model/url.ts";
import type { Digest } from "./digest.ts";
import { type ForeignResponse, foreignResponse, type Reference } from "./foreign-response.ts";
import type { RecordHead } from "./warc-reader.ts";

interface Candidate {
  readonly response: ForeignResponse;
  readonly date: string | undefined;
}

/** The responses of a file, by everything that a revisit may name them by. Built only for files with revisits. */
export class Originals {
  readonly #byId = new Map<string, Candidate>();
  readonly #byUrl = new Map<string, Candidate[]>();
  readonly #byDigest = new Map<string, Candidate>();

  // The limit of responses, from the start of the file.
  static async of(records: AsyncIterable<RecordHead>, most: number): Promise<Originals> {
    const originals = new Originals();
    let left = most;
    for await (const record of records) {
      if (left === 0) break;
      if (originals.#add(record)) left -= 1;
    }
    return originals;
  }

  find({ id, url, date, digest }: Reference): ForeignResponse | undefined {
    const atUrl = this.#byUrl.get(urlKey(url)) ?? [];
    const candidates = [
      id === undefined ? undefined : this.#byId.get(id),
      ...(date === undefined ? [] : atUrl.filter((candidate) => candidate.date === date)),
      digest === undefined ? undefined : this.#byDigest.get(digestKey(digest)),
      ...atUrl,
    ];
    return candidates.find((candidate) => candidate !== undefined && agrees(candidate.response, digest))?.response;
  }

  #add(record: RecordHead): boolean {
    const response = foreignResponse(record);
    if (response === undefined || response.type === "revisit") return false;
    const candidate = { response, date: record.fields.get("warc-date") };
    const id = record.fields.get("warc-record-id");
    const { payload } = response.check;
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, candidate);
    if (payload !== undefined && !this.#byDigest.has(digestKey(payload)))
      this.#byDigest.set(digestKey(payload), candidate);
    const key = urlKey(response.url);
    const others = this.#byUrl.get(key);
    if (others === undefined) this.#byUrl.set(key, [candidate]);
    else others.push(candidate);
    return true;
  }
}

function digestKey({ algorithm, hex }: Digest): string {
  return `${algorithm} ${hex}`;
}

// A payload with another digest is not the original.
function agrees({ check }: ForeignResponse, digest: Digest | undefined): boolean {
  if (digest === undefined || check.payload === undefined || check.payload.algorithm !== digest.algorithm) return true;
  return check.payload.hex === digest.hex;
}
