// The queue of several machines: the contract, against a real Redis.
// Needs Redis, more than a second.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { runFleet } from "../../src/fleet/run-fleet.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import { sitegrove } from "../cli/program.ts";
import { createAuthority } from "../support/certificates.ts";
import { some } from "../support/long.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { freePort, listening } from "../support/own-port.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { job, queueContract, readRest, summaryOf, taken } from "./queue-contract.ts";

process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;

describe.skipIf(!hasRedis)("on Redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  // Each test has a database of its own.
  let database = 0;
  afterEach(() => {
    database += 1;
  });
  const url = () => `redis://127.0.0.1:${redis.port}/${database}`;

  queueContract(() => ({
    name: "BullMQ on Redis",
    open: (leaseTime) => BullQueue.open(url(), { leaseTime }),
    // Nobody renews the leases any more.
    crash: (queue) => queue.close(),
    remove: async () => {},
  }));

  test("closing a queue rejects pending and later calls", async () => {
    const { signal } = new AbortController();
    const queue = await BullQueue.open(url());
    await queue.add([job("a")]);
    await taken(queue);
    const waiting = expect(queue.take(signal)).rejects.toThrow("The queue is closed");
    await queue.close();
    await waiting;
    for (const asking of [queue.take(signal), queue.counts(), queue.remove()])
      await expect(asking).rejects.toThrow("The queue is closed");
  });

  test("a worker that loses its lease learns about it, and its result is rejected", async () => {
    const [one, other] = [
      await BullQueue.open(url(), { leaseTime: 2000 }),
      await BullQueue.open(url(), { leaseTime: 2000 }),
    ];
    await one.add([job("a")]);
    const lease = await taken(one);
    const client = new Redis({ port: redis.port, password: redisPassword, db: database });
    // Makes the lease expire, as if it had not been renewed.
    await client.del(await client.keys("*:lock"));
    const second = await taken(other);
    await new Promise<void>((resolve) => {
      if (lease.lost.aborted) resolve();
      lease.lost.addEventListener("abort", () => resolve());
    });
    expect(await lease.done(summaryOf(lease))).toBe("superseded");
    expect(await second.done(summaryOf(second))).toBe("accepted");
    client.disconnect();
    await Promise.all([one.close(), other.close()]);
  });

  test("removing a run does not affect other runs", async () => {
    const [monday, tuesday] = [
      await BullQueue.open(url(), { run: "monday" }),
      await BullQueue.open(url(), { run: "tuesday" }),
    ];
    for (const queue of [monday, tuesday]) {
      await queue.add(["a", "b"].map(job));
      const lease = await taken(queue);
      await expect(queue.remove()).rejects.toThrow("has 1 website in progress: stop its workers first");
      await lease.done(summaryOf(lease));
    }
    // Stands for a dead worker, because nobody renews the lock of its website.
    await taken(monday);
    const client = new Redis({ port: redis.port, password: redisPassword, db: database });
    expect(await monday.held()).toBe(1);
    await client.del(await client.keys("*:lock"));
    client.disconnect();
    const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
    const { stdout } = await sitegrove(["fleet", "status", "--queue", url(), "--run", "monday"], { env });
    expect(stdout).toContain("monday: waiting for workers: 0 websites in progress, 1 waiting\n");
    await monday.remove();
    expect(await monday.counts()).toEqual({ waiting: 0, active: 0, done: 0, failed: 0 });
    expect(await tuesday.counts()).toEqual({ waiting: 1, active: 0, done: 1, failed: 0 });
    await Promise.all([monday.close(), tuesday.close()]);
  });

  test("runFleet works with a BullQueue, and refuses private addresses that come from the queue", async () => {
    const queue = await BullQueue.open(url());
    await expect(runFleet({ queue, headers: { "x-key": "1" } })).rejects.toMatchObject({ code: "invalid-option" });
    const { done, results } = await runFleet({ queue, sites: ["http://127.0.0.1:8/"] });
    expect(done).toBe(1);
    const reasons: string[] = [];
    for await (const summary of results) reasons.push(String(summary.reasons[0]?.code));
    expect(reasons).toEqual(["address-blocked"]);
    const again: string[] = [];
    for await (const { attemptId } of queue.results()) again.push(attemptId);
    expect(again).toHaveLength(1);
    await queue.close();
  });

  test("jobs added by other programs fail, and do not block the queue", async () => {
    const queue = await BullQueue.open(url());
    await queue.add([job("a")]);
    const connection = { port: redis.port, password: redisPassword, db: database };
    const sites = new Queue("sitegrove.default", { connection });
    const foreign: unknown[] = [
      ...[null, 5, "text", [], {}, { key: 5, homepage: 6 }, { key: "k", homepage: "http://" }],
      ...[
        { key: "k", homepage: "file:///etc/passwd" },
        { key: "k", homepage: "javascript:alert(1)" },
        // The key of a website, with something else to crawl.
        { ...job("b"), sitemaps: ["https://x.example/sitemap.xml"] },
      ],
      JSON.parse('{"__proto__":{"key":"k","homepage":"https://x.example/"}}'),
    ];
    // Another job for a website of the list would count it twice.
    foreign.push(job("a"), job("b"));
    for (const data of foreign) await sites.add("site", data);
    expect(await readRest(queue)).toEqual([job("a").key]);
    expect(await queue.counts()).toMatchObject({ done: foreign.length + 1, failed: foreign.length });
    const results: SiteSummary[] = [];
    for await (const summary of queue.results()) results.push(summary);
    expect(results[0]?.site).toBe(job("a").homepage);
    expect(results.slice(1).map(({ outcome, reasons }) => `${outcome}: ${reasons[0]?.message}`)).toEqual(
      foreign.map(() => "failed: Another program added the job"),
    );
    await Promise.all([sites.close(), queue.close()]);
  });

  test("jobs and results that were tampered with count as failed, block no worker, and can be crawled again", async () => {
    const queue = await BullQueue.open(url());
    await queue.add(["a", "b"].map(job));
    await readRest(queue);
    const client = new Redis({ port: redis.port, password: redisPassword, db: database });
    const [id] = await client.zrange("bull:sitegrove.default:completed", "0", "0");
    await client.hset(`bull:sitegrove.default:${id}`, "returnvalue", "{}");
    expect(await queue.retry(["failed"])).toBe(1);
    expect(await queue.counts()).toEqual({ waiting: 1, active: 0, done: 1, failed: 0 });
    const field = (name: string, text: string) => client.hset(`bull:sitegrove.default:${id}`, name, text);
    await Promise.all([field("data", "{"), field("opts", "no")]);
    expect(await readRest(queue)).toEqual([]);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, done: 2, failed: 1 });
    await field("data", "{");
    const results = async () => {
      for await (const _ of queue.results());
    };
    await expect(results()).rejects.toThrow("The queue has a job of another program, which is not JSON");
    client.disconnect();
    await queue.close();
  });

  test("a Redis server that may evict websites is refused", async () => {
    const client = new Redis({ port: redis.port, password: redisPassword });
    await client.config("SET", "maxmemory", "100mb");
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    await expect(BullQueue.open(url())).rejects.toThrow("set maxmemory-policy to noeviction, not allkeys-lru");
    await client.config("SET", "maxmemory-policy", "noeviction");
    await client.config("SET", "maxmemory", "0");
    client.disconnect();
  });
});

test.skipIf(!hasRedis)("rediss:// uses TLS and verifies the certificate", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "redis-tls-"));
  const authority = createAuthority();
  const { key, cert } = authority.issue({ names: ["127.0.0.1"] });
  const file = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const port = await freePort();
  const flags = ["--tls-port", String(port), "--tls-cert-file", file("cert", cert), "--tls-key-file", file("key", key)];
  const redis = await startRedis([
    ...flags,
    "--tls-ca-cert-file",
    file("ca", authority.ca),
    "--tls-auth-clients",
    "no",
  ]);
  await listening(port, redis.process);
  const words = ["fleet", "status", "--queue", `rediss://127.0.0.1:${port}/0`];
  const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
  const trusted = { ...env, NODE_EXTRA_CA_CERTS: path.join(folder, "ca") };
  expect((await sitegrove(words, { env: trusted })).stderr).toContain(said.emptyRun("default"));
  const { code, stderr } = await sitegrove(words, { env });
  expect(code).toBe(2);
  expect(stderr).toMatch(said.untrustedCertificate);
});

const [queue, bucket] = ["--queue redis://127.0.0.1:1/0", "a.example --out s3://bucket/a"];
test.each(
  [
    ["bullmq", `worker ${queue}`, said.installBullmq],
    ["ioredis", `status ${queue}`, said.installIoredis],
    ["@aws-sdk/lib-storage", bucket, said.installAws],
  ].slice(0, some(3, 1)),
)("the error says what to install if %s is missing", async (name, line, sentence) => {
  const hook = `export const resolve = async (specifier, context, next) => {
    if (specifier !== "${name}") return next(specifier, context);
    throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  };`;
  const javascript = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const code = `import { register } from "node:module"; register(${JSON.stringify(javascript(hook))});`;
  // Node.js 26 calls `register` deprecated.
  const node = ["--no-deprecation", "--import", javascript(code)];
  const env = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
  const ended = await sitegrove(["fleet", ...(line ?? "").split(" ")], { node, env });
  expect(ended).toEqual({ code: 2, stdout: "", stderr: `sitegrove: ${sentence}\n` });
});
