// What happens when something dies: each row of the table in docs/fleet.md is a test here. A real Redis
// and real workers; whoever dies or is stopped is a process. SITEGROVE_KILLS makes it harder.
// Needs Redis, processes, more than a second.
import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RunQueue } from "../../src/fleet/run-queue.ts";
import { type SiteSummary, siteJob } from "../../src/fleet/site-job.ts";
import type { Lease, QueueCounts } from "../../src/fleet/site-queue.ts";
import { type ManyServers, manyServers } from "../fleet/many-servers.ts";
import { onQueue } from "../support/grown.ts";
import { isLong, some } from "../support/long.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { testFolder } from "../support/test-folder.ts";
import { failureRows } from "./failure-rows.ts";
import { type Ended, ended, launch, type Started, start } from "./program.ts";

// More than one death of a website is what the last row is about.
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
  /** Answers the first visits, and holds the others until it is opened. */
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
  async function filled(count: number): Promise<RunQueue> {
    const queue = await RunQueue.open(url());
    await queue.add(jobs(count));
    return queue;
  }
  const counted = (queue: RunQueue, isSo: (counts: QueueCounts) => boolean) =>
    onQueue(url(), "default", async () => isSo(await queue.counts()));
  async function done(queue: RunQueue, count: number): Promise<SiteSummary[]> {
    await counted(queue, ({ done }) => done >= count);
    const results: SiteSummary[] = [];
    for await (const summary of queue.results()) results.push(summary);
    // Nothing is lost, and nothing is there twice.
    expect(results.map(({ site }) => site)).toEqual(jobs(count).map(({ homepage }) => homepage));
    return results;
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
    // Nothing is left of attempts that were killed. Each result names a file that is there.
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
    // The second attempt, or one after that: on a busy machine, a lease of a second is lost by others, too.
    expect(Number(result?.attemptId.split("-")[1])).toBeGreaterThanOrEqual(2);
    // It finds everything answered, and publishes late; then it ends.
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
    // A busy machine must not cost a lease: who reads it again would wait behind the gate, too.
    for (let count = 0; count < 2; count += 1) work(["--concurrency", "3", "--lease", "30"]);
    await counted(queue, ({ done, active }) => done === 3 && active >= 6);
    await redis.kill();
    await redis.start();
    gate.open();
    const results = await done(queue, 10);
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(["complete"]));
    for (const worker of workers) worker.kill("SIGTERM");
    for (const { end } of workers) expect((await end).stderr).toContain("reconnected to the queue");
    await queue.close();
  });

  // Silence takes long to notice: without that, it is much the same.
  test.each(isLong ? (["cut", "freeze"] as const) : (["cut"] as const))(`${connectionLost} (%s)`, async (how) => {
    const queue = await filled(8);
    const proxy = await tcpProxy(redis.port);
    const gate = hold(2);
    work(["--concurrency", "3"], proxy.port);
    await counted(queue, ({ done, active }) => done === 2 && active >= 3);
    proxy[how]();
    // Its leases end: others have what it was reading.
    const other = await RunQueue.open(url(), { leaseTime: 1000 });
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
      expect(stderr).toContain("The queue failed: the server is full (maxmemory)");
      await expect(queue.add(jobs(20))).rejects.toThrow("the server is full");
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
    // Processes that die are much the same as connections that end without a word: the last one is one, in the long run all.
    const processesThatDie = some(3, 1);
    for (let death = 1; death <= 5 - processesThatDie; death += 1) {
      const dying = await RunQueue.open(url(), { leaseTime: 800 });
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
