// The address of a queue: its URL, and the password from the environment. A password in a URL is refused: other users
// of a machine see command lines, and logs keep them.
import { invalid, readable, unexpected, urlText } from "../model/option-checks.ts";

export interface QueueAddress {
  readonly kind: "redis" | "postgres";
  readonly host: string;
  readonly port: number;
  /** The number of a Redis database, or the name of a PostgreSQL one. */
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
  const scheme = url === undefined ? undefined : schemes[url.protocol];
  if (url === undefined || scheme === undefined)
    throw invalid(
      `A queue is redis://HOST/0, rediss://HOST/0 or postgres://HOST/DATABASE, not ${withoutPassword(text)}`,
    );
  if (url.password !== "")
    throw invalid("A password in the URL of the queue can be seen by others: put it into SITEGROVE_QUEUE_PASSWORD");
  if (url.search !== "" || url.hash !== "") throw invalid(`The URL of the queue has nothing after ${url.pathname}`);
  const { kind, port, isEncrypted } = scheme;
  const database = decodeURIComponent(url.pathname.slice(1));
  if (kind === "redis" && !/^\d{0,4}$/.test(database))
    throw invalid(`A Redis database is a number, as in redis://HOST/0, not ${database}`);
  const { hostname } = url;
  const variables = passwordVariables[kind];
  const named = variables.find((name) => environment[name] !== undefined && environment[name] !== "");
  return {
    kind,
    // Without the brackets of an IPv6 address.
    host: hostname === "" ? "127.0.0.1" : hostname.replaceAll(/^\[|\]$/g, ""),
    port: url.port === "" ? port : Number(url.port),
    database: kind === "redis" ? database || "0" : database || "postgres",
    user: url.username === "" ? (environment["SITEGROVE_QUEUE_USER"] ?? undefined) : decodeURIComponent(url.username),
    password: named === undefined ? undefined : environment[named],
    isEncrypted,
    shown: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

const schemes: Readonly<
  Record<string, { readonly kind: QueueAddress["kind"]; readonly port: number; readonly isEncrypted: boolean }>
> = {
  "redis:": { kind: "redis", port: 6379, isEncrypted: false },
  "rediss:": { kind: "redis", port: 6379, isEncrypted: true },
  "postgres:": { kind: "postgres", port: 5432, isEncrypted: false },
  "postgresql:": { kind: "postgres", port: 5432, isEncrypted: false },
};

// Ours first; then those that the servers' own programs read.
const passwordVariables: Readonly<Record<QueueAddress["kind"], readonly string[]>> = {
  redis: ["SITEGROVE_QUEUE_PASSWORD", "REDISCLI_AUTH", "REDIS_PASSWORD"],
  postgres: ["SITEGROVE_QUEUE_PASSWORD", "PGPASSWORD"],
};

function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, "//").slice(0, 100);
}
