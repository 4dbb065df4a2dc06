// Opens an archive to resume its run: new exchanges are appended. Its index, and records that are cut off, are removed first.
import { SitemapError } from "../model/errors.ts";
import type { Limits } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { ArchiveInfo } from "./info.ts";
import { cutOf } from "./kept-response.ts";
import { type Archive, type OpenArchiveOptions, openArchive } from "./open.ts";
import { ArchiveWriter } from "./write.ts";

type ByteLimits = Pick<Limits, "documentBytes" | "robotsBytes">;

/** An archive whose run is resumed. */
export interface ResumedArchive {
  readonly archive: Archive;
  readonly info: ArchiveInfo;
  readonly writer: ArchiveWriter;
  /** Whether a response is stored and was not cut off by a limit that no longer applies. */
  has(key: string, limits?: ByteLimits): boolean;
}

/** Throws a `SitemapError` (`invalid-archive`) if it cannot be resumed. The file is unchanged until its writer starts. */
export async function resumeArchive(path: string, options: OpenArchiveOptions = {}): Promise<ResumedArchive> {
  const archive = await openArchive(path, { ...options, writable: true, withGroups: true });
  const { info, goesOn, altered } = archive;
  try {
    if (info === undefined) throw cannotGoOn(path, "it was written by another tool");
    if (goesOn) throw cannotGoOn(path, "it is damaged");
    if (altered) throw cannotGoOn(path, "it was changed after it was written");
    // Why responses are incomplete.
    const cuts = new Map<string, Problem | undefined>();
    for (const [key, { isCut }] of archive.answers) {
      if (isCut) cuts.set(key, cutOf(await archive.read(key, { url: "", role: "sitemap" })));
    }
    return {
      archive,
      info,
      writer: ArchiveWriter.after(archive),
      has(key, limits) {
        if (!archive.has(key) || !cuts.has(key)) return archive.has(key);
        const cut = cuts.get(key);
        return cut !== undefined && limits !== undefined && stillCuts(cut, limits);
      },
    };
  } catch (error) {
    await archive.close();
    throw error;
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
