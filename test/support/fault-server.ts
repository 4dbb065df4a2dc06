// A web server that misbehaves on purpose, on raw sockets where HTTP libraries are too polite. A fault is a function that
// answers one request; the named ones take the document that they break, so that each can stand in for robots.txt, an
// index or a leaf.
import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { listenOnLoopback } from "./loopback.ts";

export interface RawRequest {
  readonly path: string;
  readonly method: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** 1 for the first request with this path. */
  readonly nth: number;
}

export interface RawExchange extends RawRequest {
  readonly socket: net.Socket;
  /** Sends a complete response with a length. */
  respond(status: number, headers?: Readonly<Record<string, string>>, body?: string | Uint8Array): void;
}

/** Handles one request, or leaves it unanswered. */
export type Fault = (exchange: RawExchange) => void | Promise<void>;

export interface FaultServer {
  /** `http://127.0.0.1:1234` */
  readonly origin: string;
  readonly port: number;
  /** In the order of arrival. May be cleared. */
  readonly requests: RawRequest[];
  /** Connections so far. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
  /** The most requests that were under way at once. */
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

export interface FaultServerOptions {
  readonly host?: string;
  /** Several addresses of loopback, in place of `host`. */
  readonly addresses?: readonly string[];
  readonly tls?: tls.TLSSocketOptions;
}

/** Serves a fault for each path; other paths are 404. A string is served without a fault. */
export async function faultServer(
  paths: Readonly<Record<string, Fault | string>>,
  { host = "127.0.0.1", addresses, tls: secure }: FaultServerOptions = {},
): Promise<FaultServer> {
  const requests: RawRequest[] = [];
  const counts = new Map<string, number>();
  const sockets = new Set<net.Socket>();
  let connections = 0;
  let underWay = 0;
  let mostAtOnce = 0;

  const onConnection = (socket: net.Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    let buffered = "";
    let turn: Promise<void> = Promise.resolve();
    socket.on("data", (chunk) => {
      buffered += chunk.toString("latin1");
      for (let end = buffered.indexOf("\r\n\r\n"); end >= 0; end = buffered.indexOf("\r\n\r\n")) {
        const request = parseHead(buffered.slice(0, end), counts);
        buffered = buffered.slice(end + 4);
        requests.push(request);
        turn = turn.then(async () => {
          const fault = paths[request.path] ?? notFound;
          underWay++;
          mostAtOnce = Math.max(mostAtOnce, underWay);
          try {
            await (typeof fault === "string" ? whole(fault) : fault)(exchangeOf(request, socket));
          } finally {
            underWay--;
          }
        });
      }
    });
  };
  const server = net.createServer((socket) => {
    if (secure === undefined) return onConnection(socket);
    const secured = new tls.TLSSocket(socket, { isServer: true, ...secure });
    // node:tls has no resets.
    secured.resetAndDestroy = () => {
      socket.resetAndDestroy();
      return secured;
    };
    // Some tests are about failing handshakes.
    socket.on("error", () => secured.destroy());
    return onConnection(secured);
  });
  const port = await listenOnLoopback(server, addresses ?? [host]);
  return {
    origin: `${secure === undefined ? "http" : "https"}://${host}:${port}`,
    port,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function parseHead(head: string, counts: Map<string, number>): RawRequest {
  const [requestLine = "", ...lines] = head.split("\r\n");
  const [method = "", path = ""] = requestLine.split(" ");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const nth = (counts.get(path) ?? 0) + 1;
  counts.set(path, nth);
  return { method, path, headers, nth };
}

function exchangeOf(request: RawRequest, socket: net.Socket): RawExchange {
  return {
    ...request,
    socket,
    respond(status, headers = {}, body = "") {
      const bytes = Buffer.from(body);
      const lines = Object.entries({ "content-length": String(bytes.length), ...headers });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${head}\r\n`, "latin1"), bytes]));
    },
  };
}

const notFound: Fault = (exchange) => exchange.respond(404, {}, "nothing here");

// ---- Responses as they should be.

export function whole(document: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Fault {
  return (exchange) => exchange.respond(200, headers, document);
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}, body = "no document"): Fault {
  return (exchange) => exchange.respond(code, headers, body);
}

export function redirect(location: string, code = 302): Fault {
  return status(code, { location }, "moved");
}

/** Uses the first fault for the first request and so on, and the last one for all further requests. */
export function inTurn(...faults: readonly Fault[]): Fault {
  return (exchange) => faults[Math.min(exchange.nth, faults.length) - 1]?.(exchange);
}

/** A document with a strong ETag: the first response breaks in the middle, the next one sends the range that is requested. */
export function breaksOnce(document: string): Fault {
  const etag = '"1"';
  const bytes = Buffer.from(document);
  let count = 0;
  return (exchange) => {
    if (count++ === 0) {
      exchange.socket.write(head(document).replace("\r\n\r\n", `\r\netag: ${etag}\r\n\r\n`) + half(document));
      return void resetSoon(exchange.socket);
    }
    const start = Number(/^bytes=(\d+)-$/.exec(exchange.headers.get("range") ?? "")?.[1]);
    const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
    return exchange.respond(206, { etag, "content-range": range }, bytes.subarray(start));
  };
}

// ---- Faults.

const head = (document: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(document)}\r\n\r\n`;
const chunkedHead = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const chunk = (value: string) => `${Buffer.byteLength(value).toString(16)}\r\n${value}\r\n`;
const half = (document: string) => document.slice(0, Math.ceil(document.length / 2));
// The data has to be sent before the reset, which would discard it.
const resetSoon = (socket: net.Socket) => setTimeout(() => socket.resetAndDestroy(), 20);

/** Keeps writing, no faster than the other side reads, until the connection ends. */
async function endlessly(socket: net.Socket, piece: string | Buffer, pause = 0): Promise<void> {
  const closed = once(socket, "close").catch(() => {});
  while (!socket.destroyed) {
    const flowing = socket.write(piece);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    else if (!flowing) {
      const drained = new AbortController();
      await Promise.race([once(socket, "drain", { signal: drained.signal }).catch(() => {}), closed]);
      drained.abort();
    } else await new Promise((resolve) => setImmediate(resolve));
  }
}

type MakeFault = (document?: string) => Fault;
type Text = (document: string) => string;

const sends =
  (make: Text): MakeFault =>
  (document = "") =>
  ({ socket }) =>
    void socket.write(make(document));
const ends =
  (make: Text): MakeFault =>
  (document = "") =>
  ({ socket }) =>
    void socket.end(make(document));
const resets =
  (make: Text): MakeFault =>
  (document = "") =>
  ({ socket }) => {
    socket.write(make(document));
    resetSoon(socket);
  };
const sendsEndlessly =
  (make: Text, piece: string, pause = 0): MakeFault =>
  (document = "") =>
  ({ socket }) => {
    socket.write(make(document));
    return endlessly(socket, piece, pause);
  };

const ok = "HTTP/1.1 200 OK\r\n";
const nothing = () => "";
const announced = (document: string) => head(document) + half(document);
const inChunks = (document: string) => chunkedHead + chunk(half(document));
const withoutLength = (document: string) => `${ok}\r\n${half(document)}`;

const after = (lines: string) => sends((document) => `${lines}content-length: ${document.length}\r\n\r\n${document}`);
const encoded = (encodings: string) =>
  sends((document) => `${ok}transfer-encoding: ${encodings}\r\n\r\n${chunk(document)}0\r\n\r\n`);

/** Each takes the document that is asked for. What a fault sends of it is its first half, unless it says otherwise. */
export const faults = {
  silence: () => () => {},
  "stall in headers": sends(() => `${ok}content-type: text/xm`),
  "stall before body": sends(head),
  "stall in body": sends(announced),
  "drip of headers": sendsEndlessly(() => `${ok}x-drip: `, "x", 10),
  "drip of body": sendsEndlessly(inChunks, chunk(" "), 10),
  "endless body": sendsEndlessly(inChunks, chunk(" ".repeat(16_384))),
  "endless body without length": sendsEndlessly(withoutLength, " ".repeat(16_384)),
  "flood of 103": sendsEndlessly(nothing, "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"),
  "flood of 100": sendsEndlessly(nothing, "HTTP/1.1 100 Continue\r\n\r\n"),
  "reset before headers":
    () =>
    ({ socket }) =>
      void socket.resetAndDestroy(),
  "empty reply": ends(nothing),
  "reset in headers": resets(() => `${ok}content-ty`),
  "reset before body": resets(head),
  "reset in body": resets(announced),
  "reset in chunked body": resets(inChunks),
  "reset in body without length": resets(withoutLength),
  "length too long": ends(
    (document) => `${ok}content-length: ${Buffer.byteLength(document) + 1000}\r\n\r\n${document}`,
  ),
  "length too short": sends((document) => `${ok}content-length: ${half(document).length}\r\n\r\n${document}`),
  "two lengths": sends((document) => `${ok}content-length: 5\r\ncontent-length: ${document.length}\r\n\r\n${document}`),
  "length and chunked": sends(
    (document) => `${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n${chunk(document)}0\r\n\r\n`,
  ),
  "no final chunk": ends(inChunks),
  "bad chunk size": sends((document) => `${inChunks(document)}zz\r\nrest\r\n0\r\n\r\n`),
  "chunk extensions": sendsEndlessly(inChunks, `1;${"x".repeat(1_000_000)}\r\n \r\n`),
  "large header": sends((document) => `${ok}x-large: ${"x".repeat(140_000)}\r\n\r\n${document}`),
  "header bomb": sendsEndlessly(() => ok, `x-${"a".repeat(8)}: b\r\n`.repeat(100)),
  "nul in header": sends((document) => `${ok}x-nul: a\0b\r\ncontent-length: ${document.length}\r\n\r\n${document}`),
  "line feeds only": sends((document) => `HTTP/1.1 200 OK\ncontent-length: ${document.length}\n\n${document}`),
  "folded header": after(`${ok}x: a\r\n b\r\n`),
  "unasked 100 Continue": after(`HTTP/1.1 100 Continue\r\n\r\n${ok}`),
  "3,000 headers before the length": after(`${ok}${"x: 1\r\n".repeat(3000)}`),
  "status 000": after("HTTP/1.1 000 No\r\n"),
  "status 099": after("HTTP/1.1 099 No\r\n"),
  "chunked before another encoding": encoded("chunked, identity"),
  "chunked before another encoding, in two headers": encoded("chunked\r\nTransfer-Encoding: identity"),
  "chunked twice": encoded("chunked, chunked"),
  "space after a header name": sends((document) => `${ok}content-length : ${document.length}\r\n\r\n${document}`),
  "http 0.9": ends((document) => document),
  "not http": ends(() => "SSH-2.0-OpenSSH_9.2p1\r\n"),
  "unasked upgrade": sends(() => "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"),
} as const satisfies Readonly<Record<string, MakeFault>>;
