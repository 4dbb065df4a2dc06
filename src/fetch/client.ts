// The built-in client: HTTP/1.1 with the public API of undici, over sockets that connect.ts opens. Each connection is a separate undici
// `Client`: a request can end its socket while it connects, and count all received bytes. A connection is reused only
// for the same origin, even behind a proxy, so that no website can answer for another.
import type net from "node:net";
import type { Dispatcher, Client as Undici } from "undici";
import type { Client, ClientRequest, ClientResponse } from "../model/client.ts";
import type { HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { hostOf } from "./address-policy.ts";
import { type Connect, createConnect, type Way } from "./connect.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";
import type { Lookup } from "./lookup.ts";
import { type ProxyChoice, proxyChoice } from "./proxy.ts";

/** A client with connections to be closed at the end. */
export type OwnClient = Client & { close(): Promise<void> };

export function undiciClient(settings: Settings, lookup?: Lookup): OwnClient {
  return new UndiciClient(settings, createConnect(settings, lookup));
}

interface Route extends Way {
  /** Equal for requests that may share a connection. */
  readonly key: string;
  readonly origin: string;
}

class UndiciClient implements OwnClient {
  readonly tellsWhenSent = true;
  readonly #settings: Settings;
  readonly #connect: Connect;
  readonly #proxyFor: ProxyChoice;
  readonly #connections = new Set<Connection>();
  // The one that has been idle longest comes first. A crawl has few.
  readonly #idle = new Set<Connection>();
  #undici: typeof import("undici/index.js") | undefined;

  constructor(settings: Settings, connect: Connect) {
    this.#settings = settings;
    this.#connect = connect;
    this.#proxyFor = proxyChoice(settings.proxy);
  }

  async request(request: ClientRequest): Promise<ClientResponse | Problem> {
    // Imported by file: for the bare name, Bun substitutes its own client, which has no `dispatch`.
    this.#undici ??= await import("undici/index.js");
    const url = new URL(request.url);
    const route = this.#route(url, request);
    if ("code" in route) return route;
    const kept = this.#takeIdle(route.key);
    if (kept !== undefined) {
      const answer = await this.#exchange(kept, url, request);
      // A reused connection may fail for reasons unrelated to this request, so the request is sent again.
      if (!("code" in answer)) return answer;
    }
    return this.#exchange(this.#open(this.#undici.Client, route), url, request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.destroy()));
  }

  async #exchange(connection: Connection, url: URL, request: ClientRequest): Promise<ClientResponse | Problem> {
    const { headers, signal } = request;
    signal.throwIfAborted();
    const { proxy, isTunnel } = connection.route;
    const exchange = new Exchange(connection, request, this.#settings.limits.documentBytes, () =>
      this.#idle.add(connection),
    );
    const path = url.pathname + url.search;
    const asksProxy = proxy !== undefined && !isTunnel;
    const login = proxy?.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization };
    connection.client.dispatch(
      asksProxy
        ? { method: "GET", path: url.origin + path, headers: { ...headers, ...login, host: url.host } }
        : { method: "GET", path, headers },
      exchange,
    );
    try {
      const response = await exchange.response;
      if (response.status !== 407 || !asksProxy) return response;
      void connection.destroy();
      return problem("proxy-refused", { status: 407, value: "GET" });
    } catch (error) {
      signal.throwIfAborted();
      return problemOf(error, "head");
    }
  }

  #route(url: URL, { allowPrivate, attempt = 1 }: ClientRequest): Route | Problem {
    const { origin } = url;
    const host = hostOf(url);
    const secure = url.protocol === "https:";
    const proxy = this.#proxyFor(url);
    // A proxy would resolve a name without a dot in its own network.
    if (proxy !== undefined && !allowPrivate && !/[.:]/.test(host)) return problem("address-blocked");
    const reach = !allowPrivate ? "public" : this.#settings.network === "default" ? "start" : "any";
    const endpoint = { secure, host, port: Number(url.port) || (secure ? 443 : 80), reach } as const;
    const key = `${origin} ${proxy?.origin ?? reach}`;
    return { key, origin, endpoint, proxy, isTunnel: secure, isRetry: attempt > 1 };
  }

  #open(Client: typeof Undici, route: Route): Connection {
    const connection: Connection = new Connection(Client, route, this.#connect, () => {
      this.#connections.delete(connection);
      this.#idle.delete(connection);
    });
    this.#connections.add(connection);
    return connection;
  }

  #takeIdle(key: string): Connection | undefined {
    const kept = [...this.#idle].find(({ route, socket }) => route.key === key && socket?.destroyed === false);
    if (kept !== undefined) this.#idle.delete(kept);
    return kept;
  }
}

class Connection {
  readonly route: Route;
  readonly client: Undici;
  socket: net.Socket | undefined;
  /** The request in progress: its response is not complete. */
  exchange: Exchange | undefined;
  /** The first error: node:tls continues after an alert, and undici only reports its consequences. */
  error: Error | undefined;
  readonly #connecting = new AbortController();
  readonly #onClose: () => void;

  constructor(Client: typeof Undici, route: Route, connect: Connect, onClose: () => void) {
    this.route = route;
    this.#onClose = onClose;
    this.client = new Client(route.origin, {
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: headerBytes,
      keepAliveTimeout: idleTime,
      keepAliveMaxTimeout: idleTime,
      // The timeouts of this folder are used instead: undici's have a resolution of a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, callback) => {
        connect(route, this.#connecting.signal).then(
          (socket) => {
            this.#watch(socket);
            // Given a socket that has been closed meanwhile, undici would reconnect forever.
            if (socket.destroyed) callback(this.error ?? reset, null);
            else callback(null, socket);
          },
          (error) => callback(error, null),
        );
      },
    });
    this.client.once("disconnect", () => void this.destroy());
    this.client.once("connectionError", () => void this.destroy());
  }

  async destroy(reason: Error = closed): Promise<void> {
    this.#onClose();
    this.#connecting.abort(reason);
    await this.client.destroy(reason);
  }

  // Called before undici adds its listeners.
  #watch(socket: net.Socket): void {
    this.socket = socket;
    socket.on("error", (error) => {
      this.error ??= error;
    });
    // Node.js reports a reset that comes together with data as an end, but then the peer is gone.
    socket.on("end", () => {
      if (!socket.destroyed && socket.remoteAddress === undefined) this.error ??= reset;
    });
    socket.on("readable", () => this.exchange?.onReceive(socket.bytesRead));
    // A body that is not being read is held back here, not by undici's `pause`: its parser fails with an assertion, which ends
    // the process, if the website closes or resets the connection meanwhile (https://github.com/nodejs/undici/issues/5360).
    const { read } = socket;
    socket.read = (size?: number) => (size !== 0 && this.exchange?.isFull === true ? null : read.call(socket, size));
  }
}

/** One request: turns undici's callbacks into a response whose body is pulled. */
class Exchange implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array> {
  /** Rejects if there is no response. */
  readonly response: Promise<ClientResponse>;
  readonly #connection: Connection;
  readonly #request: ClientRequest;
  readonly #mostBytes: number;
  readonly #onReusable: () => unknown;
  #resolve!: (response: ClientResponse) => void;
  #reject!: (error: unknown) => void;
  // Passed by undici when the request is sent.
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #interim = 0;
  // The body has no length.
  #endsWithConnection = false;
  #receivedBefore = 0;
  #content = 0;
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #reader: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: unknown): void } | undefined;
  #isEnded = false;
  #error: unknown;

  /** `mostBytes`: limit of all received bytes, including framing. `onReusable`: the response is complete, and nothing follows it. */
  constructor(connection: Connection, request: ClientRequest, mostBytes: number, onReusable: () => unknown) {
    this.#connection = connection;
    this.#request = request;
    this.#mostBytes = mostBytes;
    this.#onReusable = onReusable;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal.addEventListener("abort", this.#onAbort);
  }

  /** Whether the website must wait for the reader. */
  get isFull(): boolean {
    return this.#queued >= queueBytes;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#receivedBefore = this.#connection.socket?.bytesRead ?? 0;
    this.#connection.exchange = this;
    this.#request.onSent?.();
  }

  /** Also counts what undici silently skips: line ends, reason phrases, chunk extensions, zeros. */
  onReceive(bytesRead: number): void {
    const received = bytesRead - this.#receivedBefore;
    if (this.#status === 0) {
      if (received > headBytes) this.#refuse("the response headers are too long");
    } else if (received > headBytes + framingRatio * this.#content) {
      this.#refuse("more framing than content");
    } else if (received > headBytes + this.#mostBytes) {
      this.#abort(new ConnectionProblem(problem("limit-document-bytes", { limit: this.#mostBytes })));
    }
  }

  onResponseStart({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    if (status < 200) {
      if (++this.#interim > interimResponses) this.#refuse(`more than ${interimResponses} interim responses`);
      return;
    }
    this.#status = status;
    const headers = headerList(rawHeaders as readonly Buffer[]);
    this.#endsWithConnection = !headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name));
    this.#resolve({ status, headers, body: this });
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#content += chunk.length;
    if (this.#reader !== undefined) {
      this.#reader.resolve({ done: false, value: chunk });
      this.#reader = undefined;
      return;
    }
    this.#queued += chunk.length;
    this.#queue.push(chunk);
  }

  onResponseEnd(): void {
    // undici treats any end of the connection, even a reset, as the end of a body without a length.
    const isReset = this.#endsWithConnection && this.#connection.error !== undefined;
    this.#end(isReset ? new ConnectionProblem(problem("body-reset")) : undefined);
    // 408: the website was closing an idle connection when the request came, and another response may still follow.
    if (isReset || this.#status === 408) void this.#connection.destroy();
    else this.#onReusable();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(explained(error, this.#connection));
    void this.#connection.destroy();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      const wasFull = this.isFull;
      this.#queued -= chunk.length;
      const { socket } = this.#connection;
      if (wasFull && !this.isFull && socket?.destroyed === false) socket.emit("readable");
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** Releases the connection if the body is not at its end. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#queue.length = 0;
    this.#abort(new Error("The body is no longer wanted"));
    this.#error = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  readonly #onAbort = () => this.#abort(this.#request.signal.reason);

  #refuse(value: string): void {
    this.#abort(new ConnectionProblem(problem("http-protocol", { value })));
  }

  #abort(reason: unknown): void {
    if (this.#isEnded) return;
    const error = reason instanceof Error ? reason : new Error(String(reason));
    this.#controller?.abort(error);
    if (this.#controller !== undefined) return;
    // Still connecting: undici would wait for the connection first.
    this.#end(error);
    void this.#connection.destroy(error);
  }

  #end(error: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#connection.exchange = undefined;
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    if (error === undefined) this.#reader?.resolve({ done: true, value: undefined });
    else {
      this.#reject(error);
      this.response.catch(() => {});
      this.#error = error instanceof ConnectionProblem ? error : new ConnectionProblem(problemOf(error, "body"));
      this.#reader?.reject(this.#error);
    }
    this.#reader = undefined;
  }
}

// undici has one code for closed connections and responses that it refuses, and one class for bodies that are broken or too short.
function explained(error: Error & { code?: string }, { socket, error: first }: Connection): Error {
  const isParserError = error.name === "HTTPParserError";
  if (first === reset || (error.code === "UND_ERR_SOCKET" && first !== undefined && first !== error)) return first;
  if (isParserError && socket?.readableEnded) return new ConnectionProblem(problem("body-short"));
  const isRefused = error.code === "UND_ERR_SOCKET" && error.message.startsWith("bad ");
  if (!isParserError && !isRefused) return error;
  // llhttp's own message is in brackets at the end of undici's.
  const value = /\(([^()]*)\)$/.exec(error.message)?.[1] ?? error.message;
  return new ConnectionProblem(problem("http-protocol", { value }));
}

// Latin-1 keeps every byte, so that UTF-8 can still be decoded later.
function headerList(raw: readonly Buffer[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    list.push([String(raw[at]?.toString("latin1")), String(raw[at + 1]?.toString("latin1"))]);
  }
  return list;
}

const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });

// Shared, because creating a stack trace takes time, and a fleet closes very many connections.
const closed = Object.assign(new Error("The connection is no longer needed"), { code: "UND_ERR_DESTROYED" });

// Names and values together. Some websites send dozens of cookies.
const headerBytes = 128 * 1024;

// The limit for everything before the end of a head, including interim responses and what the socket has read ahead.
const headBytes = 256 * 1024;

// https://www.rfc-editor.org/rfc/rfc9110#name-informational-1xx sets no limit; 103 Early Hints comes once or twice.
const interimResponses = 10;

// A one-byte chunk has six bytes of framing. Anything above that is chunk extensions, which are ignored.
const framingRatio = 9;

// How many bytes are buffered for a slow reader, besides the socket's own buffers.
const queueBytes = 64 * 1024;

// How long an unused connection is kept, in milliseconds: long enough for the next sitemap, short enough to cost nothing.
const idleTime = 4000;
