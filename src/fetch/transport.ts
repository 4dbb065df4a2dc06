// A connection that is ready for a request, and what there is to know about it.
import type net from "node:net";
import type { Wire } from "./wire.ts";

export class Transport {
  /** Where requests are written and responses read. */
  readonly socket: net.Socket;
  /** Called whenever bytes came, before anybody else sees them. */
  onReceive: () => void = () => {};
  /** What went wrong first. node:tls goes on after an alert of the other side, and undici tells only what it makes of that. */
  error: Error | undefined;
  readonly #bottom: net.Socket;
  #hasTlsEnded = false;
  readonly #isSecure: boolean;

  /** `bottom` is the socket under everything; `wire` is under TLS, where there is TLS. It has to call `onReceive`. */
  constructor(socket: net.Socket, bottom: net.Socket, wire: Wire | undefined) {
    this.socket = socket;
    this.#bottom = bottom;
    this.#isSecure = wire !== undefined;
    socket.on("error", (error) => {
      this.error ??= error;
    });
    if (wire === undefined) {
      socket.on("readable", () => this.onReceive());
      return;
    }
    const push = socket.push;
    // `null` is the end: told by TLS, or by nothing but the end of what is under it.
    socket.push = (chunk, encoding) => {
      if (chunk === null) this.#hasTlsEnded = !wire.readableEnded;
      return push.call(socket, chunk, encoding);
    };
    // The socket at the bottom is what keeps a process alive.
    socket.ref = () => {
      bottom.ref();
      return socket;
    };
    socket.unref = () => {
      bottom.unref();
      return socket;
    };
  }

  /** How many bytes came off the network so far, those of TLS and of a proxy included. */
  get received(): number {
    return this.#bottom.bytesRead;
  }

  /** Whether the other side said that nothing more comes: over TLS, the end of the connection does not say it. */
  get hasEnded(): boolean {
    return this.#isSecure ? this.#hasTlsEnded : !this.socket.errored;
  }
}
