// The archives of earlier runs, to be asked for documents. Where several hold one, the newest counts.
import type { DocumentRequest, FetchedDocument } from "../exchange.ts";
import { parseUrl } from "../url.ts";
import { type ArchiveIndex, timeOf } from "./archive-index.ts";
import { type ArchiveSource, invalidArchive, openSource } from "./archive-source.ts";
import { CheckedBody } from "./digest.ts";
import { indexArchive } from "./open-archive.ts";
import { archiveKeys } from "./replay.ts";

interface PreviousArchive {
  readonly source: ArchiveSource;
  readonly index: ArchiveIndex;
}

export class PreviousArchives {
  readonly #archives: readonly PreviousArchive[];

  private constructor(archives: readonly PreviousArchive[]) {
    this.#archives = archives;
  }

  /** Throws a `SitemapError` (`invalid-archive`). */
  static async open(paths: readonly string[]): Promise<PreviousArchives> {
    const archives: PreviousArchive[] = [];
    try {
      for (const path of paths) {
        const source = await openSource(path);
        archives.push({ source, index: undefined as never });
        const { index, cut } = await indexArchive(source, { newest: true });
        if (source.damaged || cut === "goes on with something that is not a record") {
          throw invalidArchive(path, "it is damaged");
        }
        archives[archives.length - 1] = { source, index };
      }
    } catch (error) {
      for (const { source } of archives) await source.close();
      throw error;
    }
    return new PreviousArchives(archives);
  }

  /** One that is about another website, and what it is about. */
  notAbout(homepage: string): { readonly path: string; readonly about: string } | undefined {
    for (const { source, index } of this.#archives) {
      const about = index.info?.homepage;
      const isSame =
        about === undefined ? index.urls.some((url) => sameHost(url, homepage)) : sameHost(about, homepage);
      if (!isSame) return { path: source.path, about: about ?? index.urls[0] ?? "nothing" };
    }
    return undefined;
  }

  /** A document that is there from its first to its last byte, as far as can be seen without reading it. */
  async document(request: DocumentRequest): Promise<FetchedDocument | undefined> {
    const answers = this.#archives.flatMap(({ index }) => {
      const answer = archiveKeys(request)
        .slice(0, 2)
        .map((key) => index.find(key))
        .find((found) => found !== undefined);
      return answer === undefined ? [] : [{ index, answer }];
    });
    const [newest] = answers.sort((a, b) => timeOf(b.answer) - timeOf(a.answer));
    const fetched = newest && (await newest.index.read(newest.answer));
    if (fetched?.outcome !== "found" || fetched.status !== 200 || !(fetched.body instanceof CheckedBody))
      return undefined;
    if (fetched.body.problem !== undefined || fetched.body.blocks === undefined) return undefined;
    const { url, role, anonymous } = request;
    return { ...fetched, url: fetched.url === url ? url : fetched.url, role, ...(anonymous && { anonymous }) };
  }

  async close(): Promise<void> {
    for (const { source } of this.#archives) await source.close();
  }
}

function sameHost(one: string, other: string): boolean {
  const host = (url: string) => parseUrl(url)?.hostname.replace(/^www\./, "");
  return host(one) === host(other);
}
