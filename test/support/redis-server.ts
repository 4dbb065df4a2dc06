// A real Redis on loopback, with a password and a log of everything (AOF), in a temporary folder. Debian's package; `SITEGROVE_REDIS`
// names another program, such as Valkey's.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { atEnd } from "./at-end.ts";
import { hasProgram } from "./installed.ts";
import { freePort, listening } from "./own-port.ts";

const { SITEGROVE_REDIS: program = "redis-server" } = process.env;

export const hasRedis: boolean = hasProgram(program);

export const redisPassword = "a secret, 100% of it";

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it on the same port, with the data that it wrote before. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(flags: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const words = [
    ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--databases", "64"],
    ...["--appendonly", "yes", "--appendfsync", "always", "--requirepass", redisPassword, ...flags],
  ];
  const exited = (one: ChildProcess) =>
    one.exitCode !== null || one.signalCode !== null ? undefined : new Promise((resolve) => one.once("exit", resolve));
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}/0`,
    get process() {
      if (child === undefined) throw new Error("Redis is not started");
      return child;
    },
    async start() {
      child = spawn(program, words, { stdio: "ignore" });
      await listening(port, child);
    },
    async kill() {
      if (child === undefined) return;
      child.kill("SIGKILL");
      await exited(child);
    },
    async stop() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  atEnd(server.stop);
  return server;
}
