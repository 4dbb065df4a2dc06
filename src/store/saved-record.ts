// A record of an archive that can be copied into another one as it is.
import type { Extent } from "./kept-body.ts";

export class SavedRecord {
  /** Everything of it but the line ends after it. */
  readonly extent: Extent;
  readonly id: string;
  readonly infoId: string;
  readonly date: string;
  readonly payloadDigest: string;
  readonly #source: RecordSource;
  readonly #number: number;

  /** `number`: which record of its file it is. */
  constructor(extent: Extent, fields: ReadonlyMap<string, string>, source: RecordSource, number: number) {
    this.extent = extent;
    this.id = fields.get("warc-record-id") ?? "";
    this.infoId = fields.get("warc-warcinfo-id") ?? "";
    this.date = fields.get("warc-date") ?? "";
    this.payloadDigest = fields.get("warc-payload-digest") ?? "";
    this.#source = source;
    this.#number = number;
  }

  /** The record as it is compressed in its file; undefined where it is not, or not on its own. */
  async compressed(): Promise<Extent | undefined> {
    return (await this.#source.members())?.[this.#number];
  }

  /** The record that says what the archive is about which it comes from. */
  get info(): SavedRecord | undefined {
    return this.#source.infoRecord(this.infoId);
  }
}

/** The archive that a record lies in. */
export interface RecordSource {
  /** The records as they are compressed in the file, by their number. */
  members(): Promise<readonly Extent[] | undefined>;
  /** A `warcinfo` record of ours. */
  infoRecord(id: string): SavedRecord | undefined;
}
