// The description of an exchange in an archive, as JSON: the request, the response without its body, and what went wrong. It is checked
// when read, because archives are not trusted.
import { SitemapError } from "../model/errors.ts";
import type { Body, DocumentRole, Fetched, HeaderList } from "../model/exchange.ts";
import { isJsonObject } from "../model/json.ts";
import { hasNoResponse, isCutOff, isRefused, type Problem, problemFrom } from "../model/problem.ts";
import { isHttpUrl, parseUrl, withoutCredentials } from "../model/url.ts";
import { parseJson } from "./info.ts";

/** The content type of a description. */
export const descriptionType = "application/json";

type BodyOf = (problem: Problem | undefined) => Body;

/** Returns the part of an exchange that is stored. User names and passwords are removed from the URLs in it. */
export function exchangeToJson({ obtained, ...fetched }: Fetched, bodyProblem: Problem | undefined): Fetched {
  const body = bodyProblem === undefined ? {} : { problem: bodyProblem };
  // `not-modified` is kept, because such documents do not count toward byte limits when the archive is read again.
  const reused = obtained === "not-modified" ? { obtained } : {};
  return clean({ ...fetched, ...reused, ...(fetched.outcome === "found" && { body }) }) as Fetched;
}

/** Parses a description. `bodyOf` creates the body of a document, given its problem; by default, the body is empty. */
export function exchangeFromJson(bytes: Uint8Array, bodyOf: BodyOf = emptyBody): Fetched {
  const parsed = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  if (!isJsonObject(parsed)) fail();
  const { outcome, url, body } = parsed;
  for (const [name, isValid] of Object.entries(fieldChecks)) {
    if (!isValid(parsed[name]) && (parsed[name] !== undefined || requiredFields.has(name))) fail();
  }
  const known = Object.keys(fieldChecks).filter((name) => parsed[name] !== undefined);
  const asked = {
    ...(Object.fromEntries(known.map((name) => [name, parsed[name]])) as Pick<Fetched, "role" | "attempts">),
    url: withoutCredentials(url as string),
    ...(parsed["anonymous"] === true ? { anonymous: true } : {}),
    ...(parsed["obtained"] === "not-modified" ? { obtained: "not-modified" as const } : {}),
  };
  const { status, headers } = parsed as { status?: number; headers?: HeaderList };
  switch (outcome) {
    case "found":
    case "redirect": {
      if (status === undefined || headers === undefined) fail();
      if (outcome === "redirect") return { outcome, ...asked, status, headers };
      if (!isJsonObject(body)) fail();
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

function emptyBody(problem: Problem | undefined): Body {
  return { end: { problem }, async *[Symbol.asyncIterator]() {} };
}

const roles: ReadonlySet<unknown> = new Set<DocumentRole>(["robots", "sitemap", "homepage"]);
const requiredFields: ReadonlySet<string> = new Set(["url", "role", "attempts"]);
const fieldChecks: Readonly<Record<string, (value: unknown) => boolean>> = {
  url: (value) => typeof value === "string" && isHttpUrl(value),
  role: (value) => roles.has(value),
  again: (value) => isWhole(value, 1),
  attempts: (value) => isWhole(value),
  receivedAt: isTime,
  revalidatedAt: isTime,
  firstByte: (value) => isWhole(value),
  duration: (value) => isWhole(value),
  status: (value) => isWhole(value, 100, 999),
  headers: (value) => Array.isArray(value) && value.every(isHeader),
};

function isHeader(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === "string");
}

function isTime(value: unknown): boolean {
  return typeof value === "string" && value.length < 40 && !Number.isNaN(Date.parse(value));
}

function isWhole(value: unknown, least = 0, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

function fail(): never {
  throw new SitemapError("invalid-archive", "it is damaged: the description of an exchange cannot be read");
}

/** Returns why another run may get more: a limit or setting, a rate limit, a failed connection, or damage. Other errors do not count. */
export function cutOf(fetched: Fetched): Problem | undefined {
  const found =
    fetched.outcome === "found" ? fetched.body.end.problem : "reason" in fetched ? fetched.reason : undefined;
  if (found === undefined) return undefined;
  const { code } = found;
  const mayChange = isCutOff(code) || hasNoResponse(code) || isRefused(code) || otherCuts.has(code);
  return mayChange ? found : undefined;
}

const otherCuts: ReadonlySet<string> = new Set(["limit-sitemaps", "limit-bytes", "rate-limited", "archive-digest"]);

// Removes credentials from all texts, because a URL may be anywhere: in a Location or Link header, or in the message of a problem.
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
