// An exchange without its body, as JSON. Checked when it is read, since an archive may come from anybody: only known
// fields of the right type are used.
import { SitemapError } from "../model/errors.ts";
import type { Body, Came, DocumentRole, Fetched, HeaderList, NotAsked } from "../model/exchange.ts";
import type { Problem } from "../model/problem.ts";
import { isHttpUrl, parseUrl, withoutCredentials } from "../model/url.ts";
import { archivedBodyProblem, archivedProblem } from "./archived-problem.ts";
import { parseJson, toJson } from "./json.ts";

type FieldName = KeysOf<Fetched> | keyof Body;
type KeysOf<T> = T extends unknown ? keyof T : never;
type Fields = { readonly [name in FieldName]?: unknown };
type BodyOf = (problem: Problem | undefined) => Body;

/** The exchange as bytes. User names and passwords are removed from every URL in it. */
export function describe(fetched: Fetched, bodyProblem: Problem | undefined): Uint8Array {
  const { came, ...rest } = fetched.outcome === "found" ? { ...fetched, answered: undefined } : fetched;
  const description = {
    ...rest,
    ...(came !== undefined && repeats.has(came) ? { came } : {}),
    ...(fetched.outcome === "found" && fetched.body.duration !== undefined ? { duration: fetched.body.duration } : {}),
    ...(fetched.outcome === "found" ? { body: bodyProblem === undefined ? {} : { problem: bodyProblem } } : {}),
  };
  return Buffer.from(toJson(clean(description)));
}

// The values of `came` that an archive may contain, besides `fetched`.
const repeats: ReadonlySet<unknown> = new Set<Came>(["not-modified", "same-payload", "not-asked"]);

/** Parses a description. `bodyOf` creates the body of a document, given its problem. */
export function revive(bytes: Uint8Array, bodyOf: BodyOf): Fetched {
  const fields = object(parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()));
  const outcome = string(fields.outcome);
  const asked = {
    url: url(fields.url),
    role: role(fields.role),
    ...(fields.anonymous === true ? { anonymous: true } : {}),
    ...given(
      "again",
      optional(fields.again, (value) => whole(value, 1, Number.MAX_SAFE_INTEGER)),
    ),
    attempts: whole(fields.attempts, 0, Number.MAX_SAFE_INTEGER),
    ...given("receivedAt", optional(fields.receivedAt, time)),
    ...given("firstByte", optional(fields.firstByte, milliseconds)),
    ...(repeats.has(fields.came) ? { came: fields.came as Came } : {}),
    ...(fields.notAsked === "guess" || fields.notAsked === "unchanged"
      ? { notAsked: fields.notAsked as NotAsked }
      : {}),
    ...given(
      "runsNotAsked",
      optional(fields.runsNotAsked, (value) => whole(value, 0, Number.MAX_SAFE_INTEGER)),
    ),
  };
  switch (outcome) {
    case "found": {
      const body = bodyOf(optional(object(fields.body).problem, (value) => archivedBodyProblem(value) ?? fail()));
      const duration = given("duration", optional(fields.duration, milliseconds));
      return { outcome, ...asked, status: status(fields.status), headers: headers(fields.headers), body, ...duration };
    }
    case "redirect":
      return { outcome, ...asked, status: status(fields.status), headers: headers(fields.headers) };
    case "absent":
    case "blocked":
    case "failed":
    case "refused": {
      const answered = optional(fields.status, status);
      const given = optional(fields.headers, headers);
      return {
        outcome,
        ...asked,
        ...(answered === undefined ? {} : { status: answered }),
        ...(given === undefined ? {} : { headers: given }),
        reason: problem(fields.reason),
      };
    }
    default:
      return fail();
  }
}

function role(value: unknown): DocumentRole {
  return value === "robots" || value === "sitemap" || value === "homepage" ? value : fail();
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

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function list<T>(value: unknown, read: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) fail();
  return value.map(read);
}

function object(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail();
  return value;
}

function string(value: unknown): string {
  if (typeof value !== "string") fail();
  return value;
}

// Of http or https, without user name and password.
function url(value: unknown): string {
  const text = string(value);
  return isHttpUrl(text) ? withoutCredentials(text) : fail();
}

function time(value: unknown): string {
  const text = string(value);
  return text.length < 40 && !Number.isNaN(Date.parse(text)) ? text : fail();
}

function milliseconds(value: unknown): number {
  return whole(value, 0, Number.MAX_SAFE_INTEGER);
}

// One field, if it has a value.
function given<Name extends string, Value>(name: Name, value: Value | undefined): { [name in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value };
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
