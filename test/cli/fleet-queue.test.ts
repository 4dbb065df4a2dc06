// Fleets on several machines: a real Redis and real workers; a process where one is killed or hears a signal.
// Needs Redis, processes, more than a second.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import type { QueueCounts } from "../../src/fleet/site-queue.ts";
import { type ManyServers, type ManyServersOptions, manyServers } from "../fleet/many-servers.ts";
import { urlset } from "../support/documents.ts";
import { onQueue } from "../support/grown.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { testFolder } from "../support/test-folder.ts";
import { ended, jsonLines, launch, type Started, sitegrove, start } from "./program.ts";

describe.skipIf(!hasRedis)("fleets on Redis", () => {
  let redis: RedisServer;
  const at = testFolder();
  let database = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    database += 1;
  });
  process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
  const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
  const url = () => `redis://127.0.0.1:${redis.port}/${database}`;
  const quick = ["--no-homepage", "--retries", "0"];
  async function serve(options: ManyServersOptions): Promise<ManyServers> {
    const servers = await manyServers(options);
    writeFileSync(at("sites.txt"), `${servers.sites.join("\n")}\n`);
    return servers;
  }
  const fleet = (command: string, ...flags: string[]) =>
    sitegrove(["fleet", ...(command === "" ? [] : [command]), "--queue", url(), ...flags], { env });
  const fill = (...flags: string[]) => fleet("", "--from", at("sites.txt"), ...flags);
  const working = (flags: readonly string[]) => [
    ...["fleet", "worker", "--queue", url(), "--idle", "0", "--allow-private", ...quick, ...flags],
  ];
  const worker = (...flags: string[]): Started => launch(working(flags), { env });
  const workerProcess = (...flags: string[]) => {
    const child = start(working(flags), { env });
    const kill = (signal: NodeJS.Signals) => void child.kill(signal);
    return { end: ended(child), stderr: child.stderr!, kill };
  };
  /** Uses a connection of our own, because starting the program for each query would take longer than the query itself. */
  async function counts(run?: string): Promise<QueueCounts> {
    const queue = await BullQueue.open(url(), { run });
    return queue.counts().finally(() => queue.close());
  }
  const lines = (text: string): SiteSummary[] => jsonLines(text);

  test("three workers crawl a list, each website has a result, and outputs go where each worker says", async () => {
    const { sites, visits } = await serve({ count: 9 });
    const monday = ["--run", "monday"];
    const filled = await fill(...monday);
    expect(filled).toEqual({ code: 0, stdout: "", stderr: said.addedNine });
    expect((await fill(...monday)).stderr).toBe(said.nineKnown);
    expect(await fill(...monday, "not a website")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(said.nineKnown + said.oneLineNotWebsite),
    });
    expect(await counts("monday")).toEqual({ waiting: 9, active: 0, done: 0, failed: 0 });
    const outputs = [...monday, "--out", at("out"), "--archives"];
    const ends = await Promise.all([worker(...outputs), worker(...outputs), worker(...outputs)].map(({ end }) => end));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(JSON.parse((await fleet("status", ...monday, "-f", "json")).stdout)).toEqual({
      ...{ run: "monday", waiting: 0, active: 0, done: 9, failed: 0 },
      ...{ websites: 9, pages: 27, sitemaps: 9, requests: 18 },
      outcomes: { complete: 9, incomplete: 0, none: 0, unreachable: 0, blocked: 0, failed: 0, quarantined: 0 },
      wireBytes: expect.any(Number),
      reasons: [],
    });
    expect((await fleet("status", ...monday)).stdout).toMatch(
      /^monday: finished: 0 websites in progress, 0 waiting\n9 websites: 27 pages, .*\n\n {5}9 {2}complete\n$/,
    );
    const results = lines((await fleet("results", ...monday)).stdout);
    expect(results.map(({ site }) => site).sort()).toEqual([...sites].sort());
    expect([...visits.values()]).toEqual(sites.map(() => 1));
    for (const { site, files } of results) {
      const pages = readFileSync(at(`out/${files["pages"]}`), "utf8")
        .trimEnd()
        .split("\n");
      expect(pages.map((line) => JSON.parse(line).url)).toEqual([0, 1, 2].map((page) => `${site}${page}`));
      expect(readFileSync(at(`out/${files["archive"]}`)).length).toBeGreaterThan(500);
    }
    expect((await fleet("remove", ...monday)).stderr).toBe(said.removed);
    expect((await fleet("status", ...monday)).stderr).toContain(said.emptyRun("monday"));
  });

  test.each([
    ["SIGINT", workerProcess],
    ["SIGTERM", worker],
  ] as const)("one %s drains the worker, a second one stops it", async (signal, startWorker) => {
    let letGo = () => {};
    let gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { visited } = await serve({ count: 6, gate: () => gate });
    await fill();
    const heard = ({ stderr }: Pick<Started, "stderr">) =>
      new Promise<void>((resolve) => {
        stderr.on("data", (text) => said.finishing.test(String(text)) && resolve());
      });
    const one = worker("--concurrency", "2");
    const isDraining = heard(one);
    // Both websites are being read. One that was only taken from the queue would be returned.
    await visited(2);
    one.kill(signal);
    await isDraining;
    const status = JSON.parse((await fleet("status", "-f", "json")).stdout);
    expect(status).toMatchObject({ active: 2, waiting: 4, websites: 0 });
    letGo();
    const { code, stdout } = await one.end;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 websites in/);
    expect(await counts()).toEqual({ waiting: 4, active: 0, done: 2, failed: 0 });
    // These websites never get a response.
    gate = new Promise(() => {});
    const two = startWorker("--concurrency", "1");
    const isDrainingToo = heard(two);
    await visited(3);
    two.kill(signal);
    await isDrainingToo;
    two.kill(signal);
    expect((await two.end).code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(await counts()).toEqual({ waiting: 4, active: 0, done: 2, failed: 0 });
  });

  test("with --stay, a worker waits for its first websites and for more", async () => {
    const { sites } = await serve({ count: 3 });
    const one = worker("--stay");
    await new Promise<void>((resolve) =>
      one.stderr.on("data", (text) => String(text).includes(said.waiting) && resolve()),
    );
    for (const [at, site] of sites.entries()) {
      await fleet("", site);
      await onQueue(url(), "default", async () => (await counts()).done === at + 1);
    }
    one.kill("SIGTERM");
    expect((await one.end).code).toBe(0);
  });

  test("a run with --previous reuses unchanged documents and lists what is new", async () => {
    let names = ["a"];
    const { sites } = await serve({
      count: 1,
      sitemaps: (base) => ({ "/sitemap.xml": urlset(...names.map((name) => `${base}/${name}`)) }),
    });
    const night = async (run: string, ...flags: string[]) => {
      expect((await fill("--run", run)).code).toBe(0);
      expect((await worker("--run", run, "--out", at(run), "--archives", ...flags).end).code).toBe(0);
      const [result] = lines((await fleet("results", "--run", run)).stdout);
      return result?.files;
    };
    await night("monday");
    names = ["a", "b"];
    const files = await night("tuesday", "-f", "changes", "--previous", at("monday"));
    const changes = jsonLines(readFileSync(at(`tuesday/${files?.["changes"]}`), "utf8"));
    expect(changes.map(({ kind, page }) => `${kind} ${page.url}`)).toEqual([`added ${sites[0]}b`]);
  });

  test("a worker crawls private addresses only with --allow-private, also those that --retry puts back", async () => {
    const { visits } = await serve({ count: 2 });
    await fill();
    const { end } = launch(["fleet", "worker", "--queue", url(), "--idle", "0", ...quick], { env });
    expect((await end).code).toBe(0);
    expect([...visits.values()].filter((count) => count > 0)).toEqual([]);
    const results = lines((await fleet("results")).stdout);
    expect(results.map(({ outcome, reasons }) => `${outcome} ${reasons[0]?.code}`)).toEqual([
      "unreachable address-blocked",
      "unreachable address-blocked",
    ]);
    expect((await fleet("", "--retry", "unreachable")).stderr).toBe(said.twoToCrawlAgain);
    expect(await counts()).toEqual({ waiting: 2, active: 0, done: 0, failed: 0 });
    expect((await worker().end).code).toBe(0);
    expect(lines((await fleet("results")).stdout).map(({ outcome }) => outcome)).toEqual(["complete", "complete"]);
  });

  test("runs that share a folder keep their files", async () => {
    await serve({ count: 1 });
    const pages = async (run: string) => {
      const [result] = lines((await fleet("results", "--run", run)).stdout);
      return readFileSync(at(`out/${result?.files["pages"]}`), "utf8");
    };
    for (const run of ["monday", "tuesday"]) {
      await fill("--run", run);
      expect((await worker("--run", run, "--out", at("out")).end).code).toBe(0);
    }
    // A second attempt removes the files of the first, which has the same name in both runs but for a random part.
    const queue = await BullQueue.open(url(), { run: "tuesday" });
    expect(await queue.retry(["complete"])).toBe(1);
    await queue.close();
    expect((await worker("--run", "tuesday", "--out", at("out")).end).code).toBe(0);
    expect(await pages("tuesday")).toBe(await pages("monday"));
    expect(readdirSync(at("out/pages/tuesday"), { recursive: true })).toHaveLength(2);
  });

  test("fleet --queue rejects flags for workers, and reports a list that was cut short", async () => {
    for (const [flag, value] of [
      ...[["--out", at("out")], ["--max-pages", "3"], ["--check"], ["--per-address", "2"], ["--ca", "company.pem"]],
      ...[["--allow-private"], ["--include", "a"], ["--header", "A: b"], ["--log-file", at("log")]],
    ] as const) {
      const { code } = await fleet("", "a.example", flag as string, ...(value === undefined ? [] : [value]));
      expect([flag, code]).toEqual([flag, 2]);
    }
    const filling = launch(["fleet", "--from", "-", "--queue", url(), "--run", "cut"], { env });
    filling.stdin.write("a.example\nb.example\n");
    await onQueue(url(), "cut", async () => (await counts("cut")).waiting === 2);
    filling.kill("SIGINT");
    const { code, stderr } = await filling.end;
    expect(code).toBe(130);
    expect(stderr).toContain(said.listCutShort);
  });

  describe("an error about a queue is a single line", () => {
    test.each([
      ["results --queue redis://127.0.0.1:1/0", said.connectionRefused],
      ["status", said.wrongPassword, "wrong"],
      ["status", said.needsPassword, ""],
      ["results --run x", said.emptyRun("x")],
      ["--retry failed", said.emptyRun("default")],
    ])("%s: %s", async (line, sentence, password = redisPassword) => {
      const words = ["fleet", ...line.split(" "), ...(line.includes("--queue") ? [] : ["--queue", url()])];
      const { code, stderr } = await sitegrove(words, { env: { SITEGROVE_QUEUE_PASSWORD: password } });
      expect(code).toBe(2);
      expect(stderr).toContain(sentence);
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  });
});
