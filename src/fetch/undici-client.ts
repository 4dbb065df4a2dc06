// The client built in: undici, HTTP/1.1 only, over connections that this file keeps. Each connection is one undici Client,
// so that a request knows its socket: to end it while it still connects, to see when framing outweighs content, and to
// keep connections to judged addresses apart. Loaded on first use.
import { createRequire } from "node:module";
import type { Client as UndiciConnection } from "undici";
import type { Client, ClientRequest, ClientResponse } from "../client.ts";
import type { Settings } from "../options.ts";
import type { Problem } from "../problem.ts";
import { hostOf } from "./address-policy.ts";
import { type Connect, createConnect, type Endpoint, type Lookup } from "./connect.ts";
import { isClosedConnection, problemOf } from "./failure.ts";
import { type ChosenProxy, openTunnel, type ProxyChoice, proxyChoice } from "./proxy.ts";
import { OutgoingRequest } from "./request.ts";
import { type Connection, UndiciExchange } from "./undici-exchange.ts";

/** A client with connections to be closed at the end. */
export interface OwnClient extends Client {
  close(): Promise<void>;
}

/** The default client. `lookup` replaces the system's resolver. */
export function undiciClient(settings: Settings, lookup?: Lookup): OwnClient {
  return new UndiciClient(settings, createConnect(settings, lookup));
}

class UndiciClient implements OwnClient {
  readonly #settings: Settings;
  readonly #connect: Connect;
  readonly #proxyFor: ProxyChoice;
  readonly #connections = new Set<PooledConnection>();
  // By where they lead and what was allowed when they were opened; the one used last is used first.
  readonly #idle = new Map<string, PooledConnection[]>();
  #connectionClass: typeof UndiciConnection | undefined;

  constructor(settings: Settings, connect: Connect) {
    this.#settings = settings;
    this.#connect = connect;
    this.#proxyFor = proxyChoice(settings.proxy);
  }

  async request(request: ClientRequest): Promise<ClientResponse | Problem> {
    this.#connectionClass ??= await loadConnectionClass();
    return this.#exchange(this.#connectionClass, request instanceof OutgoingRequest ? request : outgoing(request));
  }

  async #exchange(
    connectionClass: typeof UndiciConnection,
    { target: url, headers, allowPrivate, cancellation, onSent }: OutgoingRequest,
  ): Promise<ClientResponse | Problem> {
    const route = this.#route(url, allowPrivate);
    const path = url.pathname + url.search;
    for (let fresh = false; ; fresh = true) {
      if (cancellation.cancelled) throw cancellation.reason;
      const connection = (fresh ? undefined : this.#takeIdle(route.key)) ?? this.#open(connectionClass, route);
      const exchange = new UndiciExchange(connection, cancellation, onSent, (reusable) =>
        this.#giveBack(connection, reusable),
      );
      const reused = connection.served > 0;
      connection.client.dispatch(
        route.proxied
          ? { method: "GET", path: url.origin + path, headers: { ...headers, ...route.headers, host: url.host } }
          : { method: "GET", path, headers },
        exchange,
      );
      try {
        return await exchange.response;
      } catch (error) {
        if (cancellation.cancelled) throw cancellation.reason;
        // A website may close an idle connection at the very moment when it is used again: that says nothing about the website.
        if (reused && !fresh && isClosedConnection(error)) continue;
        return problemOf(error, "head");
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.destroy()));
    this.#idle.clear();
  }

  #route(url: URL, allowPrivate: boolean): Route {
    const secure = url.protocol === "https:";
    const proxy = this.#proxyFor(url);
    if (proxy !== undefined && !secure) {
      const headers = proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization };
      return { key: proxy.origin, origin: proxy.origin, endpoint: proxy.endpoint, proxied: true, headers };
    }
    const reach = !allowPrivate ? "public" : this.#settings.network === "default" ? "start" : "any";
    const endpoint: Endpoint = { secure, host: hostOf(url), port: Number(url.port) || (secure ? 443 : 80), reach };
    const key = `${url.origin} ${proxy?.origin ?? reach}`;
    return { key, origin: url.origin, endpoint, proxied: false, headers: {}, ...(proxy && { tunnel: proxy }) };
  }

  #takeIdle(key: string): PooledConnection | undefined {
    const idle = this.#idle.get(key);
    const connection = idle?.pop();
    if (idle?.length === 0) this.#idle.delete(key);
    return connection;
  }

  #open(UndiciClient: typeof UndiciConnection, route: Route): PooledConnection {
    const connection = new PooledConnection(UndiciClient, route, this.#connect, () => this.#forget(connection));
    this.#connections.add(connection);
    return connection;
  }

  #giveBack(connection: PooledConnection, reusable: boolean): void {
    connection.served++;
    if (!reusable || connection.socket?.destroyed !== false) {
      this.#forget(connection);
      return;
    }
    const idle = this.#idle.get(connection.key);
    if (idle === undefined) this.#idle.set(connection.key, [connection]);
    else idle.push(connection);
  }

  #forget(connection: PooledConnection): void {
    this.#connections.delete(connection);
    void connection.destroy();
    const idle = this.#idle.get(connection.key);
    const at = idle?.indexOf(connection) ?? -1;
    if (at < 0) return;
    idle?.splice(at, 1);
    if (idle?.length === 0) this.#idle.delete(connection.key);
  }
}

// Of undici only this is needed. All of it takes a tenth of a second to load and 8 MB; this file of it takes a third of both, and
// less where no names have to be found in it that a module could import. Where it lies elsewhere, as in a bundle, the whole does as well.
async function loadConnectionClass(): Promise<typeof UndiciConnection> {
  try {
    return createRequire(import.meta.url)("undici/lib/dispatcher/client.js") as typeof UndiciConnection;
  } catch {
    return (await import("undici")).Client;
  }
}

function outgoing({ url, headers, allowPrivate, signal }: ClientRequest): OutgoingRequest {
  const request = new OutgoingRequest(new URL(url), headers, allowPrivate);
  const onAbort = () => request.cancellation.cancel(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return request;
}

interface Route {
  /** Equal for requests that may share a connection. */
  readonly key: string;
  readonly origin: string;
  readonly endpoint: Endpoint;
  /** The proxy is asked for the whole URL. */
  readonly proxied: boolean;
  /** The proxy that makes a tunnel. */
  readonly tunnel?: ChosenProxy;
  readonly headers: Readonly<Record<string, string>>;
}

class PooledConnection implements Connection {
  readonly key: string;
  readonly client: UndiciConnection;
  socket: Connection["socket"];
  served = 0;
  readonly #connecting = new AbortController();

  constructor(UndiciClient: typeof UndiciConnection, route: Route, connect: Connect, onDisconnect: () => void) {
    this.key = route.key;
    this.client = new UndiciClient(route.origin, {
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: headerBytes,
      keepAliveTimeout: idleTime,
      keepAliveMaxTimeout: idleTime,
      // The clocks of fetch/ run instead: undici's are good to a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_, callback) => {
        openRoute(route, connect, this.#connecting.signal).then(
          (socket) => {
            this.socket = socket;
            callback(null, socket);
          },
          (error) => callback(error, null),
        );
      },
    });
    this.client.once("disconnect", onDisconnect);
  }

  async destroy(reason?: Error): Promise<void> {
    this.#connecting.abort(reason);
    await this.client.destroy(reason ?? null);
  }
}

async function openRoute({ endpoint, tunnel }: Route, connect: Connect, signal: AbortSignal) {
  if (tunnel === undefined) return connect(endpoint, signal);
  const toProxy = await connect(tunnel.endpoint, signal);
  const through = await openTunnel(toProxy, tunnel, endpoint, signal);
  return connect(endpoint, signal, through);
}

// Names and values together. https://nodejs.org/api/cli.html#--max-http-header-sizesize has the same default.
const headerBytes = 16 * 1024;

// How long an unused connection is kept, in milliseconds: long enough for the next sitemap, short enough to cost nothing.
const idleTime = 4000;
