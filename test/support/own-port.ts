// Finds ports for servers that run as their own processes, and waits until such a server answers.
import type { ChildProcess } from "node:child_process";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { listenOnLoopback } from "./loopback.ts";

/**
 * Below those that systems give to outgoing connections: while a server is down, a connection could take its port, even one to that
 * very port.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until the server answers, however long a busy machine takes. Fails if its process ends. */
export async function listening(port: number, server: ChildProcess): Promise<void> {
  let failure: unknown;
  server.once("error", (error) => {
    failure = error;
  });
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    const end = failure ?? server.exitCode ?? server.signalCode;
    if (end !== null) throw new Error(`${server.spawnfile} ended before it answered on port ${port}: ${end}`);
    if (isOpen) return;
    await sleep(50);
  }
}
