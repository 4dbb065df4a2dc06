// One connection: an undici Client with one socket. So a request knows its socket, can end it while it connects, and
// can count all received bytes, whatever undici makes of them. Bytes that come without a request end the connection.
import type { Client as UndiciClient } from "undici";
import type { Connect, Way } from "./connect.ts";
import { countConnection } from "./receive.ts";
import type { Transport } from "./transport.ts";
import type { UndiciExchange } from "./undici-exchange.ts";

/** The route of a connection, and which requests may share it. */
export interface Route extends Way {
  /** Equal for requests that may share a connection. */
  readonly key: string;
  readonly origin: string;
}

export class UndiciConnection {
  readonly route: Route;
  readonly client: UndiciClient;
  /** Once it is open. */
  transport: Transport | undefined;
  /** The request whose response is not complete. */
  exchange: UndiciExchange | undefined;
  /** How many responses were received to their end. */
  served = 0;
  /** On the clock of performance.now(). */
  idleSince = 0;
  readonly #connecting = new AbortController();
  readonly #onUnasked: () => void;
  readonly #uncount = countConnection();
  #receivedWhenIdle = 0;

  /** `onUnasked`: the website sent something without a request. */
  constructor(
    Client: typeof UndiciClient,
    route: Route,
    connect: Connect,
    events: { onDisconnect(): void; onUnasked(): void },
  ) {
    this.route = route;
    this.#onUnasked = events.onUnasked;
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
          (transport) => {
            this.#open(transport);
            callback(null, transport.socket);
          },
          (error) => callback(error, null),
        );
      },
    });
    this.client.once("disconnect", (_, __, error: { code?: unknown } | undefined) => {
      if (this.exchange === undefined && this.#isSurplus(error?.code)) this.#onUnasked();
      events.onDisconnect();
    });
  }

  /** Whether it is open, and nothing came without a request. */
  get isQuiet(): boolean {
    const socket = this.transport?.socket;
    return socket !== undefined && !socket.destroyed && socket.readableLength === 0;
  }

  /** The response was received to its end. */
  rest(): void {
    this.exchange = undefined;
    this.served++;
    this.idleSince = performance.now();
    this.#receivedWhenIdle = this.transport?.received ?? 0;
  }

  async destroy(reason?: Error): Promise<void> {
    this.#uncount();
    // One shared error: creating a stack trace costs time, and a fleet closes very many connections.
    if (this.transport === undefined) this.#connecting.abort(reason);
    await this.client.destroy(reason ?? closed);
  }

  #open(transport: Transport): void {
    this.transport = transport;
    const { socket } = transport;
    transport.onReceive = () => {
      if (this.exchange !== undefined) this.exchange.onReceive();
      // Without a request, only TLS may send something, and not much.
      else if (transport.received - this.#receivedWhenIdle > idleBytes) socket.destroy();
    };
    transport.holdsEnd = () => this.exchange?.isPaused === true;
    // Before undici's listener, which is added later.
    socket.on("readable", () => {
      if (this.exchange !== undefined || socket.readableLength === 0) return;
      this.#onUnasked();
      socket.destroy();
    });
  }

  // undici uses one error both for bytes after the end of a response and for a connection that was closed.
  #isSurplus(code: unknown): boolean {
    if (typeof code !== "string") return false;
    return code.startsWith("HPE_") || (code === "UND_ERR_SOCKET" && this.transport?.socket.readableEnded === false);
  }
}

const closed = Object.assign(new Error("The connection is no longer needed"), { code: "UND_ERR_DESTROYED" });

// Names and values together. https://nodejs.org/api/cli.html#--max-http-header-sizesize has the same default.
const headerBytes = 16 * 1024;

// How long an unused connection is kept, in milliseconds: long enough for the next sitemap, short enough to cost nothing.
const idleTime = 4000;

// Session tickets of TLS 1.3 take about a kilobyte.
const idleBytes = 64 * 1024;
