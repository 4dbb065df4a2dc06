// The archives of earlier runs. If several have a document, the newest counts.
import { SitemapError } from "../model/errors.ts";
import type { DocumentRequest, Fetched, FetchedDocument } from "../model/exchange.ts";
import { bareHost, parseUrl } from "../model/url.ts";
import { invalidArchive } from "../storage/file.ts";
import { ArchivedBody } from "./archived-body.ts";
import { countsFrom } from "./index-record.ts";
import { type Answer, type Archive, type OpenArchiveOptions, openArchive } from "./open.ts";
import { archiveKey } from "./replay.ts";

interface Found {
  readonly archive: Archive;
  readonly answer: Answer;
  readonly fetched: Fetched;
}

export class PreviousArchives {
  readonly #archives: readonly Archive[];

  private constructor(archives: readonly Archive[]) {
    this.#archives = archives;
  }

  /** Throws a `SitemapError` (`invalid-archive`) if one cannot be read, or is about another website. */
  static async open(
    paths: readonly string[],
    homepage: string,
    { signal, documents }: OpenArchiveOptions = {},
  ): Promise<PreviousArchives> {
    const archives: Archive[] = [];
    try {
      for (const path of paths) {
        const contents = await openArchive(path, { signal, documents, newest: true });
        archives.push(contents);
        if (contents.goesOn) throw invalidArchive(path, "it is damaged");
        const { info, urls } = contents;
        const about = info?.homepage === undefined ? urls : [info.homepage];
        if (about.some((url) => sameHost(url, homepage))) continue;
        const message = `${path} is about ${about[0] ?? "nothing"}, not ${homepage}`;
        throw new SitemapError("invalid-archive", message);
      }
    } catch (error) {
      for (const archive of archives) await archive.close();
      throw error;
    }
    return new PreviousArchives(archives);
  }

  /** The response to this request in the last run that sent it. */
  async answer(request: DocumentRequest): Promise<Fetched | undefined> {
    const newest = await this.#newest(request);
    if (newest === undefined) return undefined;
    const { role, anonymous } = request;
    return { ...newest.fetched, role, ...(anonymous && { anonymous }) };
  }

  /** A document that is complete, as far as can be known without reading it. */
  async document(request: DocumentRequest): Promise<(FetchedDocument & { readonly body: ArchivedBody }) | undefined> {
    const fetched = await this.answer(request);
    if (fetched?.outcome !== "found" || fetched.status !== 200) return undefined;
    const { body } = fetched;
    if (!(body instanceof ArchivedBody) || body.end.problem !== undefined || body.source === undefined)
      return undefined;
    return { ...fetched, body };
  }

  /** Whether the run that fetched `other` also has this document, complete. */
  async isOfRunOf(request: DocumentRequest, other: DocumentRequest): Promise<boolean> {
    const [one, two] = [await this.#newest(request), await this.#newest(other)];
    if (one === undefined || one.archive !== two?.archive || one.answer.run !== two.answer.run) return false;
    const { description, response, isCut } = one.answer;
    return description !== undefined && response !== undefined && !isCut;
  }

  /** Whether the run read this document without losses, according to its index. */
  async wasReadWhole(request: DocumentRequest): Promise<boolean> {
    const newest = await this.#newest(request);
    return (
      newest?.fetched.notAsked === "unchanged" || (newest !== undefined && countsFrom(newest.answer) !== undefined)
    );
  }

  async #newest(request: DocumentRequest): Promise<Found | undefined> {
    const { url, role, anonymous } = request;
    const keys = [
      archiveKey({ url, role, anonymous }),
      archiveKey({ url, role, anonymous, notAsked: "unchanged" }),
      archiveKey({ url, role, anonymous, notAsked: "guess" }),
      archiveKey({ url, role: "sitemap", anonymous }),
    ];
    const found: Found[] = [];
    for (const archive of this.#archives) {
      const key = keys.find((each) => archive.has(each));
      if (key === undefined) continue;
      const answer = archive.answers.get(key) as Answer;
      found.push({ archive, answer, fetched: await archive.read(key, request) });
    }
    // A copy of a document that was not requested is as old as its original.
    return found.sort((a, b) => timeOf(b) - timeOf(a) || isCopy(b) - isCopy(a))[0];
  }

  async close(): Promise<void> {
    for (const archive of this.#archives) await archive.close();
  }
}

function timeOf({ fetched }: Found): number {
  return Date.parse(fetched.receivedAt ?? "") || 0;
}

function isCopy({ fetched }: Found): number {
  return fetched.notAsked === undefined ? 0 : 1;
}

// A website that moves from http to https is still the same; another port is another website.
function sameHost(one: string, other: string): boolean {
  const host = (url: string) => bareHost(parseUrl(url)?.host ?? "");
  return host(one) === host(other);
}
