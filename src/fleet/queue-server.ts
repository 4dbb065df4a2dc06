// The server of a queue: its address, the connection, and messages for its failures. The driver is an optional package: it is loaded only
// here, when a queue is opened.
import { isIP } from "node:net";
import type { Redis, RedisOptions } from "ioredis";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { invalid, unexpected, urlText } from "../model/option-checks.ts";
import { missingPackage } from "./optional-package.ts";

/** News about the server: its connection, its settings, and whether sites are left. */
export type ServerNews =
  | { readonly type: "lost"; readonly message: string }
  | { readonly type: "back" }
  /** No website is left; the queue waits for more. */
  | { readonly type: "idle" }
  /** A setting of the server that may cause trouble later. */
  | { readonly type: "warning"; readonly message: string };

export interface QueueServer {
  readonly connection: Redis;
  disconnect(): void;
}

/** Connects to a server. Throws a `SitemapError`: `missing-package`, or `queue-failed` if the server cannot be used. */
export async function connect(address: QueueAddress, onNews: (news: ServerNews) => void): Promise<QueueServer> {
  const { Redis } = await import("ioredis").catch(
    missingPackage("--queue redis://… needs ioredis: npm install ioredis"),
  );
  // The first connection is tried only once, because the user is waiting for it. Later, commands wait until the server is back.
  let state: "opening" | "ready" | "lost" | "closing" = "opening";
  const connection = new Redis({
    ...address.options,
    connectTimeout: connectTime,
    // Detects a connection that went silent.
    keepAlive: 10_000,
    socketTimeout: silentTime,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (state === "opening" ? null : Math.min(times * 100, longestRetry)),
  });
  let failure: unknown;
  const move = (from: typeof state, to: typeof state, news: ServerNews) => {
    if (state !== from) return;
    state = to;
    onNews(news);
  };
  connection.on("error", (error) => {
    failure = error;
    move("ready", "lost", { type: "lost", message: reasonOf(error) });
  });
  connection.on("close", () => move("ready", "lost", { type: "lost", message: "the connection was closed" }));
  connection.on("ready", () => move("lost", "ready", { type: "back" }));
  try {
    await connection.connect();
    inspect(await connection.info(), onNews);
    state = "ready";
  } catch (error) {
    connection.disconnect();
    throw unusable(address, failure ?? error);
  }
  const disconnect = () => {
    state = "closing";
    connection.disconnect();
  };
  return { connection, disconnect };
}

// Refuses a server that is too old, that cannot be written to, or that may evict sites. Warns if a crash may lose the queue.
function inspect(info: string, onNews: (news: ServerNews) => void): void {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
  const version = field("valkey_version") || field("redis_version");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (field("valkey_version") === "" && (major < 6 || (major === 6 && minor < 2)))
    throw new Error(`Redis ${version} is too old: 6.2 or newer is needed`);
  const policy = field("maxmemory_policy");
  if (policy !== "" && policy !== "noeviction" && field("maxmemory") !== "0")
    throw new Error(`it would evict websites when full: set maxmemory-policy to noeviction, not ${policy}`);
  if (field("role") === "slave") throw new Error("it is a replica, which cannot be written to");
  if (field("aof_enabled") === "0")
    onNews({ type: "warning", message: "Redis does not persist (appendonly no): the queue is lost if it is killed" });
}

function unusable({ shown, options }: QueueAddress, cause: unknown): SitemapError {
  const hint = options.tls && reasonOf(cause) === silent ? " (rediss:// needs a server that speaks TLS)" : "";
  return new SitemapError("queue-failed", `The queue ${shown} cannot be used: ${reasonOf(cause)}${hint}`, { cause });
}

/** Describes an error of a server or its connection in one sentence. */
function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const text = typeof message === "string" && message !== "" ? message : String(code ?? error);
  if (/NOAUTH/i.test(text)) return "it requires a password: set SITEGROVE_QUEUE_PASSWORD";
  if (/WRONGPASS|invalid password/i.test(text)) return "the password is wrong";
  if (/^OOM /.test(text)) return "the server is full (maxmemory): give it more memory";
  if (/NOPERM/.test(text)) return `the user lacks permissions (${text})`;
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (isClosed.test(text)) return "the connection was closed";
  if (code === "ENOTFOUND") return "the host name does not exist";
  if (code === "ETIMEDOUT" || /ETIMEDOUT|timeout/i.test(text)) return silent;
  return text.split("\n")[0] ?? text;
}

const silent = "it does not answer";
// The message that drivers give to pending commands when the connection is closed.
const isClosed = /^Connection is closed\.?$/;

/** Turns failures of the server into `SitemapError`s. */
export async function withQueueErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { name, command, message } = (cause ?? {}) as Record<string, unknown>;
    if (cause instanceof SyntaxError)
      throw new SitemapError("storage-failed", "The queue has a job of another program, which is not JSON", { cause });
    const isServer = name === "ReplyError" || command !== undefined || isClosed.test(String(message));
    if (cause instanceof SitemapError || !isServer) throw cause;
    throw new SitemapError("storage-failed", `The queue failed: ${reasonOf(cause)}`, { cause });
  }
}

// In milliseconds.
const connectTime = 10_000;
const longestRetry = 2000;
// A connection without an answer for this long counts as broken.
const silentTime = 10_000;

/** The address of a server. Messages show `shown`, which has no password. */
interface QueueAddress {
  readonly shown: string;
  readonly options: Pick<RedisOptions, "host" | "port" | "db" | "username" | "password" | "tls">;
}

/** Parses the address of a server. Throws a `SitemapError` (`invalid-option`) if it is invalid. */
export function queueAddress(given: string | URL, environment: NodeJS.ProcessEnv = process.env): QueueAddress {
  const text = urlText(given);
  if (typeof text !== "string") throw unexpected("url", "the URL of a queue", given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol)) {
    const shown = text.replaceAll(/\/\/[^/@\s]*@/g, "//").slice(0, 100);
    throw invalid(`A queue is redis://HOST/0 or rediss://HOST/0, not ${shown}`);
  }
  if (url.password !== "")
    throw invalid("A password in the queue's URL is visible to others: set SITEGROVE_QUEUE_PASSWORD instead");
  if (url.search !== "" || url.hash !== "") throw invalid(`The queue's URL must end after ${url.pathname}`);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!/^\d{0,4}$/.test(database)) throw invalid(`A Redis database is a number, as in redis://HOST/0, not ${database}`);
  // Removes the brackets of an IPv6 address.
  const host = url.hostname === "" ? "127.0.0.1" : url.hostname.replaceAll(/^\[|\]$/g, "");
  const username = url.username === "" ? environment["SITEGROVE_QUEUE_USER"] : decodeURIComponent(url.username);
  // Our own variable comes first, then those that are common for Redis.
  const password = ["SITEGROVE_QUEUE_PASSWORD", "REDISCLI_AUTH", "REDIS_PASSWORD"]
    .map((name) => environment[name])
    .find((value) => value !== undefined && value !== "");
  const tls = url.protocol === "rediss:" ? (isIP(host) === 0 ? { servername: host } : {}) : undefined;
  return {
    shown: `${url.protocol}//${url.host}${url.pathname}`,
    options: { host, port: Number(url.port || 6379), db: Number(database), ...defined({ username, password, tls }) },
  };
}
