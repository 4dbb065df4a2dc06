// An exchange without its body, as JSON: what is written is checked when it is read, since an archive may come from anybody.
// Only known fields of the right type are taken over; anything else in the JSON is left behind.
import { SitemapError } from "../errors.ts";
import type { Body, Fetched, HeaderList, Hop } from "../exchange.ts";
import type { Problem } from "../problem.ts";
import { parseUrl, withoutCredentials } from "../url.ts";
import { parseJson, toJson } from "./json.ts";

type FieldName = KeysOf<Fetched> | keyof Hop | keyof Problem | keyof Body;
type KeysOf<T> = T extends unknown ? keyof T : never;

const facts = ["line", "value", "count", "limit", "status", "retryAfter"] as const;

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
    requestedUrl: string(fields.requestedUrl),
    url: string(fields.url),
    hops: list(fields.hops, hop),
    attempts: number(fields.attempts),
  };
  switch (outcome) {
    case "found":
      return {
        outcome,
        ...base,
        status: number(fields.status),
        headers: headers(fields.headers),
        problems: list(fields.problems, problem),
        body: bodyOf(optional(object(fields.body).problem, problem)),
      };
    case "known":
      return { outcome, ...base, problems: list(fields.problems, problem) };
    case "absent":
    case "blocked":
    case "failed":
    case "refused": {
      const status = optional(fields.status, number);
      const given = optional(fields.headers, headers);
      return {
        outcome,
        ...base,
        ...(status === undefined ? {} : { status }),
        ...(given === undefined ? {} : { headers: given }),
        reason: problem(fields.reason),
      };
    }
    default:
      throw unexpected();
  }
}

function hop(value: unknown): Hop {
  const fields = object(value);
  return { url: string(fields.url), status: number(fields.status), headers: headers(fields.headers) };
}

function headers(value: unknown): HeaderList {
  return list(value, (pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw unexpected();
    return [string(pair[0]), string(pair[1])] as const;
  });
}

function problem(value: unknown): Problem {
  const fields = object(value);
  const known: Record<string, string | number> = {};
  for (const name of facts) {
    const fact = fields[name];
    if (fact !== undefined) known[name] = name === "value" || name === "retryAfter" ? string(fact) : number(fact);
  }
  // A code that a later version added is still a code.
  return { code: string(fields.code) as Problem["code"], message: string(fields.message), ...known };
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
  if (!Array.isArray(value)) throw unexpected();
  return value.map(read);
}

function object(value: unknown): { readonly [name in FieldName]?: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unexpected();
  return value;
}

function string(value: unknown): string {
  if (typeof value !== "string") throw unexpected();
  return value;
}

function number(value: unknown): number {
  if (typeof value !== "number") throw unexpected();
  return value;
}

function unexpected(): SitemapError {
  return new SitemapError("invalid-archive", "it is damaged: the description of an exchange cannot be read");
}
