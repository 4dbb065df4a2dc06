// A connection that is ready for a request, and its byte counts.
import type net from "node:net";
import type { Wire } from "./wire.ts";

export class Transport {
  /** Requests are written to it and responses read from it. */
  readonly socket: net.Socket;
  /** Called for all received bytes, before anybody else sees them. */
  onReceive: () => void = () => {};
  /** The first error. node:tls continues after an alert, and undici only reports what follows from it. */
  error: Error | undefined;
  /** Whether the end of the connection has to wait: undici takes none while the reader of a body holds it back. */
  holdsEnd: () => boolean = () => false;
  /** The website reset the connection, but Node.js reported a regular end: it does so where the reset arrives together with data. */
  wasReset = false;
  /** Nothing more comes: what is left is in memory, and holding it back is of no use. */
  isOver = false;
  readonly #push: net.Socket["push"];
  #isEndHeld = false;
  readonly #bottom: net.Socket;
  #hasTlsEnded = false;
  readonly #isSecure: boolean;

  /** `bottom` is the TCP socket; `wire` is the stream under TLS, if there is TLS, and has to call `onReceive`. */
  constructor(socket: net.Socket, bottom: net.Socket, wire: Wire | undefined) {
    this.socket = socket;
    this.#bottom = bottom;
    this.#isSecure = wire !== undefined;
    socket.on("error", (error) => {
      this.error ??= error;
    });
    this.#push = socket.push;
    // `null` is the end, either of TLS or only of the connection under it.
    socket.push = (chunk, encoding) => {
      if (chunk === null && wire !== undefined) this.#hasTlsEnded = !wire.readableEnded;
      if (chunk === null) this.isOver = true;
      if (chunk === null && wire === undefined) this.wasReset = hasNoPeer(bottom);
      this.#isEndHeld = chunk === null && this.holdsEnd();
      return !this.#isEndHeld && this.#push.call(socket, chunk, encoding);
    };
    if (wire === undefined) {
      socket.on("readable", () => this.onReceive());
      return;
    }
    // The end of TLS comes later, when this socket may be closed.
    bottom.on("end", () => {
      this.wasReset = hasNoPeer(bottom);
    });
    // Only the TCP socket keeps a process alive.
    socket.ref = () => {
      bottom.ref();
      return socket;
    };
    socket.unref = () => {
      bottom.unref();
      return socket;
    };
  }

  /** An end that was held back is told. */
  releaseEnd(): void {
    if (!this.#isEndHeld) return;
    this.#isEndHeld = false;
    this.#push.call(this.socket, null);
    this.socket.read(0);
  }

  /** All bytes received from the network, including those of TLS and of a proxy. */
  get received(): number {
    return this.#bottom.bytesRead;
  }

  /** Whether the server said that nothing more follows: over TLS, the end of the connection does not say it. */
  get hasEnded(): boolean {
    return this.#isSecure ? this.#hasTlsEnded : !this.socket.errored && !this.wasReset;
  }
}

// After a reset an open socket has no peer, after a regular end it still has.
function hasNoPeer(socket: net.Socket): boolean {
  return !socket.destroyed && socket.remoteAddress === undefined;
}
