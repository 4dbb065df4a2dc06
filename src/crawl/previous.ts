// Runs with `previous`: conditional requests (https://www.rfc-editor.org/rfc/rfc9110#section-13) for documents that the archive of an
// earlier run has in full. They are reused if the website answers 304 or sends the same bytes. Except for some each day, no
// requests are sent for well-known paths that were not found and, with `trustLastmod`, for sitemaps whose `lastmod` in the index is the same.
import { createHash } from "node:crypto";
import type { ArchivedBody } from "../archive/archived-body.ts";
import type { PreviousArchives } from "../archive/previous.ts";
import type { Fetcher } from "../fetch/fetcher.ts";
import { defined } from "../model/defined.ts";
import type { FailureEvent, ResponseEvent } from "../model/event.ts";
import { type DocumentRequest, type Fetched, type FetchedDocument, header } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { fetchedEvent } from "../model/status.ts";
import type { Reference } from "./frame.ts";
import { read } from "./read.ts";

export const guessDays = 11;
export const trustedDays = 7;
const mostBusy = 8;

/** Whether to request a URL today, if it is requested about once in this many days. */
export function isDue(url: string, days: number, date: string = new Date().toISOString().slice(0, 10)): boolean {
  return createHash("md5").update(`${date} ${url}`).digest().readUInt32BE() % days === 0;
}

export type Revalidator = ReturnType<typeof revalidator>;

/** Requests what may have changed from the `network`. Reports how each document was obtained; the `network` must not report responses. */
export function revalidator(
  network: Fetcher,
  previous: PreviousArchives,
  settings: Settings,
  onResponse: (event: ResponseEvent | FailureEvent) => void,
) {
  let verifying: Promise<unknown> = Promise.resolve();
  // How many documents are being looked up or verified: each needs buffers.
  let busy = 0;
  const counted = async <T>(result: Promise<T>): Promise<T> => {
    busy += 1;
    return result.finally(() => (busy -= 1));
  };

  const told = <T extends Fetched>(fetched: T): T => {
    const event = fetchedEvent(fetched);
    if (event !== undefined) onResponse(event);
    return fetched;
  };

  // One after another: a thousand responses may arrive at once.
  const isGood = (document: { readonly body: ArchivedBody } | undefined): Promise<boolean> => {
    const turn = verifying.then(() => document?.body.isGood() ?? false);
    verifying = turn.catch(() => undefined);
    return counted(turn);
  };

  // The response of an earlier run, if its document is intact.
  async function unasked(request: DocumentRequest): Promise<Fetched | undefined> {
    const before = await previous.answer(request);
    if (before === undefined) return undefined;
    if (before.outcome === "found" && !(await isGood(await previous.document(request)))) return undefined;
    const { answered: _, ...rest } = before as FetchedDocument;
    return { ...rest, attempts: 0, came: "not-asked", notAsked: request.notAsked };
  }

  // Compares a body with an earlier one while it is received.
  function compared(answer: FetchedDocument, before: { readonly body: ArchivedBody }): FetchedDocument {
    const { body } = answer;
    const { end } = body;
    async function* bytes() {
      const digest = await before.body.digest();
      const hash = digest && createHash(digest.algorithm);
      try {
        for await (const piece of body) {
          hash?.update(piece);
          yield piece;
        }
        const isSame = end.problem === undefined && digest !== undefined && hash?.digest("hex") === digest.hex;
        if (isSame && (await isGood(before))) end.sameAs = before.body;
      } finally {
        told({ ...answer, came: end.sameAs === undefined ? "fetched" : "same-payload" });
      }
    }
    return { ...answer, body: { ...body, [Symbol.asyncIterator]: bytes } };
  }

  return {
    hasRoomFor(url: string, isSpare?: boolean): boolean {
      return busy < mostBusy && network.hasRoomFor(url, isSpare);
    },

    /** Whether a well-known path was not found in the earlier run, and need not be tried again today. */
    async isAbsent(request: DocumentRequest): Promise<boolean> {
      return !isDue(request.url, guessDays) && (await previous.answer(request))?.outcome === "absent";
    },

    /** The same references; those that need no request are marked. `index` is the URL of the index, after redirects. */
    async marked(index: string, references: Reference[]): Promise<Reference[]> {
      const dated = new Map<string, number>();
      for (const [at, { url, lastModified }] of references.entries()) {
        if (lastModified !== undefined && !dated.has(url)) dated.set(url, at);
      }
      const request = { url: index, role: "sitemap" } as const;
      const before = settings.trustLastmod && dated.size > 0 ? await previous.document(request) : undefined;
      if (before === undefined) return references;
      for await (const { sitemaps } of read({ ...before, url: index }, settings)) {
        for (const { url, lastModified } of sitemaps) {
          const at = dated.get(url);
          if (at === undefined) continue;
          // Only the first declaration of a child counts.
          dated.delete(url);
          const reference = references[at] as Reference;
          if (reference.lastModified !== lastModified || isDue(url, trustedDays)) continue;
          const child = { url, role: "sitemap" } as const;
          // If something was missing, the website may have fixed it without changing the date.
          const isWhole = (await previous.isOfRunOf(child, request)) && (await previous.wasReadWhole(child));
          if (isWhole) references[at] = { ...reference, notAsked: "unchanged" };
        }
      }
      return references;
    },

    async fetch(request: DocumentRequest): Promise<Fetched> {
      const earlier = request.notAsked && (await unasked(request));
      if (earlier !== undefined) return told(earlier);
      const before = await counted(previous.document(request));
      const conditional = before && conditionalHeaders(before);
      const answer = await network.fetch({ ...request, ...defined({ conditional }) });
      const { attempts, receivedAt, firstByte, headers = [] } = answer;
      if (before !== undefined && conditional !== undefined && isPuzzled(answer)) {
        // The archived document must be intact, and the 304 must be about it.
        const isSame = answer.status === 304 && acceptsAnswer(conditional, headers) && (await isGood(before));
        if (!isSame) return told(await network.fetch(request));
        const { notAsked: _, ...document } = before;
        const asked = { attempts, ...defined({ receivedAt, firstByte }) };
        return told({ ...document, ...asked, came: "not-modified", answered: { status: 304, headers } });
      }
      return answer.outcome === "found" && before !== undefined ? compared(answer, before) : told(answer);
    },
  };
}

// Whether the same request without conditions may bring the document: it was not modified, or conditions confuse the server.
function isPuzzled(answer: Fetched): boolean {
  if (answer.outcome === "found") return header(answer.headers, "content-length") === "0";
  return answer.status !== undefined && puzzledStatuses.has(answer.status);
}

const puzzledStatuses: ReadonlySet<number> = new Set([304, 400, 405, 406, 409, 412, 415, 416, 417, 422, 428, 431, 501]);

// Apache adds the coding to an ETag when it compresses, but does not recognize that form: it needs the bare one.
const codingSuffix = /(?:--?|;)(?:gzip|br|zstd|deflate)(?="?$)/i;
// Archives are not trusted: only a valid header value is sent.
const sendable = /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]{0,510}[\x21-\x7e\x80-\xff])?$/;

// Undefined if the document has neither.
function conditionalHeaders({ headers, came }: FetchedDocument): Readonly<Record<string, string>> | undefined {
  const sendableIn = (name: string) => header(headers, name)?.match(sendable)?.[0];
  const date = sendableIn("last-modified");
  // The same bytes came despite an ETag, so the website, or a proxy in front of it, ignores ETags.
  const isIgnored = came === "same-payload" && date !== undefined;
  const etag = isIgnored ? undefined : sendableIn("etag");
  // In If-None-Match, an asterisk means any version.
  const tag = etag?.replaceAll(/"[^"]*"/g, "").includes("*") ? undefined : etag;
  const tags = tag === undefined ? [] : [...new Set([tag, tag.replace(codingSuffix, "")])];
  if (tags.length === 0 && date === undefined) return undefined;
  // The date exactly as received: nginx compares it as text.
  return defined({ "if-none-match": tags.length === 0 ? undefined : tags.join(", "), "if-modified-since": date });
}

// Whether a 304 is about the requested version. It may carry another form of the ETag, or none.
function acceptsAnswer(conditional: Readonly<Record<string, string>>, headers: FetchedDocument["headers"]): boolean {
  const tag = header(headers, "etag");
  const asked = conditional["if-none-match"];
  const bare = (each: string) => each.trim().replace(/^W\//, "").replace(codingSuffix, "");
  return tag === undefined || asked === undefined || asked.split(", ").some((one) => bare(one) === bare(tag));
}
