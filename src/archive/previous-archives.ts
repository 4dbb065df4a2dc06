// The archives of earlier runs. If several have a document, the newest counts.
import type { DocumentRequest, Fetched, FetchedDocument } from "../model/exchange.ts";
import { bareHost, parseUrl } from "../model/url.ts";
import { type Answer, type ArchiveIndex, timeOf } from "./archive-index.ts";
import { type ArchiveSource, invalidArchive, openSource } from "./archive-source.ts";
import type { EarlierFiles, OpenArchiveOptions } from "./contract.ts";
import { CheckedBody } from "./digest.ts";
import { indexArchive } from "./open-archive.ts";
import { readingsByUrl, type SavedReading } from "./readings.ts";
import { archiveKey } from "./replay.ts";

interface PreviousArchive {
  readonly source: ArchiveSource;
  readonly index: ArchiveIndex;
  /** The file ends where its last record does, and every record before can be read. */
  readonly isWhole: boolean;
}

export class PreviousArchives {
  readonly #archives: readonly PreviousArchive[];
  readonly #readings = new Map<ArchiveIndex, ReadonlyMap<string, SavedReading>>();

  private constructor(archives: readonly PreviousArchive[]) {
    this.#archives = archives;
  }

  /** Throws a `SitemapError` (`invalid-archive`). */
  static async open(paths: readonly string[], options: OpenArchiveOptions = {}): Promise<PreviousArchives> {
    const archives: PreviousArchive[] = [];
    try {
      for (const path of paths) {
        const source = await openSource(path, { signal: options.signal });
        archives.push({ source, index: undefined as never, isWhole: false });
        // Documents may stay in there: whoever reads them later wants to know that they are the same.
        if (!source.file.isPrivate) await source.file.watch();
        const { index, cut } = await indexArchive(source, { ...options, newest: true });
        if (source.damaged || cut === "goes on with something that is not a record") {
          throw invalidArchive(path, "it is damaged");
        }
        archives[archives.length - 1] = { source, index, isWhole: cut === undefined && !source.lacksRecords };
      }
    } catch (error) {
      for (const { source } of archives) await source.close();
      throw error;
    }
    return new PreviousArchives(archives);
  }

  /** An archive that is about another website, and what it is about. */
  notAbout(homepage: string): { readonly path: string; readonly about: string } | undefined {
    for (const { source, index } of this.#archives) {
      const about = index.info?.homepage;
      const isSame =
        about === undefined ? index.urls.some((url) => sameHost(url, homepage)) : sameHost(about, homepage);
      if (!isSame) return { path: source.path, about: about ?? index.urls[0] ?? "nothing" };
    }
    return undefined;
  }

  /** The answer to this request in the last run that sent it. */
  async answer(request: DocumentRequest): Promise<Fetched | undefined> {
    const newest = this.#newest(request);
    const fetched = newest && (await newest.index.read(newest.answer));
    if (fetched === undefined) return undefined;
    const { role, anonymous } = request;
    return { ...fetched, role, ...(anonymous && { anonymous }) };
  }

  /** A complete document, as far as that can be told without reading it. */
  async document(request: DocumentRequest): Promise<FetchedDocument | undefined> {
    const fetched = await this.answer(request);
    if (fetched?.outcome !== "found" || fetched.status !== 200 || !(fetched.body instanceof CheckedBody))
      return undefined;
    return fetched.body.problem !== undefined || fetched.body.blocks === undefined ? undefined : fetched;
  }

  /** In how many runs on end a document was not asked for; undefined unless the run that brought `other` had it, too. */
  runsNotAsked(request: DocumentRequest, other: DocumentRequest): number | undefined {
    const [one, two] = [this.#newest(request), this.#newest(other)];
    if (one === undefined || one.index !== two?.index) return undefined;
    const isTold = "run" in one.answer && "run" in two.answer && one.answer.run === two.answer.run;
    if (!isTold || one.answer.response === undefined || one.answer.cut !== undefined) return undefined;
    return one.answer.runsNotAsked;
  }

  /** Whether the run says that it read this document to its end, and lost nothing of it. It says so of large ones only. */
  wasReadWhole(request: DocumentRequest): boolean {
    const newest = this.#newest(request);
    return newest !== undefined && this.#readingsIn(newest).has(request.url);
  }

  /** What the run that brought this document read in it, if it read by the same settings, and its archive is as it was written. */
  reading(request: DocumentRequest, by: string): SavedReading | undefined {
    const newest = this.#newest(request);
    if (newest === undefined || request.role !== "sitemap" || request.anonymous) return undefined;
    const { index, isWhole, answer } = newest;
    // In joined archives, the notes are those of the first.
    const isOfMainRun = "run" in answer && answer.run === "";
    if (!isWhole || !index.finished || index.isAltered || !isOfMainRun || index.readings?.by !== by) return undefined;
    return this.#readingsIn(newest).get(request.url);
  }

  #readingsIn({ index }: PreviousArchive): ReadonlyMap<string, SavedReading> {
    const known = this.#readings.get(index) ?? readingsByUrl(index.readings);
    this.#readings.set(index, known);
    return known;
  }

  #newest(request: DocumentRequest): (PreviousArchive & { readonly answer: Answer }) | undefined {
    const { url, role, anonymous } = request;
    const keys = [
      archiveKey({ url, role, anonymous }),
      archiveKey({ url, role, anonymous, notAsked: "unchanged" }),
      archiveKey({ url, role, anonymous, notAsked: "guess" }),
      archiveKey({ url, role: "sitemap", anonymous }),
    ];
    const answers = this.#archives.flatMap((archive) => {
      const answer = keys.map((key) => archive.index.find(key)).find((found) => found !== undefined);
      return answer === undefined ? [] : [{ ...archive, answer }];
    });
    // A copy of a document that was not requested is as old as its original.
    return answers.sort((a, b) => timeOf(b.answer) - timeOf(a.answer) || runsOf(b.answer) - runsOf(a.answer))[0];
  }

  /** The files alone, for whoever goes on reading documents in them: without the indexes, which take memory. */
  get files(): EarlierFiles {
    const sources = this.#archives.map(({ source }) => source);
    return {
      async close() {
        for (const source of sources) await source.close();
      },
    };
  }

  close(): Promise<void> {
    return this.files.close();
  }
}

function runsOf(answer: Answer): number {
  return "runsNotAsked" in answer ? answer.runsNotAsked : 0;
}

// A website that moves from http to https is the same; at another port there is another one.
function sameHost(one: string, other: string): boolean {
  const host = (url: string) => bareHost(parseUrl(url)?.host ?? "");
  return host(one) === host(other);
}
