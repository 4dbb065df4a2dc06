// What a client answers, checked. A client may be the caller's own: a mistake in it is a problem that says what is wrong.
import { isUint8Array } from "node:util/types";
import type { Client, ClientRequest, ClientResponse } from "../model/client.ts";
import type { HeaderList } from "../model/exchange.ts";
import { completed, type Problem, problem } from "../model/problem.ts";
import { problemOf } from "./failure.ts";

export interface Head {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: AsyncIterator<Uint8Array>;
}

/** Never rejects. */
export async function ask(client: Client, request: ClientRequest): Promise<Head | Problem> {
  try {
    const answer: unknown = await client.request(request);
    if (typeof answer !== "object" || answer === null) return failed("it answered with no response");
    if ("code" in answer) return completed(answer);
    const { status, headers, body, decoded } = answer as Partial<ClientResponse>;
    if (!isStatus(status)) return failed("the response lacks a status");
    const list = headerList(headers, decoded === true);
    if (list === undefined) return failed("the response lacks headers, or one is not text");
    const bytes = bytesOf(body);
    if (bytes === undefined) return failed("the response lacks a body of bytes");
    return { status, headers: list, body: bytes };
  } catch (error) {
    return problemOf(error, "head");
  }
}

function failed(value: string): Problem {
  return problem("client-failed", { value });
}

function isStatus(status: unknown): status is number {
  return typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 999;
}

// Names in lower case. Two headers describe the bytes before decoding.
function headerList(given: unknown, isDecoded: boolean): HeaderList | undefined {
  const pairs = pairsOf(given);
  if (pairs === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const pair of pairs) {
    if (!Array.isArray(pair) || typeof pair[0] !== "string" || typeof pair[1] !== "string") return undefined;
    const name = pair[0].toLowerCase();
    if (!isDecoded || (name !== "content-encoding" && name !== "content-length")) headers.push([name, pair[1]]);
  }
  return headers;
}

function pairsOf(given: unknown): Iterable<unknown> | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  if (Symbol.iterator in given) return given as Iterable<unknown>;
  return Object.entries(given).flatMap(([name, values]) =>
    values === undefined ? [] : [values].flat().map((value: unknown) => [name, value]),
  );
}

function bytesOf(body: unknown): AsyncIterator<Uint8Array> | undefined {
  if (body === null) return chunks([]);
  if (isUint8Array(body)) return chunks([body]);
  const isStream =
    typeof (body as Partial<AsyncIterable<Uint8Array>> | undefined)?.[Symbol.asyncIterator] === "function";
  return isStream ? (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]() : undefined;
}

async function* chunks(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}
