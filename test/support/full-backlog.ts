// A port where connections are never established: a thread that listens and then sleeps. The kernel completes connections
// until its queue is full; later ones get no answer.
import { once } from "node:events";
import net from "node:net";
import { Worker } from "node:worker_threads";

export interface FullBacklog {
  readonly port: number;
  close(): Promise<void>;
}

export async function fullBacklog(): Promise<FullBacklog> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => { Atomics.wait(workerData, 0, 0); server.close(); });
     });`,
    { eval: true, workerData: gate },
  );
  const [port] = (await once(worker, "message")) as [number];
  const fillers = Array.from({ length: 8 }, () => net.connect(port, "127.0.0.1").on("error", () => {}));
  // All sockets have started to connect by then, and the sleeping thread accepts none of them.
  await Promise.any(fillers.map((socket) => once(socket, "connect")));
  return {
    port,
    async close() {
      for (const socket of fillers) socket.destroy();
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
      await worker.terminate();
    },
  };
}
