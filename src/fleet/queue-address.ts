// The address of a queue: its URL, and the password from the environment. A password in a URL is refused: other users
// of a machine see command lines, and logs keep them.
import { invalid, readable, unexpected, urlText } from "../model/option-checks.ts";

export interface QueueAddress {
  readonly host: string;
  readonly port: number;
  /** The number of a Redis database. */
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly isEncrypted: boolean;
  /** For messages: without a password. */
  readonly shown: string;
}

/** Throws a `SitemapError` (`invalid-option`) with one sentence. */
export function queueAddress(given: string | URL, environment: NodeJS.ProcessEnv = process.env): QueueAddress {
  const text = readable("url", () => urlText(given));
  if (typeof text !== "string") throw unexpected("url", "the URL of a queue", given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol))
    throw invalid(`A queue is redis://HOST/0 or rediss://HOST/0, not ${withoutPassword(text)}`);
  if (url.password !== "")
    throw invalid("A password in the URL of the queue can be seen by others: put it into SITEGROVE_QUEUE_PASSWORD");
  if (url.search !== "" || url.hash !== "") throw invalid(`The URL of the queue has nothing after ${url.pathname}`);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!/^\d{0,4}$/.test(database)) throw invalid(`A Redis database is a number, as in redis://HOST/0, not ${database}`);
  const { hostname } = url;
  const named = passwordVariables.find((name) => environment[name] !== undefined && environment[name] !== "");
  return {
    // Without the brackets of an IPv6 address.
    host: hostname === "" ? "127.0.0.1" : hostname.replaceAll(/^\[|\]$/g, ""),
    port: url.port === "" ? 6379 : Number(url.port),
    database: database || "0",
    user: url.username === "" ? (environment["SITEGROVE_QUEUE_USER"] ?? undefined) : decodeURIComponent(url.username),
    password: named === undefined ? undefined : environment[named],
    isEncrypted: url.protocol === "rediss:",
    shown: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

// Ours first; then those that the server's own programs read.
const passwordVariables = ["SITEGROVE_QUEUE_PASSWORD", "REDISCLI_AUTH", "REDIS_PASSWORD"];

function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, "//").slice(0, 100);
}
