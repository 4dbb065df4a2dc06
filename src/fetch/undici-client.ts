// The built-in client: undici, HTTP/1.1 only, over connections that this folder opens, counts and keeps. It uses
// nothing but the public contract of clients (client.ts). undici is imported with the first request.
import type { Client as Undici } from "undici";
import type { Client, ClientRequest, ClientResponse } from "../model/client.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { hostOf } from "./address-policy.ts";
import { type Connect, type ConnectParts, createConnect, type Endpoint } from "./connect.ts";
import { problemOf } from "./failure.ts";
import { KeptConnections } from "./kept-connections.ts";
import { loadUndici } from "./load-undici.ts";
import { type ProxyChoice, proxyChoice } from "./proxy.ts";
import { type Route, UndiciConnection } from "./undici-connection.ts";
import { UndiciExchange } from "./undici-exchange.ts";

/** A client with connections to be closed at the end. */
export interface OwnClient extends Client {
  close(): Promise<void>;
}

/** The default client. */
export function undiciClient(settings: Settings, parts?: ConnectParts): OwnClient {
  return new UndiciClient(settings, createConnect(settings, parts));
}

class UndiciClient implements OwnClient {
  readonly tellsWhenSent = true;
  readonly #settings: Settings;
  readonly #connect: Connect;
  readonly #proxyFor: ProxyChoice;
  readonly #connections = new Set<UndiciConnection>();
  readonly #kept = new KeptConnections();
  #undici: typeof Undici | undefined;

  constructor(settings: Settings, connect: Connect) {
    this.#settings = settings;
    this.#connect = connect;
    this.#proxyFor = proxyChoice(settings.proxy);
  }

  async request(request: ClientRequest): Promise<ClientResponse | Problem> {
    this.#undici ??= await loadUndici();
    const url = new URL(request.url);
    const route = this.#route(url, request);
    if ("code" in route) return route;
    const kept = await this.#kept.take(route.key);
    if (kept !== undefined) {
      const answer = await this.#exchange(kept, url, request);
      // A reused connection may break, or carry something that is not the answer, for reasons unrelated to this
      // request: it is sent again on a new one.
      if (!("code" in answer)) return answer;
    }
    return this.#exchange(this.#open(this.#undici, route), url, request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.destroy()));
    this.#kept.clear();
  }

  async #exchange(connection: UndiciConnection, url: URL, request: ClientRequest): Promise<ClientResponse | Problem> {
    const { headers, signal } = request;
    signal.throwIfAborted();
    const { proxy, isTunnel } = connection.route;
    const { documentBytes } = this.#settings.limits;
    const exchange = new UndiciExchange(connection, request, documentBytes, (isWhole) =>
      this.#giveBack(connection, isWhole),
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
      await exchange.return();
      return problem("proxy-refused", { status: 407, value: "GET" });
    } catch (error) {
      signal.throwIfAborted();
      return problemOf(error, "head");
    }
  }

  #route(url: URL, request: ClientRequest): Route | Problem {
    const { allowPrivate, attempt = 1 } = request;
    const isRetry = attempt > 1;
    const secure = url.protocol === "https:";
    const proxy = this.#proxyFor(url);
    // A proxy would resolve a name without a dot in its own network.
    if (proxy !== undefined && !allowPrivate && !/[.:]/.test(hostOf(url))) return problem("address-blocked");
    const reach = !allowPrivate ? "public" : this.#settings.network === "default" ? "start" : "any";
    const endpoint: Endpoint = { secure, host: hostOf(url), port: Number(url.port) || (secure ? 443 : 80), reach };
    const key = `${url.origin} ${proxy?.origin ?? reach}`;
    return { key, origin: url.origin, endpoint, proxy, isTunnel: secure, isRetry };
  }

  #open(undici: typeof Undici, route: Route): UndiciConnection {
    const connection = new UndiciConnection(undici, route, this.#connect, {
      onDisconnect: () => this.#forget(connection),
      onUnasked: () => this.#kept.distrust(route.key),
    });
    this.#connections.add(connection);
    return connection;
  }

  #giveBack(connection: UndiciConnection, isWhole: boolean): void {
    connection.rest();
    if (!isWhole || !this.#kept.add(connection)) this.#forget(connection);
  }

  #forget(connection: UndiciConnection): void {
    this.#connections.delete(connection);
    this.#kept.remove(connection);
    void connection.destroy();
  }
}
