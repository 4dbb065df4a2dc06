// An exchange without its body, as JSON: what is written is checked when it is read, since an archive may come from anybody.
// Only known fields of the right type are taken over; anything else in the JSON is left behind.
import { SitemapError } from "../errors.ts";
import type { Body, Fetched, HeaderList, Hop } from "../exchange.ts";
import type { Problem } from "../problem.ts";
import { isHttpUrl, parseUrl, withoutCredentials } from "../url.ts";
import { archivedBodyProblem, archivedProblem } from "./archived-problem.ts";
import { parseJson, toJson } from "./json.ts";

type FieldName = KeysOf<Fetched> | keyof Hop | keyof Body;
type KeysOf<T> = T extends unknown ? keyof T : never;

/** The exchange as bytes. User names and passwords are left out of every URL in it. */
export function describe(fetched: Fetched, bodyProblem: Problem | undefined): Uint8Array {
  const description =
    fetched.outcome === "found"
      ? { ...fetched, body: bodyProblem === undefined ? {} : { problem: bodyProblem } }
      : fetched;
  return Buffer.from(toJson(clean(description)));
}

/** The exchange that was described; `bodyOf` makes the body of a document from what was wrong with it. */
export function revive(bytes: Uint8Array, bodyOf: (problem: Problem | undefined) => Body): Fetched {
  const fields = object(parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()));
  const outcome = string(fields.outcome);
  const base = {
    requestedUrl: url(fields.requestedUrl),
    url: url(fields.url),
    hops: list(fields.hops, hop),
    attempts: whole(fields.attempts, 0, Number.MAX_SAFE_INTEGER),
  };
  switch (outcome) {
    case "found":
      return {
        outcome,
        ...base,
        status: status(fields.status),
        headers: headers(fields.headers),
        problems: list(fields.problems, problem),
        body: bodyOf(optional(object(fields.body).problem, (value) => archivedBodyProblem(value) ?? fail())),
      };
    case "known":
      return { outcome, ...base, problems: list(fields.problems, problem) };
    case "absent":
    case "blocked":
    case "failed":
    case "refused": {
      const answered = optional(fields.status, status);
      const given = optional(fields.headers, headers);
      return {
        outcome,
        ...base,
        ...(answered === undefined ? {} : { status: answered }),
        ...(given === undefined ? {} : { headers: given }),
        reason: problem(fields.reason),
      };
    }
    default:
      return fail();
  }
}

function hop(value: unknown): Hop {
  const fields = object(value);
  return { url: url(fields.url), status: status(fields.status), headers: headers(fields.headers) };
}

function headers(value: unknown): HeaderList {
  return list(value, (pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) fail();
    return [string(pair[0]), string(pair[1])] as const;
  });
}

function problem(value: unknown): Problem {
  return archivedProblem(value) ?? fail();
}

/** Texts may name a URL anywhere: a Location, a Link header, the sentence of a problem. */
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

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function list<T>(value: unknown, read: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) fail();
  return value.map(read);
}

function object(value: unknown): { readonly [name in FieldName]?: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail();
  return value;
}

function string(value: unknown): string {
  if (typeof value !== "string") fail();
  return value;
}

/** Of http or https; nothing that is kept knows user names and passwords. */
function url(value: unknown): string {
  const text = string(value);
  return isHttpUrl(text) ? withoutCredentials(text) : fail();
}

function status(value: unknown): number {
  return whole(value, 100, 999);
}

function whole(value: unknown, least: number, most: number): number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most ? Number(value) : fail();
}

function fail(): never {
  throw new SitemapError("invalid-archive", "it is damaged: the description of an exchange cannot be read");
}
