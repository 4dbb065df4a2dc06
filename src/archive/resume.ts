// Opens an archive to resume its run: its exchanges are used, and new ones are appended. Its index, and what was cut off when the run was
// killed, are removed first.
import { SitemapError } from "../model/errors.ts";
import type { DocumentRequest, Fetched } from "../model/exchange.ts";
import type { Limits } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { ArchiveInfo } from "./info.ts";
import { cutOf } from "./kept-response.ts";
import { type Archive, type OpenArchiveOptions, openArchive } from "./open.ts";
import { ArchiveWriter } from "./write.ts";

type ByteLimits = Pick<Limits, "documentBytes" | "robotsBytes">;

export class ResumedArchive {
  readonly path: string;
  readonly info: ArchiveInfo;
  readonly writer: ArchiveWriter;
  /** The record of the run that is resumed. */
  readonly infoId: string | undefined;
  readonly #contents: Archive;
  /** Why answers are not whole, by their keys. */
  readonly #cuts: ReadonlyMap<string, Problem | undefined>;

  private constructor(contents: Archive, writer: ArchiveWriter, cuts: ReadonlyMap<string, Problem | undefined>) {
    this.path = contents.records.path;
    this.info = contents.info as ArchiveInfo;
    this.infoId = contents.infoId;
    this.writer = writer;
    this.#contents = contents;
    this.#cuts = cuts;
  }

  /** Throws a `SitemapError` (`invalid-archive`) if it cannot be resumed. The file is not changed before its writer starts. */
  static async open(path: string, options: OpenArchiveOptions = {}): Promise<ResumedArchive> {
    const { signal, documents } = options;
    const contents = await openArchive(path, { signal, documents, writable: true, withGroups: true });
    try {
      if (contents.info === undefined) throw cannotGoOn(path, "another tool wrote it");
      if (contents.goesOn) throw cannotGoOn(path, "it is damaged in its middle");
      if (contents.altered) throw cannotGoOn(path, "it was changed after it was written");
      if (contents.unpacked !== undefined) throw cannotGoOn(path, "its records are not compressed one by one");
      const cuts = new Map<string, Problem | undefined>();
      for (const [key, { isCut }] of contents.answers) {
        if (isCut) cuts.set(key, cutOf(await contents.read(key, { url: "", role: "sitemap" })));
      }
      return new ResumedArchive(contents, ArchiveWriter.after(contents), cuts);
    } catch (error) {
      await contents.close();
      throw error;
    }
  }

  /** Whether an answer was kept, unless it was cut off by a limit that no longer applies. */
  has(key: string, limits?: ByteLimits): boolean {
    if (!this.#contents.has(key) || !this.#cuts.has(key)) return this.#contents.has(key);
    const cut = this.#cuts.get(key);
    return cut !== undefined && limits !== undefined && stillCuts(cut, limits);
  }

  read(key: string, asked: DocumentRequest): Promise<Fetched> {
    return this.#contents.read(key, asked);
  }

  async close(): Promise<void> {
    await this.writer.close();
    await this.#contents.close();
  }
}

// A document above a limit is requested again only if the limit is higher now.
function stillCuts({ code, limit = 0 }: Problem, { documentBytes, robotsBytes }: ByteLimits): boolean {
  if (code === "limit-document-bytes") return limit >= documentBytes;
  return code === "limit-robots-bytes" && limit >= robotsBytes;
}

function cannotGoOn(path: string, reason: string): SitemapError {
  return new SitemapError("invalid-archive", `${path} cannot be resumed: ${reason}`);
}
