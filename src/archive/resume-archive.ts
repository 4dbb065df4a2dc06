// Opens an archive to resume its run: its exchanges are used, and new ones are appended. A record that was cut off when
// the run was killed is removed first.
import { SitemapError } from "../model/errors.ts";
import type { Fetched } from "../model/exchange.ts";
import type { Limits } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { Answer, ArchiveIndex } from "./archive-index.ts";
import { type ArchiveSource, type CompressedFile, openSource } from "./archive-source.ts";
import { ArchiveWriter } from "./archive-writer.ts";
import type { ArchiveInfo, OpenArchiveOptions } from "./contract.ts";
import { memberEnd, recordMembers } from "./gzip-members.ts";
import type { KeptFile } from "./kept-body.ts";
import { indexArchive } from "./open-archive.ts";
import { recordEnd } from "./packed-member.ts";

type ByteLimits = Pick<Limits, "documentBytes" | "robotsBytes">;

export class ResumedArchive {
  readonly path: string;
  readonly info: ArchiveInfo;
  readonly writer: ArchiveWriter;
  readonly isCompressed: boolean;
  readonly #source: ArchiveSource;
  readonly #index: ArchiveIndex;

  private constructor(source: ArchiveSource, index: ArchiveIndex, info: ArchiveInfo, writer: ArchiveWriter) {
    this.path = source.path;
    this.info = info;
    this.writer = writer;
    this.isCompressed = source.compressed !== undefined;
    this.#source = source;
    this.#index = index;
  }

  /** Throws a `SitemapError` (`invalid-archive`) if it cannot be resumed. Repairs the file. */
  static async open(path: string, options: OpenArchiveOptions = {}): Promise<ResumedArchive> {
    const source = await openSource(path, { writable: true, signal: options.signal });
    try {
      const { index, cut, end } = await indexArchive(source, options);
      if (index.info === undefined) throw cannotGoOn(path, "another tool wrote it");
      if (source.lacksRecords) throw cannotGoOn(path, "it is damaged in its middle");
      if (index.isAltered) throw cannotGoOn(path, "it was changed after it was written");
      const isCut = cut !== undefined || source.damaged;
      const writer =
        source.compressed === undefined
          ? await writerAfter(source, end, isCut)
          : await compressedWriterAfter(path, source.compressed, index.recordCount, isCut);
      if (writer !== undefined) return new ResumedArchive(source, index, index.info, writer);
      // Without its last record it is another archive.
      await source.close();
      return await ResumedArchive.open(path, options);
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** The record of the run that is resumed. */
  get infoId(): string | undefined {
    return this.#index.lastRun;
  }

  /** The answer that was kept, unless it was cut off by a limit that no longer applies. */
  find(key: string, limits?: ByteLimits): Answer | undefined {
    const answer = this.#index.find(key);
    if (answer === undefined || !("cut" in answer) || answer.cut === undefined) return answer;
    return limits !== undefined && stillCuts(answer.cut, limits) ? answer : undefined;
  }

  /** All kept exchanges, in the order of the file. */
  keys(): Iterable<string> {
    return this.#index.keys();
  }

  read(answer: Answer): Promise<Fetched> {
    return this.#index.read(answer);
  }

  async close(): Promise<void> {
    await this.writer.close();
    await this.#source.close();
  }
}

// A document above a limit is requested again only if the limit is higher now.
function stillCuts({ code, limit = 0 }: Problem, { documentBytes, robotsBytes }: ByteLimits): boolean {
  if (code === "limit-document-bytes") return limit >= documentBytes;
  return code === "limit-robots-bytes" && limit >= robotsBytes;
}

async function writerAfter({ path, file, size }: ArchiveSource, end: number, isCut: boolean): Promise<ArchiveWriter> {
  if (isCut && (await holdsRecordAfter(file, end, size))) throw cannotGoOn(path, "it is damaged in its middle");
  await file.write(end, recordEnd);
  await file.truncate(end + recordEnd.length);
  return ArchiveWriter.at(end + recordEnd.length, file, false);
}

// Undefined if the last record was removed: it can be read, but its checksum is cut off.
async function compressedWriterAfter(
  path: string,
  { file, size, membersEnd }: CompressedFile,
  recordCount: number,
  isCut: boolean,
): Promise<ArchiveWriter | undefined> {
  if (membersEnd === size && !isCut) return ArchiveWriter.at(size, file, true);
  const members = await recordMembers(file, size);
  if (members.length > recordCount + 1) throw cannotGoOn(path, "it is damaged in its middle");
  const last = members[recordCount - 1];
  const end = members[recordCount] ?? (last === undefined ? undefined : await memberEnd(file, last, size));
  if (end === undefined && members.length === recordCount && recordCount > 1 && members[0] === 0) {
    await file.truncate(last!);
    return undefined;
  }
  if (members[0] !== 0 || end === undefined) throw cannotGoOn(path, "its records are not compressed one by one");
  await file.truncate(end);
  return ArchiveWriter.at(end, file, true);
}

// Nothing follows a record that was cut off; what follows damage may be worth keeping.
async function holdsRecordAfter(file: KeptFile, end: number, size: number): Promise<boolean> {
  const start = "\r\nWARC/1.";
  const step = 1024 * 1024;
  // The cut record itself begins here.
  for (let at = end + recordEnd.length; at < size; at += step) {
    const bytes = await file.read(at, Math.min(step + start.length, size - at));
    if (Buffer.from(bytes).includes(start)) return true;
  }
  return false;
}

function cannotGoOn(path: string, reason: string): SitemapError {
  return new SitemapError("invalid-archive", `${path} cannot be resumed: ${reason}`);
}
