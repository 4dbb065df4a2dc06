// The queue of several machines: the contract, against a real Redis.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { job, queueContract, summaryOf, taken } from "./queue-contract.ts";

process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;

describe.skipIf(!hasRedis)("on Redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  // Each test has a database of its own: a queue without a run takes from all.
  let database = 0;
  const url = () => `redis://127.0.0.1:${redis.port}/${database}`;

  queueContract(() => ({
    name: "BullMQ on Redis",
    open: () => BullQueue.open(url(), { leaseTime: 300 }),
    // Nobody renews the leases any more.
    crash: (queue) => queue.close(),
    async remove() {
      database += 1;
    },
  }));

  test("runs live side by side, and results come in the order of the list", async () => {
    const queue = await BullQueue.open(url(), { leaseTime: 300 });
    const names = ["z", "m", "a", "k", "b"];
    await queue.add("one", names.map(job));
    await queue.add("two", [job("a")]);
    const two = await BullQueue.open(url(), { run: "two" });
    const lease = await taken(two);
    await lease.done(summaryOf(lease));
    expect(await two.take(AbortSignal.timeout(10_000))).toBeUndefined();
    for (
      let lease = await queue.take(AbortSignal.timeout(10_000));
      lease !== undefined;
      lease = await queue.take(AbortSignal.timeout(10_000))
    )
      await lease.done(summaryOf(lease));
    const sites: string[] = [];
    for await (const { site } of queue.results("one")) sites.push(site);
    expect(sites).toEqual(names.map((name) => job(name).homepage));
    expect((await queue.runs()).map(({ run }) => run)).toEqual(["one", "two"]);
    await queue.close();
    await two.close();
  });
});
