// The digests in WARC files, for the content of a record and for its payload: `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`.
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-block-digest They show damage
// and careless editing, but do not protect against somebody who writes new ones.
import { createHash, type Hash } from "node:crypto";
import type { Body } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { base32, fromBase32 } from "./base32.ts";
import { readForDigest } from "./digest-reader.ts";
import { type Block, DamagedData, lengthOf, readBlocks } from "./kept-body.ts";
import type { SavedRecord } from "./saved-record.ts";

/** The digest of a record. */
export interface Digest {
  readonly algorithm: string;
  readonly hex: string;
}

/** Undefined if there is none, or one that cannot be checked. */
export function parseDigest(text: string | undefined): Digest | undefined {
  const [, label = "", value = ""] = /^([a-z0-9-]+):([^\s]+)$/i.exec(text?.trim() ?? "") ?? [];
  const algorithm = label.toLowerCase().replace(/^sha-/, "sha");
  const length = lengths.get(algorithm);
  if (length === undefined) return undefined;
  const hex = hexOf(value, length);
  return hex === undefined ? undefined : { algorithm, hex };
}

/** In bytes. */
const lengths: ReadonlyMap<string, number> = new Map([
  ["md5", 16],
  ["sha1", 20],
  ["sha256", 32],
  ["sha384", 48],
  ["sha512", 64],
]);

// Most tools write Base32, some hexadecimal digits, a few Base64.
function hexOf(value: string, length: number): string | undefined {
  if (value.length === 2 * length && /^[0-9a-f]+$/i.test(value)) return value.toLowerCase();
  const bytes = fromBase32(value) ?? Buffer.from(value, "base64");
  return bytes.length === length ? Buffer.from(bytes).toString("hex") : undefined;
}

/** As written in a record. SHA-1 is what all WARC tools use. */
export async function digestOf(content: readonly Block[]): Promise<string> {
  const hash = createHash("sha1");
  await readForDigest(content, (piece) => hash.update(piece));
  return `sha1:${base32(hash.digest())}`;
}

/** Whether the content has this digest; true if there is none. */
export async function hasDigest(digest: Digest | undefined, content: readonly Block[]): Promise<boolean> {
  if (digest === undefined) return true;
  const hash = createHash(digest.algorithm);
  await readForDigest(content, (piece) => hash.update(piece));
  return hash.digest("hex") === digest.hex;
}

/** The state of a check. Documents do not change: one check is enough. */
export class DigestCheck {
  // As written in the record: that takes less memory, and few of them are ever needed.
  readonly #payload: string | undefined;
  readonly #block: string | undefined;
  state: "open" | "good" | "bad";

  constructor(payload: string | undefined, block: string | undefined) {
    this.#payload = payload;
    this.#block = block;
    this.state = this.payload === undefined && this.block === undefined ? "good" : "open";
  }

  get payload(): Digest | undefined {
    return parseDigest(this.#payload);
  }

  get block(): Digest | undefined {
    return parseDigest(this.#block);
  }

  get problem(): Problem | undefined {
    return this.state === "bad" ? problem("archive-digest") : undefined;
  }
}

export interface CheckedParts {
  /** The content of the record before the payload. */
  readonly head: readonly Block[];
  readonly payload: readonly Block[];
  /** Decodes the payload: `transfer-encoding: chunked`. */
  readonly decode?: ((pieces: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, "whole" | "cut">) | undefined;
  readonly problem: Problem | undefined;
  /** Its record, if that can be copied. */
  readonly record?: SavedRecord | undefined;
}

/** A body from an archive. Its digests are checked the first time it is read to its end. */
export class CheckedBody implements Body {
  readonly #parts: CheckedParts;
  readonly #check: DigestCheck;
  #problem: Problem | undefined;

  constructor(parts: CheckedParts, check: DigestCheck) {
    this.#parts = parts;
    this.#check = check;
    this.#problem = parts.problem;
  }

  get problem(): Problem | undefined {
    return this.#problem ?? this.#check.problem;
  }

  /** Its position in the file, so that it need not be copied; undefined if it has to be decoded. */
  get blocks(): readonly Block[] | undefined {
    return this.#parts.decode === undefined ? this.#parts.payload : undefined;
  }

  /** In bytes; undefined if it has to be decoded. */
  get length(): number | undefined {
    return this.blocks && lengthOf(this.blocks);
  }

  get record(): SavedRecord | undefined {
    return this.#parts.record;
  }

  /** The digest of the payload, if the archive has one. */
  get digest(): Digest | undefined {
    return this.#check.payload;
  }

  /** Whether the document is intact; reads it if it was not read before. */
  async isGood(): Promise<boolean> {
    if (this.#check.state === "open" && this.#parts.decode === undefined) await this.#compareDigests();
    else if (this.#check.state === "open") for await (const _ of this);
    return this.#check.state === "good" && this.#problem === undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    try {
      yield* this.#read();
    } catch (error) {
      this.#noteDamage(error);
    }
  }

  async *#read(): AsyncGenerator<Uint8Array, undefined> {
    const { payload, decode } = this.#parts;
    const hashes = this.#check.state === "open" ? await this.#start() : undefined;
    const raw = hashes === undefined ? readBlocks(payload) : watched(readBlocks(payload), hashes.raw);
    if (decode === undefined) yield* raw;
    else {
      // Continues after the last chunk: what follows it belongs to the content, too.
      const decoded = decode({ [Symbol.asyncIterator]: () => ({ next: () => raw.next() }) });
      const end = yield* hashes === undefined ? decoded : watchedDecoder(decoded, hashes.decoded);
      if (end === "cut") this.#problem ??= problem("body-short");
      for await (const _ of raw);
    }
    if (hashes !== undefined) this.#check.state = hashes.hold() ? "good" : "bad";
  }

  // Nobody wants the bytes.
  async #compareDigests(): Promise<void> {
    try {
      const { raw, hold } = await this.#start();
      await readForDigest(this.#parts.payload, (piece) => {
        for (const hash of raw) hash.update(piece);
      });
      this.#check.state = hold() ? "good" : "bad";
    } catch (error) {
      this.#noteDamage(error);
    }
  }

  // What comes before the damage is used.
  #noteDamage(error: unknown): void {
    if (!(error instanceof DamagedData)) throw error;
    this.#check.state = "bad";
  }

  async #start(): Promise<{ raw: Hash[]; decoded: Hash[]; hold: () => boolean }> {
    const { payload, block } = this.#check;
    const { head, decode } = this.#parts;
    const blockHash = block && createHash(block.algorithm);
    if (blockHash !== undefined) for await (const piece of readBlocks(head)) blockHash.update(piece);
    const rawHash = payload && createHash(payload.algorithm);
    // Tools disagree whether a payload includes chunked framing.
    const decodedHash = payload && decode && createHash(payload.algorithm);
    const hold = () => {
      const found = [rawHash, decodedHash].map((hash) => hash?.digest("hex"));
      return (payload === undefined || found.includes(payload.hex)) && blockHash?.digest("hex") === block?.hex;
    };
    return { raw: present(blockHash, rawHash), decoded: present(decodedHash), hold };
  }
}

async function* watched(pieces: AsyncIterable<Uint8Array>, hashes: readonly Hash[]): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (const hash of hashes) hash.update(piece);
    yield piece;
  }
}

async function* watchedDecoder<End>(
  pieces: AsyncGenerator<Uint8Array, End>,
  hashes: readonly Hash[],
): AsyncGenerator<Uint8Array, End> {
  for (;;) {
    const step = await pieces.next();
    if (step.done) return step.value;
    for (const hash of hashes) hash.update(step.value);
    yield step.value;
  }
}

function present<T>(...items: (T | undefined)[]): T[] {
  return items.filter((item) => item !== undefined);
}
