// An exchange in an archive of ours: its description, and the response with its document.
import type { Fetched } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { CheckedBody, type CheckedParts, type DigestCheck } from "./digest.ts";
import { readHttpHead } from "./http-block.ts";
import { type Extent, KeptBody, skip } from "./kept-body.ts";
import { readDescription } from "./saved-exchanges.ts";
import type { SavedRecord } from "./saved-record.ts";

export interface OwnExchange {
  readonly description: Extent;
  readonly response: OwnResponse | undefined;
  /** The description was edited, or the document that it describes is lost. */
  readonly isAltered: boolean;
  /** The value of WARC-Date. */
  readonly receivedAt: string | undefined;
  /** Why it is not whole, if a limit of ours or damage is the cause. */
  readonly cut: Problem | undefined;
  /** For how many runs in a row the website was not asked. */
  readonly runsNotAsked: number;
  /** The run that received it. */
  readonly run: string;
  /** It was asked again with new cookies: earlier answers of the run do not count. */
  readonly isAgain: boolean;
}

export interface OwnResponse {
  readonly record: SavedRecord;
  readonly content: Extent;
  readonly check: DigestCheck;
}

export async function readOwnExchange({ description, response, isAltered }: OwnExchange): Promise<Fetched> {
  if (response === undefined) {
    const fetched = await readDescription([description], (reason) => new KeptBody([], reason));
    if (!isAltered) return fetched;
    const { url, role, anonymous, attempts } = fetched;
    const asked = { url, role, ...(anonymous && { anonymous }), attempts };
    return { outcome: "failed", ...asked, reason: problem("archive-digest") };
  }
  const { content, record, check } = response;
  const parts = await partsOf(content);
  if (isAltered || parts === undefined) check.state = "bad";
  const { head, payload } = parts ?? { head: [], payload: [] };
  return readDescription([description], (reason) => {
    return new CheckedBody({ head, payload, problem: reason, record }, check);
  });
}

/** A limit of ours, or damage to the file: another run may get what is missing. */
export function cutOf(fetched: Fetched): Problem | undefined {
  const found = fetched.outcome === "found" ? fetched.body.problem : "reason" in fetched ? fetched.reason : undefined;
  return found !== undefined && ours.has(found.code) ? found : undefined;
}

const ours: ReadonlySet<string> = new Set([
  "limit-time",
  "limit-documents",
  "limit-bytes",
  "limit-document-bytes",
  "limit-robots-bytes",
  "archive-digest",
]);

// Undefined where the document cannot be told from its head: that is damaged, but the archive has others.
async function partsOf(response: Extent): Promise<Pick<CheckedParts, "head" | "payload"> | undefined> {
  const found = await readHttpHead(response);
  if (found === undefined || found === "damaged") return undefined;
  const { length } = found.head;
  return { head: [{ ...response, length }], payload: [skip(response, length)] };
}
