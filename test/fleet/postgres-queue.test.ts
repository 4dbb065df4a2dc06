// The queue of several machines on PostgreSQL, which is experimental, where a server can be had: what shows that it works there; the whole
// contract, which Redis keeps in every run, in the long one (`npm run test:long`).
// Needs PostgreSQL, more than a second.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { isLong } from "../support/long.ts";
import { hasPostgres, type PostgresServer, postgresPassword, startPostgres } from "../support/postgres-server.ts";
import { job, queueContract } from "./queue-contract.ts";

describe.skipIf(!hasPostgres)("on PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  const before = process.env["SITEGROVE_QUEUE_PASSWORD"];
  beforeAll(async () => {
    process.env["SITEGROVE_QUEUE_PASSWORD"] = postgresPassword;
    server = await startPostgres();
    url = await server.database("fleet");
  });
  afterAll(async () => {
    if (before === undefined) delete process.env["SITEGROVE_QUEUE_PASSWORD"];
    await server.stop();
  });

  queueContract(
    () => ({
      name: "BullMQ on PostgreSQL",
      open: (leaseTime) => BullQueue.open(url, { leaseTime }),
      crash: (queue) => queue.close(),
      remove: () => server.empty("fleet"),
    }),
    isLong,
  );

  test("runs, workers and schedules are known there, too", async () => {
    const queue = await BullQueue.open(url, { leaseTime: 300 });
    await queue.add("one", [job("a")]);
    const lease = await queue.take(new AbortController().signal);
    while ((await queue.workers()) !== 1) await sleep(20);
    await lease?.retry(undefined, 0);
    await queue.schedule("one", 86_400_000);
    expect(await queue.schedules()).toMatchObject([{ run: "one", every: 86_400_000 }]);
    expect((await queue.runs()).map(({ run }) => run)).toEqual(["one"]);
    await queue.close();
  });

  test("what is wrong is reported in a sentence", async () => {
    await expect(BullQueue.open(`postgres://sitegrove@127.0.0.1:${server.port}/nothing`)).rejects.toThrow(
      /cannot be used: .*"nothing" does not exist/,
    );
    process.env["SITEGROVE_QUEUE_PASSWORD"] = "wrong";
    await expect(BullQueue.open(url)).rejects.toThrow("the password is wrong");
    process.env["SITEGROVE_QUEUE_PASSWORD"] = postgresPassword;
  });
});
