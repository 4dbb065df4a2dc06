// The messages for a website without a sitemap: it could not be reached, it blocks us, or which places were tried.
import type { DiscoveryRecord, UnreachableWebsite } from "../model/event.ts";
import { messageWithHint, type Problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";

/** Why nothing could be read from a website, in one sentence. */
export function unreachableReason(homepage: string, { outcome, reason, documents }: UnreachableWebsite): string {
  const host = parseUrl(homepage)?.host ?? homepage;
  // Most of what was wanted was not even asked for.
  if (reason.code === "rate-limited") return `${host} limits requests: ${startingSmall(reason.message)}`;
  if (reason.code === "http-401") return `Login required: ${host} answers 401, pass it in the URL or by --header`;
  if (outcome === "blocked") return `${host} blocks automated requests: ${documents} of ${documents} were refused`;
  const why = startingSmall(messageWithHint(reason));
  return isConnection.test(reason.code)
    ? `Could not connect to ${host}: ${why}`
    : `Nothing could be read from ${host}: ${why}`;
}

/** The places that were tried and their answers, one line for each kind of answer. */
export function placesTried(discovery: readonly DiscoveryRecord[]): string[] {
  const groups = new Map<string, { first: DiscoveryRecord; count: number; answer: string }>();
  for (const record of discovery) {
    const answer = answerInWords(record);
    const key = `${record.by} ${answer}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: record, count: 1, answer });
    else group.count += 1;
  }
  const lines = [...groups.values()].map(({ first, count, answer }) =>
    count === 1 ? `${first.url}: ${answer}` : `${first.url} and ${count - 1} more: ${answer}`,
  );
  return lines.length <= mostLines ? lines : [...lines.slice(0, mostLines), `and ${lines.length - mostLines} more`];
}

/** The limit of ours that ended the search, if one did. */
export function limitReached(discovery: readonly DiscoveryRecord[]): Problem | undefined {
  return discovery.find(({ reason }) => isLimit(reason))?.reason;
}

function isLimit(reason: Problem | undefined): boolean {
  return reason?.code.startsWith("limit-") ?? false;
}

function answerInWords({ outcome, reason, status, sameAs }: DiscoveryRecord): string {
  if (sameAs !== undefined) return `same as ${sameAs}`;
  if (reason !== undefined) return startingSmall(reason.message);
  if (outcome === "absent") return `not found${status === undefined ? "" : ` (${status})`}`;
  return outcome === "not-a-sitemap" ? "not a sitemap" : outcome;
}

// Abbreviations such as TLS or HTTP stay in upper case.
function startingSmall(sentence: string): string {
  return /^[A-Z][a-z]/.test(sentence) ? `${sentence[0]?.toLowerCase()}${sentence.slice(1)}` : sentence;
}

const isConnection = /^(dns|connection|proxy|tls)-|^timeout-(connect|tls)$/;
const mostLines = 10;
