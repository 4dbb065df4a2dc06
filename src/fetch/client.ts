// The built-in client: HTTP/1.1 with node:http, over sockets that connect.ts opens. A connection is reused only for the same origin, even
// behind a proxy, so that no website can answer for another.
import http from "node:http";
import type net from "node:net";
import type { Client, ClientRequest, ClientResponse } from "../model/client.ts";
import { endsWithConnection, type HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { hostOf } from "./address-policy.ts";
import { type Connect, createConnect, type Route } from "./connect.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";
import type { Lookup } from "./lookup.ts";
import { type ProxyChoice, proxyChoice } from "./proxy.ts";

interface KeyedRoute extends Route {
  /** A key that is equal for requests that may share a connection. */
  readonly key: string;
}

/** A client with connections to be closed at the end. */
export class BuiltInClient implements Client {
  readonly tellsWhenSent = true;
  readonly #settings: Settings;
  readonly #connect: Connect;
  readonly #proxyFor: ProxyChoice;
  readonly #sockets = new Set<net.Socket>();
  // Idle sockets with the keys of their routes, the longest idle first. A crawl has few of them.
  readonly #idle = new Map<net.Socket, string>();

  constructor(settings: Settings, lookup?: Lookup) {
    this.#settings = settings;
    this.#connect = createConnect(settings, lookup);
    this.#proxyFor = proxyChoice(settings.proxy);
  }

  async request(request: ClientRequest): Promise<ClientResponse | Problem> {
    const { signal } = request;
    const url = new URL(request.url);
    const route = this.#route(url, request);
    if ("code" in route) return route;
    try {
      const kept = await this.#takeIdle(route.key);
      const answer = kept && (await this.#exchange(kept, route, url, request).catch(() => undefined));
      // A reused connection may fail for reasons unrelated to this request, so the request is sent again.
      return answer ?? (await this.#exchange(await this.#open(route, signal), route, url, request));
    } catch (error) {
      signal.throwIfAborted();
      return problemOf(error, "head");
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #exchange(socket: net.Socket, route: KeyedRoute, url: URL, request: ClientRequest): Promise<ClientResponse> {
    if (request.signal.aborted) socket.destroy();
    request.signal.throwIfAborted();
    const { proxy, isTunnel, key } = route;
    const { host, origin, pathname, search } = url;
    const asksProxy = proxy !== undefined && !isTunnel;
    const login = asksProxy && proxy.authorization !== undefined ? { "proxy-authorization": proxy.authorization } : {};
    const options = {
      path: (asksProxy ? origin : "") + pathname + search,
      headers: { host, connection: "keep-alive", ...request.headers, ...login, ...(asksProxy ? { host } : {}) },
      createConnection: () => socket,
      maxHeaderSize: headerBytes,
      // Lenient: like browsers and curl, accepts folded headers, lines that end in LF alone, and Content-Length next to chunks.
      insecureHTTPParser: true,
    };
    const sent = http.request(options);
    // Node.js would drop the headers after the 2,000th; `maxHeaderSize` is the limit.
    sent.maxHeadersCount = 0;
    const { documentBytes } = this.#settings.limits;
    const { response: answer } = new Exchange(sent, socket, request, documentBytes, () => this.#keep(socket, key));
    const response = await answer;
    if (response.status !== 407 || !asksProxy) return response;
    socket.destroy();
    throw new ConnectionProblem(problem("proxy-refused", { status: 407, value: "GET" }));
  }

  #route(url: URL, { allowPrivate, attempt = 1 }: ClientRequest): KeyedRoute | Problem {
    const host = hostOf(url);
    const secure = url.protocol === "https:";
    const proxy = this.#proxyFor(url);
    // The proxy would look up a name without a dot in its own network.
    if (proxy !== undefined && !allowPrivate && !/[.:]/.test(host)) return problem("address-blocked");
    const reach = !allowPrivate ? "public" : this.#settings.network === "default" ? "start" : "any";
    const endpoint = { secure, host, port: Number(url.port) || (secure ? 443 : 80), reach } as const;
    return { key: `${url.origin} ${proxy?.origin ?? reach}`, endpoint, proxy, isTunnel: secure, isRetry: attempt > 1 };
  }

  async #open(route: Route, signal: AbortSignal): Promise<net.Socket> {
    signal.throwIfAborted();
    const socket = await this.#connect(route, signal);
    this.#sockets.add(socket);
    return socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#idle.delete(socket);
    });
  }

  #keep(socket: net.Socket, key: string): void {
    this.#idle.set(socket, key);
    // Nobody requested data that arrives on an idle connection, so the connection is closed.
    socket.on("data", destroy).setTimeout(idleTime, destroy).unref();
  }

  async #takeIdle(key: string): Promise<net.Socket | undefined> {
    for (const [socket, idleKey] of this.#idle) {
      if (idleKey !== key) continue;
      this.#idle.delete(socket);
      // Lets Node.js read what has already arrived: the end of the connection, or a forged response. Between two immediates it polls once.
      await new Promise((resolve) => setImmediate(setImmediate, resolve));
      if (socket.writable) return socket.off("data", destroy).setTimeout(0, destroy).ref();
    }
    return undefined;
  }
}

/** One request: turns the events of node:http into a response whose body is pulled. */
class Exchange implements AsyncIterableIterator<Uint8Array> {
  /** Rejects if there is no response. */
  readonly response: Promise<ClientResponse>;
  readonly #socket: net.Socket;
  readonly #request: ClientRequest;
  readonly #mostBytes: number;
  #message: http.IncomingMessage | undefined;
  // Whether the response says where its body ends.
  #isDelimited = false;
  #interim = 0;
  #received = 0;
  #content = 0;
  readonly #queue: Uint8Array[] = [];
  #queued = 0;
  #wake: (() => void) | undefined;
  #isEnded = false;
  #error: unknown;

  /** `mostBytes` limits what is received besides the head, with framing. `onReusable` is called if the socket can be used again. */
  constructor(
    sent: http.ClientRequest,
    socket: net.Socket,
    request: ClientRequest,
    mostBytes: number,
    onReusable: () => void,
  ) {
    this.#socket = socket;
    this.#request = request;
    this.#mostBytes = mostBytes;
    request.signal.addEventListener("abort", this.#onAbort);
    sent.on("socket", (used) => {
      // Bun before 1.4 opens its own connection, which bypasses the address policy.
      if (used !== socket) return this.#abort(new Error("node:http of this runtime ignores `createConnection`"));
      // These listeners are prepended, to run before those of node:http.
      socket.prependListener("data", this.#onReceive);
      socket.prependListener("end", this.#onSocketEnd);
      socket.prependListener("close", this.#onSocketClose);
      request.onSent?.();
    });
    // `information` is also emitted for 100, besides `continue`.
    sent.on("information", () => {
      if (++this.#interim > interimResponses) this.#refuse(`more than ${interimResponses} interim responses`);
    });
    sent.on("upgrade", () => this.#refuse("an upgrade that was not requested"));
    sent.on("error", (error) => this.#fail(error));
    this.response = new Promise((resolve, reject) => {
      sent.on("response", (message) => {
        const { statusCode: status = 0, rawHeaders } = message;
        this.#message = message;
        message
          .on("data", this.#onContent)
          .on("end", this.#onEnd)
          .on("close", this.#onEnd)
          .on("error", () => {});
        const own = headerPairs(rawHeaders);
        this.#isDelimited = !endsWithConnection(own.map(([name, value]) => [name.toLowerCase(), value]));
        const headers = this.#isDelimited || status === 204 || status === 304 ? own : [...own, close];
        const flaw = flawOf(status, headers);
        if (flaw !== undefined) this.#refuse(flaw);
        else resolve({ status, headers, body: this });
      });
      sent.on("close", () => {
        if (this.#message === undefined) this.#onEnd();
        // `reject` has no effect if a response has already arrived.
        reject(this.#error);
        if (socket.writable) onReusable();
      });
    });
    sent.end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    while (this.#queue.length === 0 && !this.#isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const value = this.#queue.shift();
    if (value === undefined && this.#error !== undefined) throw new ConnectionProblem(problemOf(this.#error, "body"));
    if (value === undefined) return { done: true, value };
    this.#queued -= value.length;
    if (this.#queued < queueBytes) this.#message?.resume();
    return { done: false, value };
  }

  /** Releases the connection, unless the body was read to its end. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#queue.length = 0;
    this.#abort(new Error("The body is no longer wanted"));
    return { done: true, value: undefined };
  }

  // Also counts what the parser silently skips: line ends, blanks, chunk extensions, zeros.
  readonly #onReceive = (chunk: Uint8Array): void => {
    this.#received += chunk.length;
    if (this.#message === undefined) {
      if (this.#received > headBytes) this.#refuse("the response headers are too long");
    } else if (this.#received > headBytes + framingRatio * this.#content) {
      this.#refuse("more framing than content");
    } else if (this.#received > headBytes + this.#mostBytes) {
      this.#abort(new ConnectionProblem(problem("limit-document-bytes", { limit: this.#mostBytes })));
    }
  };

  readonly #onContent = (chunk: Uint8Array): void => {
    this.#content += chunk.length;
    this.#queued += chunk.length;
    this.#queue.push(chunk);
    if (this.#queued >= queueBytes) this.#message?.pause();
    this.#wake?.();
  };

  // Node.js reports a reset that comes together with data as an end, but then the socket has no remote address. And it takes the end for that
  // of a body in chunks if there is a tab after `chunked`, which it does not recognize.
  readonly #onSocketEnd = (): void => {
    if (this.#socket.remoteAddress === undefined) this.#fail(reset);
    else if (this.#isDelimited) this.#fail(short);
  };

  // node:http is about to destroy an incomplete message, so the part that was not read yet is read first.
  readonly #onSocketClose = (): void => {
    while (this.#message?.read()) {}
  };

  readonly #onEnd = (): void => {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.#socket.off("data", this.#onReceive).off("end", this.#onSocketEnd).off("close", this.#onSocketClose);
    this.#fail(this.#message === undefined ? reset : short);
    // Status 408 may mean that the website was closing an idle connection when the request came. A second response may still follow.
    if (this.#error !== undefined || this.#message?.statusCode === 408) this.#socket.destroy();
    this.#wake?.();
  };

  readonly #onAbort = (): void => this.#abort(this.#request.signal.reason);

  #refuse(value: string): void {
    this.#abort(new ConnectionProblem(problem("http-protocol", { value })));
  }

  #abort(reason: unknown): void {
    if (this.#isEnded) return;
    this.#error ??= reason;
    this.#socket.destroy();
  }

  // Errors after a complete message do not matter. Only the first error counts, because node:tls goes on after an alert.
  #fail(error: unknown): void {
    if (this.#message?.complete !== true) this.#error ??= error;
  }
}

// Node.js decodes headers as Latin-1, which keeps every byte, so that UTF-8 can still be decoded later.
function headerPairs(raw: readonly string[]): HeaderList {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : []));
}

// Added if only the end of the connection shows the end of the body, because HTTP/1.0 servers need not send it.
const close = ["connection", "close"] as const;

// Finds flaws that the parser accepts, although such a response cannot be trusted.
function flawOf(status: number, headers: HeaderList): string | undefined {
  if (status === 101) return "an upgrade that was not requested";
  if (status < 200) return `status ${String(status).padStart(3, "0")}`;
  if (headers.some(([name, value]) => !token.test(name) || /[\0\r\n]/.test(value))) return "invalid header";
  const encodings = headers.filter(([name]) => name.toLowerCase() === "transfer-encoding").map(([, value]) => value);
  // Chunks inside another encoding would be read as content, together with their sizes.
  const others = encodings.join().replace(/(?:^|,)\s*chunked\s*$/i, "");
  return /chunked/i.test(others) ? "chunked is not the last transfer encoding" : undefined;
}

// https://www.rfc-editor.org/rfc/rfc9110#name-tokens
const token = /^[\w!#$%&'*+.^`|~-]+$/;

function destroy(this: net.Socket): void {
  this.destroy();
}

const short = new ConnectionProblem(problem("body-short"));
const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });

// The limit for names and values together. Some websites send dozens of cookies.
const headerBytes = 128 * 1024;

// The limit for everything before the end of a head, including interim responses and what the socket has read ahead.
const headBytes = 256 * 1024;

// https://www.rfc-editor.org/rfc/rfc9110#name-informational-1xx sets no limit; 103 Early Hints comes once or twice.
const interimResponses = 10;

// How many bytes may be received for each byte of content. A one-byte chunk takes six; chunk extensions, which are ignored, take more.
const framingRatio = 9;

// How many bytes are buffered for a slow reader, besides the socket's own buffers.
const queueBytes = 64 * 1024;

// How long an unused connection is kept, in milliseconds: long enough for the next sitemap, short enough to cost nothing.
const idleTime = 4000;
