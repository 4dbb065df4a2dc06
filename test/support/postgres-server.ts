// A real PostgreSQL on loopback, with a password, in a temporary folder. It does not run as root: there it belongs to the user `postgres`.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { freePort } from "./own-port.ts";

const root = "/usr/lib/postgresql";
const programs = versions()
  .map((version) => path.join(root, version, "bin"))
  .at(-1);
const isRoot = process.getuid?.() === 0;
const account: { uid?: number; gid?: number } | undefined = isRoot ? accountOf("postgres") : {};

/** Where it is missing, tests are skipped: PostgreSQL is experimental. */
export const hasPostgres: boolean = programs !== undefined && account !== undefined;

export const postgresPassword = "another secret";

export interface PostgresServer {
  readonly port: number;
  /** Makes an empty database; gives its URL. */
  database(name: string): Promise<string>;
  /** Removes what is in a database, but not its tables: making them again takes longer than most tests. */
  empty(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "postgres-"));
  const { uid, gid } = account ?? {};
  const secret = path.join(folder, "secret");
  writeFileSync(secret, postgresPassword);
  if (uid !== undefined && gid !== undefined) for (const name of [folder, secret]) chownSync(name, uid, gid);
  const data = path.join(folder, "data");
  const as = { ...account, cwd: folder };
  const made = spawnSync(
    path.join(programs ?? "", "initdb"),
    ["-D", data, "-U", "sitegrove", "-A", "scram-sha-256", "--pwfile", secret, "--no-sync", "-E", "UTF8"],
    { ...as, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const flags = ["-D", data, "-p", String(port), "-c", "listen_addresses=127.0.0.1", "-k", folder, "-c", "fsync=off"];
  const child: ChildProcess = spawn(path.join(programs ?? "", "postgres"), flags, { ...as, stdio: "ignore" });
  const query = async (text: string, database = "postgres") => {
    const client = new Client({
      host: "127.0.0.1",
      port,
      user: "sitegrove",
      password: postgresPassword,
      database,
    });
    client.on("error", () => undefined);
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  for (;;) {
    try {
      await query("select 1");
      break;
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null) throw error;
      await sleep(50);
    }
  }
  return {
    port,
    async database(name) {
      await query(`create database ${name}`);
      return `postgres://sitegrove@127.0.0.1:${port}/${name}`;
    },
    empty: (name) => query(truncate, name),
    async stop() {
      child.kill("SIGQUIT");
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => child.once("exit", resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// BullMQ's table `migration` says that the others are there.
const truncate = `do $$ declare names text; begin
  select string_agg(format('%I.%I', schemaname, tablename), ', ') into names from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'migration';
  execute 'truncate ' || names || ' restart identity cascade';
end $$`;

function versions(): string[] {
  try {
    return readdirSync(root).sort((one, other) => Number(one) - Number(other));
  } catch {
    return [];
  }
}

function accountOf(name: string): { uid: number; gid: number } | undefined {
  const id = (flag: string) => spawnSync("id", [flag, name], { encoding: "utf8" });
  const [user, group] = [id("-u"), id("-g")];
  return user.status === 0 ? { uid: Number(user.stdout), gid: Number(group.stdout) } : undefined;
}
