// Writes exchanges to an archive: one `warcinfo` record first, then each exchange, then the end of the crawl.
import type { Body, Fetched, HeaderList } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import { ArchiveWriter, isCompressedName } from "./archive-writer.ts";
import type { ArchiveInfo } from "./contract.ts";
import { revive } from "./description.ts";
import { parseDigest } from "./digest.ts";
import { EarlierBody } from "./earlier-body.ts";
import { type Block, KeptBody, readBlocks, skip } from "./kept-body.ts";
import type { SavedReadings } from "./readings.ts";
import type { SavedRecord } from "./saved-record.ts";
import { endRecord, exchangeRecords, infoRecord, repetitionRecords } from "./warc-record.ts";

/** What is kept in memory of an exchange: where its description and its body are. */
export interface Entry {
  readonly description: readonly Block[];
  readonly body: readonly Block[];
  /** The digest of a body in the file of an earlier run, as its record has it. */
  readonly digest?: string | undefined;
}

/** A document of an earlier archive, and the website's answer this time, if it was asked. */
export interface Repetition {
  readonly came: "not-modified" | "same-payload" | "not-asked";
  readonly record: SavedRecord;
  readonly answered?: { readonly status: number; readonly headers: HeaderList };
}

export async function readEntry(entry: Entry): Promise<Fetched> {
  return readDescription(entry.description, (problem) => bodyOf(entry, problem));
}

/** The body of a document that was kept. */
export function bodyOf({ body, digest }: Entry, problem: Problem | undefined): Body {
  const parsed = mayChange(body) ? parseDigest(digest) : undefined;
  return parsed === undefined ? new KeptBody(body, problem) : new EarlierBody(body, parsed, problem);
}

// A compressed archive is unpacked to where nobody else can write.
function mayChange(blocks: readonly Block[]): boolean {
  return blocks.some((block) => !(block instanceof Uint8Array) && !block.file.isPrivate);
}

/** `bodyOf` creates the body of a document, given its problem. */
export async function readDescription(
  description: readonly Block[],
  bodyOf: (problem: Problem | undefined) => Body,
): Promise<Fetched> {
  const bytes: Uint8Array[] = [];
  for await (const piece of readBlocks(description)) bytes.push(piece);
  return revive(Buffer.concat(bytes), bodyOf);
}

export class SavedExchanges {
  readonly #writer: ArchiveWriter;
  readonly #infoId: string;
  // The `warcinfo` records of other archives that are in this one, or being written.
  readonly #copied = new Map<string, Promise<void>>();
  #exchanges = 0;

  private constructor(writer: ArchiveWriter, infoId: string) {
    this.#writer = writer;
    this.#infoId = infoId;
  }

  static async create(path: string, info: ArchiveInfo): Promise<SavedExchanges> {
    return SavedExchanges.start(await ArchiveWriter.create(path, isCompressedName(path)), info);
  }

  /** `resumes`: the id of the record of the run that this one resumes. */
  static async start(writer: ArchiveWriter, info: ArchiveInfo, resumes?: string): Promise<SavedExchanges> {
    const { id, record } = await infoRecord(info, resumes);
    await writer.append([record]);
    return new SavedExchanges(writer, id);
  }

  /** Where the exchange can be read, unless it is compressed. */
  async append(entry: Entry): Promise<Entry | undefined> {
    const { records, body } = await exchangeRecords(this.#infoId, await readEntry(entry), entry);
    const places = await this.#writer.append(records);
    this.#exchanges++;
    const description = places?.at(-1);
    if (places === undefined || description === undefined) return undefined;
    const whole = places[body?.index ?? -1];
    return { description: [description], body: whole && body ? [skip(whole, body.headLength)] : [] };
  }

  /** A document of an earlier run: its record as it was, the website's answer now, and the description. */
  async appendRepeated(entry: Entry, repetition: Repetition): Promise<void> {
    const { record } = repetition;
    const { info } = record;
    if (info !== undefined) {
      const copied = this.#copied.get(info.id) ?? this.#writer.copyRecord(info);
      this.#copied.set(info.id, copied);
      await copied;
    }
    const fetched = await readEntry(entry);
    const behind = await repetitionRecords(this.#infoId, fetched, entry.description, repetition);
    // One document may be requested in two roles: the copies of its record must not mix.
    await this.#writer.copyRecord(record, behind);
    this.#exchanges++;
  }

  async finish(readings?: SavedReadings): Promise<void> {
    await this.#writer.append([await endRecord(this.#infoId, { readings, exchanges: this.#exchanges })]);
  }

  async close(): Promise<void> {
    await this.#writer.close();
  }
}
