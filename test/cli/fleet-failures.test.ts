// What happens when something dies: each row of the table in docs/fleet.md is a test here. A real Redis
// and real workers; whoever dies or is stopped is a process. SITEGROVE_KILLS makes it harder.
// Needs Redis, processes, more than a second.
import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { type SiteSummary, siteJob } from "../../src/fleet/site-job.ts";
import type { Lease, QueueCounts } from "../../src/fleet/site-queue.ts";
import { type ManyServers, manyServers } from "../fleet/many-servers.ts";
import { onQueue } from "../support/grown.ts";
import { isLong, some } from "../support/long.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { testFolder } from "../support/test-folder.ts";
import { failureRows } from "./failure-rows.ts";
import { type Ended, ended, launch, type Started, start } from "./program.ts";

// The last row is about a website that kills several workers.
const { SITEGROVE_KILLS = String(some(2, 1)) } = process.env;

const [killed, stoppedPastLease, redisKilled, connectionLost, redisFull, deadly] = failureRows;

describe.skipIf(!hasRedis)("what happens when", () => {
  let redis: RedisServer;
  const at = testFolder();
  let database = 0;
  let processes: { readonly child: ChildProcess; readonly end: Promise<Ended> }[] = [];
  let workers: Started[] = [];
  let websites: ManyServers;
  /** Called for each request for a robots.txt, before it is answered. */
  let onVisit: (site: string) => Promise<void> | void = () => {};
  process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
  beforeAll(async () => {
    redis = await startRedis();
    websites = await manyServers({
      count: 24,
      gate: (host, name) => (name === "/robots.txt" ? onVisit(`http://${host}/`) : undefined),
    });
  });
  afterAll(async () => {
    websites.close();
    await redis.stop();
  });
  beforeEach(() => {
    database += 1;
    onVisit = () => {};
  });
  afterEach(async () => {
    for (const { child } of processes) child.kill("SIGKILL");
    await Promise.all([...processes.map(({ end }) => end), ...workers.map((worker) => worker.stop())]);
    [processes, workers] = [[], []];
  });
  /** Lets the first visits pass, and holds the others until `open` is called. */
  function hold(first = 0): { readonly visited: Promise<unknown>; open(): void } {
    let visits = 0;
    const events = new EventEmitter().setMaxListeners(0);
    const gate = once(events, "open");
    onVisit = async () => {
      events.emit("visit");
      visits += 1;
      if (visits > first) await gate;
    };
    return { visited: once(events, "visit"), open: () => void events.emit("open") };
  }
  const url = (port = redis.port) => `redis://127.0.0.1:${port}/${database}`;
  const jobs = (count: number) => websites.sites.slice(0, count).flatMap((site) => siteJob(site) ?? []);
  const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
  const working = (flags: readonly string[], port?: number) => [
    ...["fleet", "worker", "--queue", url(port), "--lease", "1", "--stay", "--out", at()],
    ...["--no-homepage", "--retries", "0", "--allow-private", ...flags],
  ];
  function work(flags: readonly string[] = [], port?: number): Started {
    const worker = launch(working(flags, port), { env });
    workers.push(worker);
    return worker;
  }
  function workAsProcess(flags: readonly string[] = []) {
    const child = start(working(flags), { env });
    const worker = { child, end: ended(child) };
    processes.push(worker);
    return worker;
  }
  async function filled(count: number): Promise<BullQueue> {
    const queue = await BullQueue.open(url());
    await queue.add(jobs(count));
    return queue;
  }
  const counted = (queue: BullQueue, isSo: (counts: QueueCounts) => boolean) =>
    onQueue(url(), "default", async () => isSo(await queue.counts()));
  async function done(queue: BullQueue, count: number): Promise<SiteSummary[]> {
    await counted(queue, ({ done }) => done >= count);
    const results: SiteSummary[] = [];
    for await (const summary of queue.results()) results.push(summary);
    // Nothing is lost, and nothing is duplicated.
    const sites = jobs(count).map(({ homepage }) => homepage);
    expect(results.map(({ site }) => site).sort()).toEqual([...sites].sort());
    return results.sort((one, other) => sites.indexOf(one.site) - sites.indexOf(other.site));
  }
  const files = () =>
    readdirSync(at(), { recursive: true, encoding: "utf8" }).filter((name) => statSync(at(name)).isFile());

  test(killed, async () => {
    const queue = await filled(some(24, 12));
    const gate = hold();
    for (let kill = 0; kill < Number(SITEGROVE_KILLS); kill += 1) {
      const { child } = workAsProcess(["--concurrency", "6"]);
      await counted(queue, ({ active, waiting }) => active >= 4 || waiting === 0);
      if (kill === 0) work(["--concurrency", "6"]);
      child.kill("SIGKILL");
    }
    gate.open();
    const results = await done(queue, some(24, 12));
    if (Number(SITEGROVE_KILLS) < 3)
      expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(["complete"]));
    // Killed attempts leave no files, and every result names a file that exists.
    const kept = files().filter((name) => !name.startsWith("summaries/"));
    expect(kept.sort()).toEqual(results.flatMap((result) => Object.values(result.files)).sort());
    for (const { files: named } of results) expect(readFileSync(at(named["pages"]), "utf8")).not.toBe("");
    await queue.close();
  });

  test(stoppedPastLease, async () => {
    const queue = await filled(1);
    const gate = hold();
    const zombie = workAsProcess();
    await gate.visited;
    zombie.child.kill("SIGSTOP");
    onVisit = () => {};
    work();
    const [result] = await done(queue, 1);
    // This may be the second attempt or a later one: on a busy machine, other workers may also lose a lease of a second.
    expect(Number(result?.attemptId.split("-")[1])).toBeGreaterThanOrEqual(2);
    // It finds all its requests answered, publishes too late, and ends.
    gate.open();
    zombie.child.kill("SIGCONT");
    zombie.child.kill("SIGTERM");
    expect((await zombie.end).code).toBe(0);
    expect(await done(queue, 1)).toEqual([result]);
    const kept = files().filter((name) => !name.startsWith("summaries/"));
    expect(kept.sort()).toEqual(Object.values(result?.files ?? {}).sort());
    await queue.close();
  });

  test(redisKilled, async () => {
    const queue = await filled(10);
    const gate = hold(3);
    // A busy machine must not lose a lease, because the next reader would wait behind the gate, too.
    for (let count = 0; count < 2; count += 1) work(["--concurrency", "3", "--lease", "30"]);
    await counted(queue, ({ done, active }) => done === 3 && active >= 6);
    await redis.kill();
    await redis.start();
    gate.open();
    const results = await done(queue, 10);
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(["complete"]));
    for (const worker of workers) worker.kill("SIGTERM");
    for (const { end } of workers) expect((await end).stderr).toContain(said.reconnected);
    await queue.close();
  });

  // Silence takes long to notice, so only the long run waits for it.
  test.each(isLong ? (["cut", "freeze"] as const) : (["cut"] as const))(`${connectionLost} (%s)`, async (how) => {
    const queue = await filled(8);
    const proxy = await tcpProxy(redis.port);
    const gate = hold(2);
    work(["--concurrency", "3"], proxy.port);
    await counted(queue, ({ done, active }) => done === 2 && active >= 3);
    proxy[how]();
    // Its leases end, and other workers take over its websites.
    const other = await BullQueue.open(url(), { leaseTime: 1000 });
    const taken: Lease[] = [];
    while (taken.at(-1)?.starts !== 2) taken.push((await other.take(new AbortController().signal)) as Lease);
    await Promise.all(taken.map((lease) => lease.retry()));
    await other.close();
    gate.open();
    // Silence is noticed after ten seconds; before that, somebody restarts the network here.
    if (how === "freeze") proxy.cut();
    proxy.mend();
    await done(queue, 8);
    await proxy.close();
    await queue.close();
  });

  test(redisFull, async () => {
    const queue = await filled(8);
    const client = new Redis({ port: redis.port, password: redisPassword });
    await client.config("SET", "maxmemory", "1mb");
    try {
      const { end } = work(["--concurrency", "2"]);
      const { code, stderr } = await end;
      expect(code).toBe(1);
      expect(stderr).toContain(said.serverFull);
      await expect(queue.add(jobs(20))).rejects.toThrow(said.serverFull);
    } finally {
      await client.config("SET", "maxmemory", "0");
      client.disconnect();
    }
    work();
    await done(queue, 8);
    await queue.close();
  });

  test(deadly, async () => {
    const queue = await filled(1);
    // A killed process is much like a connection that ends silently, so only the last worker is a process, except in the long run.
    const processesThatDie = some(3, 1);
    for (let death = 1; death <= 5 - processesThatDie; death += 1) {
      const dying = await BullQueue.open(url(), { leaseTime: 800 });
      expect((await dying.take(new AbortController().signal))?.starts).toBe(death);
      await dying.close();
    }
    await queue.add(jobs(3));
    onVisit = (site) => {
      if (site !== websites.sites[0]) return undefined;
      processes.at(-1)?.child.kill("SIGKILL");
      return new Promise(() => {});
    };
    for (let death = 0; death < processesThatDie; death += 1) {
      const { end } = workAsProcess();
      expect((await end).code).toBe("SIGKILL");
    }
    work();
    const results = await done(queue, 3);
    expect(results.map(({ outcome }) => outcome)).toEqual(["quarantined", "complete", "complete"]);
    expect(await queue.counts()).toMatchObject({ done: 3, failed: 1 });
    await queue.close();
  });
});
