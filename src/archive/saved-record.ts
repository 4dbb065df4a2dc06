// A record of an archive that can be copied unchanged into another one.
import { detached } from "../model/detached.ts";
import type { Extent } from "./kept-body.ts";

export class SavedRecord {
  /** Without the line ends after it. */
  readonly extent: Extent;
  readonly id: string;
  readonly infoId: string;
  readonly date: string;
  readonly payloadDigest: string;
  readonly #source: RecordSource;

  constructor(extent: Extent, fields: ReadonlyMap<string, string>, source: RecordSource) {
    this.extent = extent;
    const infoId = fields.get("warc-warcinfo-id") ?? "";
    this.id = detached(fields.get("warc-record-id") ?? "");
    // The same text for all records of a run.
    this.infoId = source.infoRecord(infoId)?.id ?? detached(infoId);
    this.date = detached(fields.get("warc-date") ?? "");
    this.payloadDigest = detached(fields.get("warc-payload-digest") ?? "");
    this.#source = source;
  }

  /** The record as it is compressed in its file; undefined unless it is compressed on its own, and says its length. */
  compressed(): Promise<Extent | undefined> {
    return this.#source.compressed(this.extent);
  }

  /** The record that describes the archive it comes from. */
  get info(): SavedRecord | undefined {
    return this.#source.infoRecord(this.infoId);
  }
}

/** The archive of a record. */
export interface RecordSource {
  /** A record as it is compressed in the file. */
  compressed(record: Extent): Promise<Extent | undefined>;
  /** A `warcinfo` record of ours. */
  infoRecord(id: string): SavedRecord | undefined;
}
