// Responses as other tools archive them, each on its own: what it means is worked out here, as it is for a website.
import { type Body, type Fetched, type FetchedDocument, type HeaderList, header } from "../exchange.ts";
import { type Problem, problem } from "../problem.ts";
import { failureOf, isRedirect } from "../status.ts";
import { parseUrl, withoutCredentials } from "../url.ts";
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

/** The answer that a response alone makes. `original` is what a `revisit` refers to. */
export async function readForeignResponse(
  response: ForeignResponse,
  original: Fetched | undefined,
): Promise<Fetched | undefined> {
  const { url, type, content } = response;
  if (type === "resource") {
    const headers: HeaderList = response.contentType === undefined ? [] : [["content-type", response.contentType]];
    return found(url, 200, headers, new KeptBody([content], truncation(response.truncated)));
  }
  const start = await content.file.read(content.offset, Math.min(content.length, maxHttpHead));
  const head = parseHttpHead(start);
  if (type === "revisit") {
    if (original?.outcome !== "found") return undefined;
    const { status, headers, body } = original;
    return found(url, status, head?.status === status ? head.headers : headers, body);
  }
  const asked = { url, role: "sitemap", attempts: 1 } as const;
  if (head === undefined) {
    return { outcome: "failed", ...asked, reason: problem("http-protocol", { value: "no head of a response" }) };
  }
  const { status, headers } = head;
  if (isRedirect(status)) return { outcome: "redirect", ...asked, status, headers };
  if (status < 200 || status > 299) return { ...asked, status, headers, ...failureOf(status, headers) };
  const body = bodyOf(response, headers, skip(content, head.length), start.subarray(head.length));
  return found(url, status, headers, body);
}

function found(url: string, status: number, headers: HeaderList, body: Body): FetchedDocument {
  return { outcome: "found", url, role: "sitemap", attempts: 1, status, headers, body };
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

/** https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-truncated */
function truncation(reason: string | undefined): Problem | undefined {
  if (reason === undefined) return undefined;
  return problem(reason.toLowerCase() === "disconnect" ? "body-reset" : "body-short");
}
