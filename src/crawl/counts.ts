// Counts what a run reads in its documents, for the index of its archive; and takes these counts instead of parsing when the archive is
// opened. They are compared with the documents when their pages are read.
import type { ArchivedBody } from "../archive/archived-body.ts";
import type { Archive, Counts, RunCounts } from "../archive/contract.ts";
import { type Limits, version } from "../model/options.ts";
import { type Document, type ReadDocument, type Reading, type ReadSettings, read, readUrls } from "./read.ts";

/** The settings that counts depend on, as one text. */
function countedBy({ limits, strict }: ReadSettings): string {
  return JSON.stringify([version, strict, limits]);
}

/** What is read by `read` is counted in `counts`. */
export function counting(
  settings: ReadSettings,
  readDocument: ReadDocument = read,
): { readonly read: ReadDocument; readonly counts: RunCounts } {
  const documents = new Map<string, Counts>();
  async function* counted(document: Document, settings: ReadSettings): ReturnType<ReadDocument> {
    const reading = readDocument(document, settings);
    let pages = 0;
    let isWhole = true;
    try {
      let step = await reading.next();
      while (!step.done) {
        pages += step.value.pages.length;
        const goesOn = yield step.value;
        isWhole &&= goesOn !== false;
        step = await reading.next(goesOn);
      }
      const counts = isWhole ? countsOf(document, pages, step.value) : undefined;
      if (counts !== undefined) documents.set(document.url as string, counts);
      return step.value;
    } finally {
      await reading.return(undefined as never);
    }
  }
  return { read: counted, counts: { by: countedBy(settings), documents } };
}

function countsOf({ url, isRobots, anonymous }: Document, pages: number, reading: Reading): Counts | undefined {
  const { outcome, complete, problems, wireBytes, decodedBytes, checksum, charset, untoldPages } = reading;
  if (url === undefined || isRobots || anonymous || outcome.kind !== "pages" || !complete) return undefined;
  // A feed that goes on at another URL is followed by what is read.
  return untoldPages === undefined && outcome.next === undefined
    ? { format: outcome.format, pages, wireBytes, decodedBytes, checksum, charset, problems }
    : undefined;
}

/** Takes the counts of an archive, if it has some by the same settings. With `verify`, documents are compared with their digests now. */
export function readByCounts(archive: Archive, settings: ReadSettings, verify: boolean): ReadDocument {
  if (archive.countedBy !== countedBy(settings)) return readUrls;
  return async function* (document, settings): ReturnType<ReadDocument> {
    const counts = await countsIn(archive, document, verify);
    if (counts === undefined || !isPossible(counts, settings.limits)) return yield* readUrls(document, settings);
    const { format, pages, ...rest } = counts;
    const outcome = { kind: "pages", format } as const;
    return { ...rest, outcome, complete: true, untoldPages: pages, crawlDelay: () => undefined };
  };
}

async function countsIn(
  archive: Archive,
  { url, isRobots, anonymous, isCut }: Document,
  verify: boolean,
): Promise<Counts | undefined> {
  const counts = url === undefined || isRobots || anonymous || isCut?.() ? undefined : archive.counts(url);
  if (counts === undefined || !verify) return counts;
  const fetched = await archive.fetch({ url: url as string, role: "sitemap" });
  return fetched.outcome === "found" && (await (fetched.body as ArchivedBody).isGood()) ? counts : undefined;
}

// Whether a document can have so many pages: the shortest one of all is `http://a`.
function isPossible({ pages, decodedBytes }: Counts, { documentBytes, documentEntries }: Limits): boolean {
  return decodedBytes <= documentBytes && pages <= documentEntries && pages * 8 <= decodedBytes;
}
