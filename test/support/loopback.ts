// A server at one or many addresses of loopback. Each is bound on its own: nothing listens where another machine could reach it.
import { createServer, type Server } from "node:net";

/** Listens on the same port of all addresses, and returns it. The listeners close with the server. */
export async function listenOnLoopback(server: Server, addresses: readonly string[] = ["127.0.0.1"]): Promise<number> {
  const foreign = addresses.filter((address) => !address.startsWith("127."));
  if (foreign.length > 0) throw new Error(`not on loopback: ${foreign.join(", ")}`);
  const [first = "127.0.0.1", ...others] = addresses;
  for (;;) {
    // Ports below those that systems use for outgoing connections.
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const listeners = others.map(() => createServer((socket) => server.emit("connection", socket)));
    const isFree = await Promise.all(listeners.map((listener, at) => listens(listener, port, others[at] as string)));
    if (!isFree.includes(false) && (await listens(server, port, first))) {
      server.once("close", () => {
        for (const listener of listeners) listener.close();
      });
      return port;
    }
    for (const listener of listeners) listener.close();
  }
}

function listens(server: Server, port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const refuse = () => resolve(false);
    server.once("error", refuse);
    server.listen(port, address, () => {
      server.off("error", refuse);
      resolve(true);
    });
  });
}
