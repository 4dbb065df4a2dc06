// Defines what is stored of a response. An exchange is a `response` record, if there was a response, then a `metadata`
// record that describes it: if that is there, the exchange is complete.
//   https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
// Deviation: bodies are stored without their transfer coding and the headers about it, so that every tool finds the payload. The original
// headers are in the description: the exchange without its body, as JSON, which is checked when read.
import { STATUS_CODES } from "node:http";
import { SitemapError } from "../model/errors.ts";
import type { Body, Came, DocumentRole, Fetched, HeaderList, NotAsked } from "../model/exchange.ts";
import { hasNoResponse, isRefused, type Problem, problemFrom } from "../model/problem.ts";
import { isHttpUrl, parseUrl, withoutCredentials } from "../model/url.ts";
import { type Block, keptBody, lengthOf } from "../storage/file.ts";
import { isObject, parseJson } from "./info.ts";
import type { RecordSource } from "./records.ts";
import { digestOf, type Field, newId, ownFields, type RecordHead, sealed, type WarcRecord } from "./warc.ts";

type BodyOf = (problem: Problem | undefined) => Body;

/** The exchange as bytes. User names and passwords are removed from every URL in it. */
export function describe(fetched: Fetched, bodyProblem: Problem | undefined): Uint8Array {
  const { came, ...rest } = fetched.outcome === "found" ? { ...fetched, answered: undefined } : fetched;
  const description = {
    ...rest,
    ...(came !== undefined && repeats.has(came) ? { came } : {}),
    ...(fetched.outcome === "found" ? { body: bodyProblem === undefined ? {} : { problem: bodyProblem } } : {}),
  };
  return Buffer.from(JSON.stringify(clean(description)));
}

// The values of `came` that an archive may contain, besides `fetched`.
const repeats: ReadonlySet<unknown> = new Set<Came>(["not-modified", "same-payload", "not-asked"]);

/** Parses a description. `bodyOf` creates the body of a document, given its problem; without it, there is an empty one. */
export function revive(bytes: Uint8Array, bodyOf: BodyOf = (reason) => keptBody([], reason)): Fetched {
  const parsed = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  if (!isObject(parsed)) fail();
  const { outcome, url, body } = parsed;
  for (const [name, isValid] of Object.entries(fieldChecks)) {
    if (!isValid(parsed[name]) && (parsed[name] !== undefined || requiredFields.has(name))) fail();
  }
  const known = Object.keys(fieldChecks).filter((name) => parsed[name] !== undefined);
  const asked = {
    ...(Object.fromEntries(known.map((name) => [name, parsed[name]])) as Pick<Fetched, "role" | "attempts">),
    url: withoutCredentials(url as string),
    ...(parsed["anonymous"] === true ? { anonymous: true } : {}),
    ...(repeats.has(parsed["came"]) ? { came: parsed["came"] as Came } : {}),
    ...(reasonsNotToAsk.has(parsed["notAsked"]) ? { notAsked: parsed["notAsked"] as NotAsked } : {}),
  };
  const { status, headers } = parsed as { status?: number; headers?: HeaderList };
  switch (outcome) {
    case "found":
    case "redirect": {
      if (status === undefined || headers === undefined) fail();
      if (outcome === "redirect") return { outcome, ...asked, status, headers };
      if (!isObject(body)) fail();
      const reason = body["problem"] === undefined ? undefined : (problemFrom(body["problem"]) ?? fail());
      return { outcome, ...asked, status, headers, body: bodyOf(reason) };
    }
    case "absent":
    case "blocked":
    case "failed":
    case "refused":
      return { outcome, ...asked, reason: problemFrom(parsed["reason"]) ?? fail() };
    default:
      return fail();
  }
}

const roles: ReadonlySet<unknown> = new Set<DocumentRole>(["robots", "sitemap", "homepage"]);
const reasonsNotToAsk: ReadonlySet<unknown> = new Set<NotAsked>(["guess", "unchanged"]);
const requiredFields: ReadonlySet<string> = new Set(["url", "role", "attempts"]);
const fieldChecks: Readonly<Record<string, (value: unknown) => boolean>> = {
  url: (value) => typeof value === "string" && isHttpUrl(value),
  role: (value) => roles.has(value),
  again: (value) => isWhole(value, 1),
  attempts: (value) => isWhole(value),
  receivedAt: (value) => typeof value === "string" && value.length < 40 && !Number.isNaN(Date.parse(value)),
  firstByte: (value) => isWhole(value),
  duration: (value) => isWhole(value),
  status: (value) => isWhole(value, 100, 999),
  headers: (value) => Array.isArray(value) && value.every(isHeader),
};

function isHeader(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === "string");
}

function isWhole(value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

function fail(): never {
  throw new SitemapError("invalid-archive", "it is damaged: the description of an exchange cannot be read");
}

/** Why another run may get more: one of our limits or settings, no connection, or damage; not an error that the website sent. */
export function cutOf(fetched: Fetched): Problem | undefined {
  const found =
    fetched.outcome === "found" ? fetched.body.end.problem : "reason" in fetched ? fetched.reason : undefined;
  if (found === undefined) return undefined;
  const { code } = found;
  return cutCodes.has(code) || isRefused(code) || hasNoResponse(code) ? found : undefined;
}

const cutCodes: ReadonlySet<string> = new Set([
  "limit-time",
  "limit-documents",
  "limit-bytes",
  "limit-document-bytes",
  "limit-robots-bytes",
  "timeout-idle",
  "rate-limited",
  "client-failed",
  "archive-digest",
]);

// Texts may contain a URL anywhere: a Location, a Link header, the message of a problem.
function clean(value: unknown): unknown {
  if (typeof value === "string") return value.includes("@") ? cleanText(value) : value;
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clean(item)]));
}

function cleanText(text: string): string {
  if (parseUrl(text) !== null) return withoutCredentials(text);
  return text.replace(/(\bhttps?:\/\/|^\/\/)[^\s/?#@"<>]*@/gi, "$1");
}

// Readers limit the length of a head. What does not fit is in the description.
const maxUri = 16 * 1024;
const maxHeaders = 64 * 1024;

/** The records of one exchange, the last of which is its description. */
export async function exchangeRecords(
  infoId: string,
  fetched: Fetched,
  description: Uint8Array,
  body: readonly Block[],
): Promise<WarcRecord[]> {
  const { url, receivedAt, status } = fetched;
  if (status === undefined) return [await metadata(infoId, url, description, undefined, receivedAt)];
  const isDocument = fetched.outcome === "found";
  const headers = fetched.headers ?? [];
  const id = newId();
  const response: WarcRecord = {
    fields: [
      ...httpFields("response", id, infoId, url, receivedAt),
      ...(isDocument ? [["WARC-Payload-Digest", await digestOf(body)] as const] : unread(headers)),
      ...(isDocument ? truncated(fetched.body.end.problem) : []),
    ],
    content: [httpHead(status, headers, lengthOf(body)), ...body],
  };
  // The payload of a document has its own digest, and is most of the content.
  return [isDocument ? response : await sealed(response), await metadata(infoId, url, description, id, receivedAt)];
}

function httpFields(type: "response" | "revisit", id: string, infoId: string, url: string, date?: string): Field[] {
  return [...ownFields(type, id, "application/http; msgtype=response", date), ...about(infoId, url)];
}

function metadata(infoId: string, url: string, description: Uint8Array, concurrentTo?: string, date?: string) {
  const fields = [...ownFields("metadata", newId(), "application/json", date), ...about(infoId, url)];
  if (concurrentTo !== undefined) fields.push(["WARC-Concurrent-To", concurrentTo]);
  return sealed({ fields, content: [description] });
}

function about(infoId: string, url: string): Field[] {
  return [
    ["WARC-Warcinfo-ID", infoId],
    ["WARC-Target-URI", targetUri(url)],
  ];
}

/** Where a document of an earlier archive is, why it is reused, and the website's response this time, if there was a request. */
export interface Repetition {
  readonly source: RecordSource;
  readonly bytes: number | undefined;
  readonly came: "not-modified" | "same-payload" | "not-asked";
  readonly answered?: { readonly status: number; readonly headers: HeaderList } | undefined;
}

/** Follow a response copied from an earlier archive: a `revisit` with the new response, if there was a request, and the description. */
export async function repetitionRecords(
  infoId: string,
  { url }: Fetched,
  description: Uint8Array,
  original: RecordHead,
  { came, answered }: Repetition,
): Promise<WarcRecord[]> {
  const [id = "", date = "", payloadDigest = ""] = originalFields.map((name) => original.fields.get(name));
  const described = await metadata(infoId, url, description, id);
  if (answered === undefined) return [described];
  const profile = came === "not-modified" ? "server-not-modified" : "identical-payload-digest";
  const fields: Field[] = [
    ...httpFields("revisit", newId(), infoId, url),
    ["WARC-Profile", `http://netpreserve.org/warc/1.1/revisit/${profile}`],
    ["WARC-Refers-To", id],
    ["WARC-Refers-To-Target-URI", targetUri(url)],
  ];
  if (date !== "") fields.push(["WARC-Refers-To-Date", date]);
  if (payloadDigest !== "") fields.push(["WARC-Payload-Digest", payloadDigest]);
  const revisit = { fields, content: [httpHead(answered.status, answered.headers, 0)] };
  return [await sealed(revisit), described];
}

const originalFields = ["warc-record-id", "warc-date", "warc-payload-digest"];

/** Without spaces and line ends, whatever the website sent. */
function targetUri(url: string): string {
  const uri = parseUrl(url)?.href ?? encodeURI(Buffer.from(url).toString());
  return uri.slice(0, maxUri);
}

function httpHead(status: number, headers: HeaderList, bodyLength: number): Uint8Array {
  let room = maxHeaders;
  const lines = headers
    .filter(([name, value]) => isTrue(name, value, bodyLength))
    .map(([name, value]) => `${name}: ${value.replace(/[\r\n\0]/g, " ").replace(/[^\0-\xff]/g, "?")}\r\n`)
    .filter((line) => (room -= line.length) >= 0);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`, "latin1");
}

function isTrue(name: string, value: string, bodyLength: number): boolean {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || name === "transfer-encoding") return false;
  return name !== "content-length" || value === String(bodyLength);
}

/** The bodies of redirects and errors are not read. */
function unread(headers: HeaderList): readonly Field[] {
  const empty = headers.some(([name, value]) => name === "content-length" && value === "0");
  return empty ? [] : [["WARC-Truncated", "unspecified"]];
}

function truncated(problem: Problem | undefined): readonly Field[] {
  if (problem === undefined) return [];
  const { code } = problem;
  if (code === "limit-document-bytes" || code === "limit-robots-bytes") return [["WARC-Truncated", "length"]];
  return [["WARC-Truncated", code.startsWith("timeout-") ? "time" : "disconnect"]];
}
