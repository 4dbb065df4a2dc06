// Exchanges as the network layer returns them, and what to compare of them.
import type { Body, FailedFetch, Fetched, FetchedDocument, FetchedRedirect } from "../../src/model/exchange.ts";
import { type Problem, problem } from "../../src/model/problem.ts";
import { listOf } from "../support/collected.ts";

/** A body that can be read once, in pieces, as from a socket. */
export function bodyOf(bytes: Uint8Array | string, options: { problem?: Problem; pieces?: number } = {}): Body {
  const whole = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const size = Math.max(1, Math.ceil(whole.length / (options.pieces ?? 3)));
  const end: Body["end"] = {};
  let used = false;
  return {
    end,
    async *[Symbol.asyncIterator]() {
      if (used) throw new Error("The body of a response can be read once");
      used = true;
      for (let from = 0; from < whole.length; from += size) yield whole.subarray(from, from + size);
      end.problem = options.problem;
    },
  };
}

/** When responses come, and after how long. */
const received = { receivedAt: "2026-05-31T10:00:00.000Z", firstByte: 120 } as const;

export function documentAt(
  url: string,
  body: Uint8Array | string,
  changes: Partial<FetchedDocument> = {},
): FetchedDocument {
  return {
    outcome: "found",
    url,
    role: "sitemap",
    status: 200,
    headers: [["content-type", "application/xml"]],
    attempts: 1,
    ...received,
    duration: 250,
    body: bodyOf(body),
    ...changes,
  };
}

export function failedAt(url: string, changes: Partial<FailedFetch> = {}): FailedFetch {
  return {
    outcome: "absent",
    url,
    role: "sitemap",
    status: 404,
    headers: [["content-type", "text/html"]],
    attempts: 1,
    ...received,
    reason: problem("http-404", { status: 404 }),
    ...changes,
  };
}

export function redirectAt(url: string, location: string, changes: Partial<FetchedRedirect> = {}): FetchedRedirect {
  const headers = [["location", location] as const];
  return { outcome: "redirect", url, role: "sitemap", status: 301, headers, attempts: 1, ...received, ...changes };
}

export async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await listOf(body));
}

/** Everything of an exchange that can be seen from outside, the body read to its end. */
export async function contentOf(fetched: Fetched): Promise<unknown> {
  if (fetched.outcome !== "found") return fetched;
  const bytes = await bytesOf(fetched.body);
  return { ...fetched, body: { bytes: bytes.toString("latin1"), problem: fetched.body.end.problem } };
}
