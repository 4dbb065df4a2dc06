// The server that a queue lives on, through BullMQ: Redis or Valkey. BullMQ and its driver are optional packages: they are
// loaded here, when a queue is opened, and nowhere else.
import type { Job, Queue, Worker } from "bullmq";
import { SitemapError } from "../model/errors.ts";
import { invalid, readable, unexpected, urlText } from "../model/option-checks.ts";
import { missingPackage } from "./optional-package.ts";
import type { ServerNews } from "./run-data.ts";

export interface QueueServer {
  readonly address: QueueAddress;
  queue(name: string): Queue;
  /** For taking jobs one by one; also finds jobs whose worker is gone. The server counts it as a worker of the queue. */
  worker(name: string, leaseTime: number): Worker;
  /** The next job, if the answer to finishing a job contains one. */
  jobIn(answer: unknown, worker: Worker | undefined): Job | undefined;
  /** A number that grows when somebody adds or removes something. */
  changes(): Promise<number>;
  changed(): Promise<void>;
  /** Closes a worker that is not needed any more. */
  release(worker: Worker): Promise<void>;
  close(): Promise<void>;
}

/** Throws a `SitemapError`: `missing-package`, or `queue-failed` if the server cannot be used. */
export async function openServer(address: QueueAddress, onNews: (news: ServerNews) => void): Promise<QueueServer> {
  const { Job, Queue, Worker } = await import("bullmq").catch(
    missingPackage("--queue needs BullMQ: npm install bullmq ioredis"),
  );
  const { Redis } = await import("ioredis").catch(
    missingPackage("--queue redis://… needs ioredis: npm install ioredis"),
  );
  const { isIP } = await import("node:net");
  const { host, port, database, user, password, isEncrypted } = address;
  const options = {
    host,
    port,
    db: Number(database),
    ...(user === undefined ? {} : { username: user }),
    ...(password === undefined ? {} : { password }),
    ...(isEncrypted ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
    connectTimeout: connectTime,
    // Notices a connection that went silent.
    keepAlive: 10_000,
    lazyConnect: true,
  };
  // One try: the user who typed the URL is waiting.
  const first = new Redis({ ...options, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  let failure: unknown;
  first.on("error", (error) => {
    failure = error;
  });
  try {
    await first.connect();
    inspect(await first.info(), onNews);
  } catch (error) {
    throw unusable(address, failure ?? error);
  } finally {
    first.disconnect();
  }
  // From here on the queue waits for its server: commands are sent when it is back.
  const connection = new Redis({
    ...options,
    maxRetriesPerRequest: null,
    socketTimeout: silentTime,
    retryStrategy: (times) => Math.min(times * 100, longestRetry),
  });
  let isLost = false;
  let isClosing = false;
  connection.on("error", (error) => {
    if (isLost || isClosing) return;
    isLost = true;
    onNews({ type: "lost", message: reasonOf(error) });
  });
  connection.on("close", () => {
    if (isLost || isClosing) return;
    isLost = true;
    onNews({ type: "lost", message: "the connection was closed" });
  });
  connection.on("ready", () => {
    if (isLost) onNews({ type: "back" });
    isLost = false;
  });
  // If the server goes away at this moment, the connection is retried like one that is lost later.
  await connection.connect().catch(() => undefined);
  const open = new Set<Queue | Worker>();
  const kept = <T extends Queue | Worker>(one: T): T => {
    // What happens to the connection is said above, once.
    (one as Queue).on("error", () => {});
    open.add(one);
    return one;
  };
  return {
    address,
    queue: (name) => kept(new Queue(name, { connection, skipVersionCheck: true, skipMetasUpdate: true })),
    worker: (name, leaseTime) =>
      kept(new Worker(name, null, { connection, skipVersionCheck: true, ...workerOptions(leaseTime) })),
    jobIn: (answer, worker) => jobIn(Job, answer, worker),
    changes: async () => Number(await connection.get(changesKey)),
    async changed() {
      await connection.incr(changesKey);
    },
    async release(worker) {
      open.delete(worker);
      await within(closeTime, worker.close()).catch(() => undefined);
    },
    async close() {
      isClosing = true;
      // What is closed while the server is gone would wait for it.
      const isReady = connection.status === "ready";
      await Promise.allSettled([...open].map((one) => within(closeTime, isReady ? one.close() : one.disconnect())));
      connection.disconnect();
    },
  };
}

// Starts are counted by us: BullMQ would give up a site after its second dead worker.
function workerOptions(leaseTime: number) {
  return {
    autorun: false,
    lockDuration: leaseTime,
    stalledInterval: Math.max(100, Math.floor(leaseTime / 2)),
    maxStalledCount: 1_000_000,
    drainDelay: 1,
  };
}

function jobIn(made: typeof Job, answer: unknown, worker: Worker | undefined): Job | undefined {
  const [data, id] = Array.isArray(answer) ? (answer as unknown[]) : [];
  if (typeof data !== "object" || data === null || typeof id !== "string" || worker === undefined) return undefined;
  return made.fromJSON(worker as never, data as never, id);
}

// Settings that lose sites are refused; those that may lose them after a crash are reported.
function inspect(info: string, onNews: (news: ServerNews) => void): void {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
  const version = field("valkey_version") || field("redis_version");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (field("valkey_version") === "" && (major < 6 || (major === 6 && minor < 2)))
    throw new Error(`Redis ${version} is too old: 6.2 or newer is needed`);
  const policy = field("maxmemory_policy");
  if (policy !== "" && policy !== "noeviction" && field("maxmemory") !== "0")
    throw new Error(`it would throw websites away when it is full: set maxmemory-policy to noeviction, not ${policy}`);
  if (field("role") === "slave") throw new Error("it is a replica, which cannot be written to");
  if (field("aof_enabled") === "0")
    onNews({ type: "warning", message: "Redis keeps no log (appendonly no): what it knows is lost if it is killed" });
}

function unusable({ shown, isEncrypted }: QueueAddress, cause: unknown): SitemapError {
  const hint = isEncrypted && reasonOf(cause) === silent ? " (rediss:// needs a server that speaks TLS)" : "";
  return new SitemapError("queue-failed", `The queue ${shown} cannot be used: ${reasonOf(cause)}${hint}`, { cause });
}

/** One sentence for an error of a server or its connection. */
function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const text = typeof message === "string" && message !== "" ? message : String(code ?? error);
  if (/NOAUTH/i.test(text)) return "it wants a password: put it into SITEGROVE_QUEUE_PASSWORD";
  if (/WRONGPASS|invalid password/i.test(text)) return "the password is wrong";
  if (/^OOM /.test(text)) return "the server is full (maxmemory): give it more memory";
  if (/NOPERM/.test(text)) return `the user may not do what is needed (${text})`;
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (isClosed.test(text)) return "the connection was closed";
  if (code === "ENOTFOUND") return "the host name does not exist";
  if (code === "ETIMEDOUT" || /ETIMEDOUT|timeout/i.test(text)) return silent;
  return text.split("\n")[0] ?? text;
}

const silent = "it does not answer";
// What drivers say to whoever waits while the connection is closed.
const isClosed = /^Connection is closed\.?$/;

export function queueClosed(): SitemapError {
  return new SitemapError("queue-failed", "The queue is closed");
}

/** Turns failures of the server into `SitemapError`s. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error);
  }
}

export function storageError(cause: unknown): unknown {
  if (cause instanceof SitemapError) return cause;
  const { name, command, severity, message } = (cause ?? {}) as Record<string, unknown>;
  const isServer =
    name === "ReplyError" || command !== undefined || severity !== undefined || isClosed.test(String(message));
  return isServer ? new SitemapError("storage-failed", `The queue failed: ${reasonOf(cause)}`, { cause }) : cause;
}

async function within(time: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, time);
  });
  await Promise.race([work.then(() => {}), late]).finally(() => clearTimeout(timer));
}

const changesKey = "sitegrove:changes";

// In milliseconds.
const connectTime = 10_000;
const longestRetry = 2000;
const closeTime = 2000;
// A connection without an answer for this long counts as broken.
const silentTime = 10_000;

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
