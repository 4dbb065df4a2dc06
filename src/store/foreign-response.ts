// Responses as other tools archive them, each on its own: what it means is worked out here, as it is for a website.
import { type Body, type FailureOutcome, type Fetched, type HeaderList, header } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";
import { parseUrl, resolveUrl, withoutCredentials } from "../url.ts";
import { beginsWithChunk, dechunk, maxHttpHead, parseHttpHead } from "./http-block.ts";
import { type Extent, KeptBody, readBlocks, skip } from "./kept-body.ts";
import type { RecordHead } from "./warc-reader.ts";

/** All that is remembered of a response of another tool. */
export interface ForeignResponse {
  readonly url: string;
  /** A `resource` is a document without the head of a response. */
  readonly type: "response" | "resource" | "revisit";
  readonly content: Extent;
  readonly contentType: string | undefined;
  /** What WARC-Truncated says, or that the record is only the first segment. */
  readonly truncated: string | undefined;
  /** The URL whose payload a `revisit` repeats. */
  readonly refersTo: string | undefined;
}

/** Undefined for records that hold nothing a website sent over http. */
export function foreignResponse({ type, fields, content }: RecordHead): ForeignResponse | undefined {
  if (type !== "response" && type !== "resource" && type !== "revisit") return undefined;
  // WARC 1.0 printed angle brackets around URLs, and some tools write them.
  const url = withoutCredentials((fields.get("warc-target-uri") ?? "").replace(/^<(.*)>$/, "$1"));
  if (!/^https?:\/\//i.test(url) || parseUrl(url) === null) return undefined;
  return {
    url,
    type,
    content,
    contentType: fields.get("content-type"),
    truncated: fields.get("warc-truncated") ?? (fields.has("warc-segment-number") ? "length" : undefined),
    refersTo: type === "revisit" ? (fields.get("warc-refers-to-target-uri") ?? url) : undefined,
  };
}

/** The exchange that a response alone makes. A redirect is a known document: whoever asks has to look it up. */
export async function readForeignResponse(
  response: ForeignResponse,
  find: (url: string) => ForeignResponse | undefined,
): Promise<Fetched | undefined> {
  const { url, type, content } = response;
  if (type === "resource") {
    const headers: HeaderList = response.contentType === undefined ? [] : [["content-type", response.contentType]];
    return found(url, 200, headers, new KeptBody([content], truncation(response.truncated)));
  }
  const start = await content.file.read(content.offset, Math.min(content.length, maxHttpHead));
  const head = parseHttpHead(start);
  const exchange = { requestedUrl: url, url, hops: [], attempts: 1 };
  if (type === "revisit") {
    const original = response.refersTo === undefined ? undefined : find(response.refersTo);
    const repeated = original && original.type !== "revisit" ? await readForeignResponse(original, find) : undefined;
    if (repeated?.outcome !== "found") return undefined;
    return found(
      url,
      repeated.status,
      head?.status === repeated.status ? head.headers : repeated.headers,
      repeated.body,
    );
  }
  if (head === undefined) {
    const reason = problem("http-protocol", { value: "no head of a response" });
    return { ...exchange, outcome: "failed", reason };
  }
  const { status, headers } = head;
  if (redirects.has(status)) {
    const target = resolveUrl((header(headers, "location") ?? "").trim(), url, Number.POSITIVE_INFINITY).url;
    const hops = [{ url, status, headers }];
    if (target !== undefined) {
      return { ...exchange, outcome: "known", url: withoutCredentials(target), hops, problems: [] };
    }
    const reason = problem("redirect-invalid", { value: header(headers, "location") ?? "none" });
    return { ...exchange, outcome: "failed", status, headers, reason };
  }
  if (status < 200 || status > 299) {
    const outcome = outcomeOf(status);
    return { ...exchange, outcome, status, headers, reason: problem(`http-${status}`, { status }) };
  }
  return found(
    url,
    status,
    headers,
    bodyOf(response, headers, skip(content, head.length), start.subarray(head.length)),
  );
}

function found(url: string, status: number, headers: HeaderList, body: Body): Fetched {
  return { outcome: "found", requestedUrl: url, url, status, headers, hops: [], attempts: 1, problems: [], body };
}

function bodyOf(response: ForeignResponse, headers: HeaderList, content: Extent, start: Uint8Array): Body {
  const problem = truncation(response.truncated);
  const coding = header(headers, "transfer-encoding");
  if (coding !== undefined && /\bchunked\b/i.test(coding) && beginsWithChunk(start)) {
    return new ChunkedBody(content, problem);
  }
  const announced = Number(header(headers, "content-length"));
  return new KeptBody([content], problem ?? (announced > content.length ? truncation("unspecified") : undefined));
}

class ChunkedBody implements Body {
  readonly #content: Extent;
  problem: Problem | undefined;

  constructor(content: Extent, problem: Problem | undefined) {
    this.#content = content;
    this.problem = problem;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    const end = yield* dechunk(readBlocks([this.#content]));
    if (end === "cut") this.problem ??= truncation("unspecified");
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function outcomeOf(status: number): FailureOutcome {
  if (status === 404 || status === 410) return "absent";
  return [401, 403, 407, 429, 451].includes(status) ? "blocked" : "failed";
}

/** https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-truncated */
function truncation(reason: string | undefined): Problem | undefined {
  if (reason === undefined) return undefined;
  return problem(reason.toLowerCase() === "disconnect" ? "body-reset" : "body-short");
}
