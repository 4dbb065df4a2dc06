// Fleets on several machines: a real Redis and real workers; a process where one is killed or hears a signal.
// Needs Redis, processes, more than a second.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openRuns } from "../../src/fleet/bull-queue.ts";
import type { BullRuns } from "../../src/fleet/bull-runs.ts";
import { type SiteSummary, siteJob } from "../../src/fleet/site-job.ts";
import { type ManyServers, type ManyServersOptions, manyServers } from "../fleet/many-servers.ts";
import { onQueue } from "../support/grown.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { testFolder } from "../support/test-folder.ts";
import { ended, jsonLines, launch, type Started, sitegrove, start } from "./program.ts";

describe.skipIf(!hasRedis)("fleets on Redis", () => {
  let redis: RedisServer;
  const at = testFolder();
  let servers: ManyServers | undefined;
  let database = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    database += 1;
  });
  afterEach(() => {
    servers?.close();
    servers = undefined;
  });
  process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
  const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
  const url = () => `redis://127.0.0.1:${redis.port}/${database}`;
  const quick = ["--no-homepage", "--retries", "0"];
  async function serve(options: ManyServersOptions): Promise<ManyServers> {
    servers = await manyServers(options);
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
  /** By a connection of our own: starting the program for each look takes longer than what it looks at. */
  async function look<T>(work: (queue: BullRuns) => Promise<T>): Promise<T> {
    const queue = await openRuns(url());
    return work(queue).finally(() => queue.close());
  }
  const counts = (run = "default") => look((queue) => queue.counts(run));
  const lines = (text: string): SiteSummary[] => jsonLines(text);

  test("fill, three workers, status, results in the order of the list; outputs where the run says", async () => {
    const { sites, visits } = await serve({ count: 9 });
    const filled = await fill("--run", "monday", "--out", at("out"), "--archives");
    expect(filled).toEqual({ code: 0, stdout: "", stderr: "sitegrove: monday: added 9 websites\n" });
    expect((await fill("--run", "monday")).stderr).toBe(
      "sitegrove: monday: added 0 websites; 9 websites known already\n",
    );
    expect(await fill("--run", "monday", "not a website")).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/known already\nsitegrove: incomplete: 1 line of the list is not a website\n$/),
    });
    expect(await counts("monday")).toEqual({ waiting: 9, active: 0, done: 0, failed: 0 });
    const ends = await Promise.all([worker(), worker(), worker()].map(({ end }) => end));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(JSON.parse((await fleet("status", "--run", "monday", "-f", "json")).stdout)).toEqual({
      ...{ waiting: 0, active: 0, done: 9, failed: 0, websites: 9, pages: 27, sitemaps: 9, requests: 18 },
      outcomes: { complete: 9, incomplete: 0, none: 0, unreachable: 0, blocked: 0, failed: 0, quarantined: 0 },
      wireBytes: expect.any(Number),
      reasons: [],
    });
    expect((await fleet("status")).stdout).toBe(
      "monday: finished; 9 websites done (0 failed), 0 in progress, 0 waiting\n0 workers\n",
    );
    const results = lines((await fleet("results", "--run", "monday", "-f", "ndjson")).stdout);
    expect(results.map(({ site }) => site)).toEqual(sites);
    expect([...visits.values()]).toEqual(sites.map(() => 1));
    for (const { site, files } of results) {
      const pages = readFileSync(at(`out/${files["pages"]}`), "utf8")
        .trimEnd()
        .split("\n");
      expect(pages.map((line) => JSON.parse(line).url)).toEqual([0, 1, 2].map((page) => `${site}${page}`));
      expect(readFileSync(at(`out/${files["archive"]}`)).length).toBeGreaterThan(500);
    }
  });

  test.each([
    ["SIGINT", workerProcess],
    ["SIGTERM", worker],
  ] as const)("%s drains, a second one stops", async (signal, startWorker) => {
    let letGo = () => {};
    let gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { visited } = await serve({ count: 6, gate: () => gate });
    await fill();
    const heard = ({ stderr }: Pick<Started, "stderr">) =>
      new Promise<void>((resolve) => {
        stderr.on("data", (text) => String(text).includes("finishing the websites in progress") && resolve());
      });
    const one = worker("--concurrency", "2");
    const isDraining = heard(one);
    // Both are being read: one that was only taken from the queue would be given back.
    await visited(2);
    one.kill(signal);
    await isDraining;
    const status = JSON.parse((await fleet("status", "-f", "json")).stdout);
    expect(status).toMatchObject({ active: 2, waiting: 4, websites: 0, oldestActive: expect.any(Number) });
    letGo();
    const { code, stdout } = await one.end;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 websites in/);
    expect(await counts()).toEqual({ waiting: 4, active: 0, done: 2, failed: 0 });
    // Nobody lets these go.
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

  test("a worker waits for the first run, and takes from all", async () => {
    const { sites } = await serve({ count: 4 });
    const one = worker("--stay");
    await new Promise<void>((resolve) =>
      one.stderr.on("data", (text) => String(text).includes("waiting") && resolve()),
    );
    await fill("--run", "a");
    await sitegrove(["fleet", ...sites.slice(0, 2), "--queue", url(), "--run", "b"], { env });
    await onQueue(url(), "a", async () => (await counts("a")).done === 4);
    await onQueue(url(), "b", async () => (await counts("b")).done === 2);
    one.kill("SIGTERM");
    expect((await one.end).code).toBe(0);
    const rows = (await fleet("status", "-f", "ndjson")).stdout.trimEnd().split("\n");
    const ended = { waiting: 0, active: 0, failed: 0 };
    expect(rows.map((row) => JSON.parse(row))).toMatchObject([
      { run: "a", ...ended, done: 4, pages: 12, outcomes: { complete: 4 } },
      { run: "b", ...ended, done: 2, pages: 6, outcomes: { complete: 2 } },
    ]);
  });

  test("a later run takes unchanged documents from the archives of an earlier one, and lists what is new", async () => {
    let names = ["a"];
    const { sites } = await serve({
      count: 1,
      sitemaps: (base) => ({
        "/sitemap.xml": `<urlset>${names.map((name) => `<url><loc>${base}/${name}</loc></url>`).join("")}</urlset>`,
      }),
    });
    const night = async (run: string, ...flags: string[]) => {
      expect((await fill("--run", run, "--out", at(run), "-f", "changes", "--archives")).code).toBe(0);
      expect((await worker("--run", run, ...flags).end).code).toBe(0);
      const [result] = lines((await fleet("results", "--run", run)).stdout);
      const changes = jsonLines(readFileSync(at(`${run}/${result?.files["changes"]}`), "utf8"));
      return changes.map(({ kind, page }) => `${kind} ${page.url}`);
    };
    expect((await fill("--run", "monday", "-f", "changes")).stderr).toContain("-f changes needs --archives");
    expect(await night("monday")).toEqual([`added ${sites[0]}a`]);
    names = ["a", "b"];
    expect(await night("tuesday", "--previous", at("monday"))).toEqual([`added ${sites[0]}b`]);
  });

  test("a worker crawls private addresses only with --allow-private", async () => {
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
    await fleet("", "--retry", "unreachable");
    expect((await worker().end).code).toBe(0);
    expect(lines((await fleet("results")).stdout).map(({ outcome }) => outcome)).toEqual(["complete", "complete"]);
  });

  test("more workers than --per-address are refused, because each sends a request", async () => {
    const first = worker("--stay", "--per-address", "1");
    await new Promise<void>((resolve) =>
      first.stderr.on("data", (text) => String(text).includes("waiting") && resolve()),
    );
    const sentence = "--per-address 1 cannot be divided among 2 workers";
    for (const flags of [["--per-address", "1"], []])
      expect(await worker(...flags).end).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
    await first.stop();
    expect((await fleet("status")).stdout).toBe("no runs\n");
  });

  test("a run is removed with the files that it names, and nothing else", async () => {
    await serve({ count: 2 });
    await fill("--run", "old", "--out", at("out"));
    await worker("--run", "old").end;
    writeFileSync(at("out/own.txt"), "mine");
    expect((await fleet("remove", "--run", "other")).stderr).toContain("no run is named other");
    expect((await fleet("remove", "--run", "old", "--outputs")).stderr).toBe("sitegrove: old: removed, with 4 files\n");
    const left = readdirSync(at("out"), { recursive: true, encoding: "utf8" }).filter((name) => name.includes("."));
    expect(left).toEqual(["own.txt"]);
    expect((await fleet("status")).stdout).toBe("no runs\n");
  });

  test("a run brings its pace and its filters along", async () => {
    await serve({ count: 1 });
    const filters = ["--include", "*/1", "--exclude", "*/2", "--same-host", "--unique", "--since", "7d"];
    await fill("--delay", "0.7", ...filters, "--undated", "keep", "--allowed-for", "me");
    expect((await fill("--include", "*/2")).stderr).toContain("was created with other limits or options");
    await worker().end;
    const [result] = lines((await fleet("results")).stdout);
    expect(result).toMatchObject({ outcome: "complete", requests: 2, pages: 1 });
    expect(result?.duration).toBeGreaterThanOrEqual(690);
  });

  test("requests to one address are divided among the workers that are alive", async () => {
    let now = 0;
    let most = 0;
    const answer: RequestListener = async ({ url: at, headers }, response) => {
      now += 1;
      most = Math.max(most, now);
      await sleep(250);
      now -= 1;
      if (at === "/robots.txt") response.end(`Sitemap: http://${headers.host}/sitemap.xml\n`);
      else response.end(`<urlset><url><loc>http://${headers.host}/1</loc></url></urlset>`);
    };
    // On one address; more than one worker reads at a time.
    const websites = Array.from({ length: 14 }, () => createServer(answer));
    const homepages = await Promise.all(
      websites.map(async (website) => {
        await new Promise<void>((resolve) => website.listen(0, "127.0.0.1", resolve));
        return `http://127.0.0.1:${(website.address() as AddressInfo).port}/`;
      }),
    );
    const flags = ["--stay", "--per-address", "4", "--concurrency", "6"];
    const [dies, stays] = [worker(...flags), worker(...flags)];
    try {
      await look(async (queue) => {
        let runs = 0;
        const read = async () => {
          most = 0;
          const run = `run-${runs++}`;
          await queue.add(
            run,
            homepages.flatMap((homepage) => siteJob(homepage) ?? []),
          );
          await onQueue(url(), run, async () => (await queue.counts(run)).done === homepages.length);
          return most;
        };
        // Workers look every two seconds how many they are; on a busy machine, less often.
        const settles = async (isSo: (most: number) => boolean) => {
          for (let tries = 1; !isSo(await read()); tries += 1) expect(tries).toBeLessThan(12);
        };
        await expect.poll(() => queue.workers(), { timeout: 60_000 }).toEqual([4, 4]);
        await settles((requests) => requests <= 4);
        await dies.stop();
        await expect.poll(() => queue.workers(), { timeout: 60_000 }).toEqual([4]);
        // The one that is left has all four.
        await settles((requests) => requests === 4);
      });
    } finally {
      await Promise.all([dies.stop(), stays.stop()]);
      for (const website of websites) {
        website.close();
        website.closeAllConnections();
      }
    }
  });

  test("sites that ended badly are read again", async () => {
    const gone = await manyServers({ count: 2 });
    gone.close();
    writeFileSync(at("sites.txt"), `${gone.sites.join("\n")}\n`);
    await fill();
    await worker().end;
    expect(lines((await fleet("results")).stdout).map(({ outcome }) => outcome)).toEqual([
      "unreachable",
      "unreachable",
    ]);
    expect((await fleet("", "--retry", "unreachable")).stderr).toBe("sitegrove: default: 2 websites to crawl again\n");
    expect(await counts()).toEqual({ waiting: 2, active: 0, done: 0, failed: 0 });
  });

  test("a run that a worker does not understand is left to others", async () => {
    const { sites } = await serve({ count: 1 });
    const [site] = sites.flatMap((homepage) => siteJob(homepage) ?? []);
    if (site === undefined) throw new Error("No website");
    await look(async (queue) => {
      await queue.add("newer", [site], { tables: true });
      await queue.add("secret", [site], { crawl: { tls: { verify: false } } });
      await queue.add("private", [site], { crawl: { network: "allow-private" } });
      await queue.add("wrong", [site], { crawl: { limits: { pages: null } } });
      const settings = { out: at("out"), archives: true };
      await queue.add("good", [site], settings);
    });
    const { code, stderr } = await worker().end;
    expect(code).toBe(1);
    expect(stderr.split("\n").filter((line) => line.includes("skipping the run"))).toEqual([
      "sitegrove: skipping the run newer: this version does not support its setting tables",
      "sitegrove: skipping the run secret: it sets tls, which only workers may set",
      "sitegrove: skipping the run private: it sets network, which only workers may set",
      expect.stringMatching(/^sitegrove: skipping the run wrong: Expected `limits.pages`/),
    ]);
    expect(await counts("good")).toEqual({ waiting: 0, active: 0, done: 1, failed: 0 });
    expect(await counts("newer")).toMatchObject({ waiting: 1, done: 0 });
    const [result] = lines((await fleet("results", "--run", "good")).stdout);
    expect(result).toMatchObject({ outcome: "complete", pages: 3 });
    expect(readFileSync(at(`out/${result?.files["archive"]}`)).length).toBeGreaterThan(500);
  });

  test("a run keeps what it was filled with; a list that is cut short is reported", async () => {
    await serve({ count: 2 });
    await fill("--out", at("out"), "--max-pages", "2", "--archives");
    const settings = () => look(async (queue) => (await queue.runs())[0]?.settings);
    const before = await settings();
    expect((await fill()).code).toBe(0);
    expect(await settings()).toEqual(before);
    for (const [flags, sentence] of [
      [["--out", at("other")], "was created with another --out"],
      [["--max-pages", "3"], "was created with other limits or options"],
      [["--check"], "was created with no --check"],
      [["--per-address", "2"], "--per-address is for workers"],
      [["--ca", "company.pem"], "--ca is for workers"],
      [["--allow-private"], "--allow-private is for workers"],
    ] as const) {
      const { code, stderr } = await fill(...flags);
      expect(code).toBe(2);
      expect(stderr).toContain(sentence);
    }
    expect(await settings()).toEqual(before);
    const filling = launch(["fleet", "--from", "-", "--queue", url(), "--run", "cut"], { env });
    filling.stdin.write("a.example\nb.example\n");
    await look(async (queue) => {
      await onQueue(url(), "cut", async () => (await queue.counts("cut")).waiting === 2);
    });
    filling.kill("SIGINT");
    const { code, stderr } = await filling.end;
    expect(code).toBe(130);
    expect(stderr).toContain("cut: added 2 websites; stopped before the end of the list: add it again");
  });

  describe("one line says what is wrong", () => {
    test.each([
      ["worker --queue redis://:secret@127.0.0.1/0", "A password in the queue's URL is visible to others"],
      ["results --queue redis://127.0.0.1:1/0", "cannot be used: the connection was refused"],
      ["https://a.example/ --queue redis://nowhere.invalid/0", "cannot be used: the host name does not exist"],
      ["status --queue http://127.0.0.1/", "A queue is redis://HOST/0"],
      ["status", "the password is wrong", "wrong"],
      ["status", "it requires a password", ""],
      ["results --run x", "no run is named x"],
      ["status --run x", "the queue has no runs"],
      ["a.example --header A:b", "is for workers"],
      ["a.example --run a:b", "The name of a run"],
      ["", "no homepages given"],
    ])("%s: %s", async (line, sentence, password = redisPassword) => {
      const words = [
        "fleet",
        ...line.split(" ").filter(Boolean),
        ...(line.includes("--queue") ? [] : ["--queue", url()]),
      ];
      const { code, stderr } = await sitegrove(words, { env: { SITEGROVE_QUEUE_PASSWORD: password } });
      expect(code).toBe(2);
      expect(stderr).toContain(sentence);
      expect(stderr).not.toContain("secret");
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  });
});
