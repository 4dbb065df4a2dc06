// A connection that can be lost: passes bytes on until it is cut, refuses while it is down, and then passes them again.
import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./loopback.ts";

export interface TcpProxy {
  readonly port: number;
  /** From here on nothing passes, as where a cable was pulled: nobody is told. */
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
