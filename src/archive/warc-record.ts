// The records of an archive, as they are written: WARC 1.1, https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
//   A `warcinfo` record says what the archive is about. An exchange is a `response` record, where there was a response, and
//   then a `metadata` record, which describes it: a reader that finds it knows that the exchange is whole. A last `metadata`
//   record says that the crawl ran to its end.
// Deviation: the body of a response is kept without its transfer coding, and `transfer-encoding` and a `content-length` that
// is not true are left out of its head, so that every tool finds the payload where HTTP says it is. The headers as they
// came are in the description.
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Fetched, HeaderList } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";
import { version } from "../model/version.ts";
import type { ArchiveInfo } from "./contract.ts";
import { digestOf } from "./digest.ts";
import { infoToJson } from "./info.ts";
import { type Block, lengthOf, readBlocks } from "./kept-body.ts";
import { endToJson, type RunEnd } from "./readings.ts";
import type { Entry, Repetition } from "./saved-exchanges.ts";

export interface WarcRecord {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly content: readonly Block[];
}

/** The records of one exchange; the last is its description. */
export interface ExchangeRecords {
  readonly records: readonly WarcRecord[];
  /** Which record holds the body of the document, and how many bytes of head come before it. */
  readonly body: { readonly index: number; readonly headLength: number } | undefined;
}

const crlf = "\r\n";

// No reader takes a head of any length. What does not fit is in the description, letter for letter.
const maxUri = 16 * 1024;
const maxHeaders = 64 * 1024;

/** `resumes`: the id of the record of the run that this one goes on with. */
export async function infoRecord(
  info: ArchiveInfo,
  resumes?: string,
): Promise<{ readonly id: string; readonly record: WarcRecord }> {
  const id = newId();
  const fields = [
    `software: sitegrove/${version}`,
    "format: WARC File Format 1.1",
    "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    `sitegrove: ${infoToJson(info, resumes)}`,
  ];
  const content = [Buffer.from(fields.map((line) => line + crlf).join(""))];
  return { id, record: await sealed({ fields: head("warcinfo", id, "application/warc-fields"), content }) };
}

/** `fetched` is what the description says. */
export async function exchangeRecords(
  infoId: string,
  fetched: Fetched,
  { description, body, digest }: Pick<Entry, "description" | "body" | "digest">,
): Promise<ExchangeRecords> {
  const own = (type: string, id: string, contentType: string, url: string) =>
    [
      ...head(type, id, contentType, fetched.receivedAt),
      ["WARC-Warcinfo-ID", infoId],
      ["WARC-Target-URI", targetUri(url)],
    ] as const;
  const { url } = fetched;
  const metadata = (about: readonly (readonly [string, string])[]): Promise<WarcRecord> =>
    sealed({ fields: [...own("metadata", newId(), "application/json", url), ...about], content: description });
  if (fetched.status === undefined) return { records: [await metadata([])], body: undefined };
  const isDocument = fetched.outcome === "found";
  const headers = fetched.headers ?? [];
  const httpBlock = httpHead(fetched.status, headers, isDocument ? lengthOf(body) : 0);
  const id = newId();
  const response: WarcRecord = {
    fields: [
      ...own("response", id, "application/http; msgtype=response", url),
      // Where the file of an earlier run was changed, the digest shows it.
      ...(isDocument ? [["WARC-Payload-Digest", digest ?? (await digestOf(body))] as const] : unread(headers)),
      ...(isDocument ? truncated(fetched.body.problem) : []),
    ],
    content: isDocument ? [httpBlock, ...body] : [httpBlock],
  };
  const records = [isDocument ? response : await sealed(response), await metadata([["WARC-Concurrent-To", id]])];
  return { records, body: isDocument ? { index: 0, headLength: httpBlock.length } : undefined };
}

/**
 * Beside a response that was copied from an earlier archive: a `revisit` with the head of what came now, where the website was asked,
 * and the description.
 * https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#revisit
 */
export async function repetitionRecords(
  infoId: string,
  { url }: Fetched,
  description: readonly Block[],
  { came, record, answered }: Repetition,
): Promise<WarcRecord[]> {
  const profile = came === "not-modified" ? "server-not-modified" : "identical-payload-digest";
  const about = [
    ["WARC-Warcinfo-ID", infoId],
    ["WARC-Target-URI", targetUri(url)],
  ] as const;
  const metadata: WarcRecord = {
    fields: [...head("metadata", newId(), "application/json"), ...about, ["WARC-Concurrent-To", record.id]],
    content: description,
  };
  if (answered === undefined) return [await sealed(metadata)];
  const revisit: WarcRecord = {
    fields: [
      ...head("revisit", newId(), "application/http; msgtype=response"),
      ...about,
      ["WARC-Profile", `http://netpreserve.org/warc/1.1/revisit/${profile}`],
      ["WARC-Refers-To", record.id],
      ["WARC-Refers-To-Target-URI", targetUri(url)],
      ...(record.date === "" ? [] : [["WARC-Refers-To-Date", record.date] as const]),
      ...(record.payloadDigest === "" ? [] : [["WARC-Payload-Digest", record.payloadDigest] as const]),
    ],
    content: [httpHead(answered.status, answered.headers, 0)],
  };
  return [await sealed(revisit), await sealed(metadata)];
}

/** A description of ours without a URL: nothing comes after it. */
export function endRecord(infoId: string, end: RunEnd): Promise<WarcRecord> {
  const about = [
    ["WARC-Warcinfo-ID", infoId],
    ["WARC-Refers-To", infoId],
  ] as const;
  const content = [Buffer.from(endToJson(end))];
  return sealed({ fields: [...head("metadata", newId(), "application/json"), ...about], content });
}

/** With a digest of its content. The payload of a document has one of its own, and is the most that there is. */
async function sealed({ fields, content }: WarcRecord): Promise<WarcRecord> {
  return { fields: [...fields, ["WARC-Block-Digest", await digestOf(content)]], content };
}

/** The bytes of a record, in pieces. */
export async function* serialize({ fields, content }: WarcRecord): AsyncGenerator<Uint8Array, undefined> {
  const lines = [...fields, ["Content-Length", String(lengthOf(content))] as const];
  yield Buffer.from(`WARC/1.1${crlf}${lines.map(([name, value]) => `${name}: ${value}${crlf}`).join("")}${crlf}`);
  yield* readBlocks(content);
  yield Buffer.from(crlf + crlf);
}

// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-date-mandatory: "the instant that data
// capture for record creation began"
function head(
  type: string,
  id: string,
  contentType: string,
  date: string = new Date().toISOString(),
): readonly (readonly [string, string])[] {
  return [
    ["WARC-Type", type],
    ["WARC-Record-ID", id],
    ["WARC-Date", date],
    ["Content-Type", contentType],
  ];
}

function newId(): string {
  return `<urn:uuid:${randomUUID()}>`;
}

/** Never a space or a line end, whatever the website wrote. */
function targetUri(url: string): string {
  const uri = parseUrl(url)?.href ?? encodeURI(Buffer.from(url).toString());
  return uri.slice(0, maxUri);
}

function httpHead(status: number, headers: HeaderList, bodyLength: number): Uint8Array {
  let room = maxHeaders;
  const lines = headers
    .filter(([name, value]) => isTrue(name, value, bodyLength))
    .map(([name, value]) => `${name}: ${value.replace(/[\r\n\0]/g, " ").replace(/[^\0-\xff]/g, "?")}${crlf}`)
    .filter((line) => (room -= line.length) >= 0);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}${crlf}${lines.join("")}${crlf}`, "latin1");
}

function isTrue(name: string, value: string, bodyLength: number): boolean {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || name === "transfer-encoding") return false;
  return name !== "content-length" || value === String(bodyLength);
}

/** The bodies of redirects and errors are not read. */
function unread(headers: HeaderList): readonly (readonly [string, string])[] {
  const empty = headers.some(([name, value]) => name === "content-length" && value === "0");
  return empty ? [] : [["WARC-Truncated", "unspecified"]];
}

function truncated(problem: Problem | undefined): readonly (readonly [string, string])[] {
  if (problem === undefined) return [];
  const { code } = problem;
  if (code === "limit-document-bytes" || code === "limit-robots-bytes") return [["WARC-Truncated", "length"]];
  return [["WARC-Truncated", code.startsWith("timeout-") ? "time" : "disconnect"]];
}
