// A TCP proxy that can fail: it passes bytes on until it is cut, refuses connections while it is down, and can start again.
import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./loopback.ts";

export interface TcpProxy {
  readonly port: number;
  /** Drops all bytes from now on without closing connections, as if a cable were pulled. */
  freeze(): void;
  /** Ends all connections, and refuses new ones. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function tcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isDown = false;
  const server = createServer((near) => {
    if (isDown) return void near.destroy();
    const far = connect(target, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
  });
  const port = await listenOnLoopback(server);
  const cut = () => {
    isDown = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    cut,
    mend() {
      isDown = false;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
