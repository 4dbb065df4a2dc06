// For runs with `previous`: sends conditional requests (https://www.rfc-editor.org/rfc/rfc9110#section-13) for documents that the archive of
// an earlier run has in full. If the website answers 304, the archived document is used.
import type { Archive } from "../archive/reader.ts";
import { defined } from "../model/defined.ts";
import type { FailureEvent, ResponseEvent } from "../model/event.ts";
import {
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type FetchedDocument,
  type HeaderList,
  header,
  requestKey,
} from "../model/exchange.ts";
import { fetchedEvent } from "../model/status.ts";
import { isOpenEnded } from "./read.ts";

// Nothing is prefetched while this many documents are being looked up or verified, because each needs buffers.
const mostBusy = 8;

/** Sends requests to `network`, with the validators of archived documents. Reports the results itself, so `network` must not. */
export function revalidating(
  network: DocumentSource,
  archives: readonly Archive[],
  onResult: (event: ResponseEvent | FailureEvent) => void,
): DocumentSource {
  let busy = 0;
  let verifying: Promise<unknown> = Promise.resolve();

  // Returns the latest response in the archives, if it is a complete document.
  async function archived(request: DocumentRequest): Promise<FetchedDocument | undefined> {
    // Other tools do not record what a document was requested as.
    const keys = [requestKey(request), requestKey({ ...request, role: "sitemap" })];
    let latest: Fetched | undefined;
    for (const archive of archives) {
      const key = keys.find((each) => archive.answers.has(each));
      const found = key === undefined ? undefined : await archive.read(key, request);
      if (found !== undefined && (latest === undefined || timeOf(found) > timeOf(latest))) latest = found;
    }
    if (latest?.outcome !== "found" || latest.status !== 200 || latest.body.end.problem !== undefined) return undefined;
    return isOpenEnded(latest) ? undefined : latest;
  }

  // Checks one body after another, because a thousand responses may arrive at once.
  function isIntact({ body }: FetchedDocument): Promise<boolean> {
    const turn = verifying.then(() => body.isGood?.() ?? false);
    verifying = turn.catch(() => undefined);
    return turn;
  }

  async function whileBusy<T>(work: Promise<T>): Promise<T> {
    busy += 1;
    return work.finally(() => {
      busy -= 1;
    });
  }

  async function fetchDocument(request: DocumentRequest): Promise<Fetched> {
    const before = await whileBusy(archived(request));
    const conditional = before && validators(before.headers);
    if (before === undefined || conditional === undefined) return await network.fetch(request);
    const answer = await network.fetch({ ...request, conditional });
    if (!isDueToConditions(answer)) return answer;
    const { status, attempts, firstByte, receivedAt: revalidatedAt, headers = [] } = answer;
    // The 304 must be about the archived version, and that must be intact.
    const isSame = status === 304 && confirms(conditional, headers) && (await whileBusy(isIntact(before)));
    if (!isSame) return await network.fetch(request);
    const { role, anonymous } = request;
    // `receivedAt` stays the same, because the bytes were received then, not today.
    const { duration: _, revalidatedAt: __, ...document } = before;
    const exchange = { role, attempts, ...defined({ anonymous, firstByte, revalidatedAt }) };
    return { ...document, ...exchange, headers: mergedHeaders(before.headers, headers), obtained: "not-modified" };
  }

  return {
    async fetch(request) {
      const answer = await fetchDocument(request);
      const event = fetchedEvent(answer);
      if (event !== undefined) onResult(event);
      return answer;
    },
    hasRoomFor: (url, isSpare) => busy < mostBusy && network.hasRoomFor?.(url, isSpare) === true,
    variesByCredentials: (url) => network.variesByCredentials?.(url) === true,
    close: () => network.close(),
  };
}

function timeOf({ receivedAt }: Fetched): number {
  return Date.parse(receivedAt ?? "") || 0;
}

// Replaces stored headers with those of a 304, except for headers that describe the stored bytes or a connection:
// https://www.rfc-editor.org/rfc/rfc9111#section-3.2. Stored cookies are dropped, because they are not set again.
function mergedHeaders(stored: HeaderList, fresh: HeaderList): HeaderList {
  const updated = fresh.filter(([name]) => !fixedHeaders.has(name));
  const replaced = new Set(["set-cookie", ...updated.map(([name]) => name)]);
  return [...stored.filter(([name]) => !replaced.has(name)), ...updated];
}

const fixedHeaders: ReadonlySet<string> = new Set([
  ...["content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"],
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "te", "trailer", "upgrade"],
]);

// Whether the conditions may have caused a response that is not the document: a 304, an error, or an empty body.
function isDueToConditions(answer: Fetched): boolean {
  if (answer.outcome === "found") return header(answer.headers, "content-length") === "0";
  return answer.status !== undefined && conditionCodes.has(answer.status);
}

const conditionCodes: ReadonlySet<number> = new Set([304, 400, 405, 406, 409, 412, 415, 416, 417, 422, 428, 431, 501]);

// Apache adds the coding to an ETag when it compresses, but does not recognize that form: it needs the bare one.
const codingSuffix = /(?:--?|;)(?:gzip|br|zstd|deflate)(?="?$)/i;
// Archives are not trusted, so only a valid header value is sent.
const sendable = /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]{0,510}[\x21-\x7e\x80-\xff])?$/;

// Returns the validators of an archived document as request headers, or undefined if it has none.
function validators(headers: HeaderList): Readonly<Record<string, string>> | undefined {
  const sendableIn = (name: string) => header(headers, name)?.match(sendable)?.[0];
  const date = sendableIn("last-modified");
  const etag = sendableIn("etag");
  // In If-None-Match, an asterisk means any version.
  const tag = etag?.replaceAll(/"[^"]*"/g, "").includes("*") ? undefined : etag;
  const tags = tag === undefined ? [] : [...new Set([tag, tag.replace(codingSuffix, "")])];
  if (tags.length === 0 && date === undefined) return undefined;
  // The date is sent exactly as received, because nginx compares it as text.
  return defined({ "if-none-match": tags.length === 0 ? undefined : tags.join(", "), "if-modified-since": date });
}

// Whether a 304 confirms the archived version. It may carry another form of the ETag, or none.
function confirms(conditional: Readonly<Record<string, string>>, headers: HeaderList): boolean {
  const tag = header(headers, "etag");
  const asked = conditional["if-none-match"];
  const bare = (each: string) => each.trim().replace(/^W\//, "").replace(codingSuffix, "");
  return tag === undefined || asked === undefined || asked.split(", ").some((one) => bare(one) === bare(tag));
}
