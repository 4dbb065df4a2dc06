// Outputs in a bucket, as the program writes them: shards that share only the bucket, and results that are already published.
// Needs an S3 server, Redis, processes, more than a second.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { stateFolder } from "../../src/fleet/journal-file.ts";
import { summaryName } from "../../src/fleet/results.ts";
import { S3Bucket } from "../../src/fleet/s3-bucket.ts";
import { emptySummary, keyHash, type SiteSummary, siteJob } from "../../src/fleet/site-job.ts";
import { manyServers } from "../fleet/many-servers.ts";
import { onQueue } from "../support/grown.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { parquetRows } from "../support/parquet.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { hasS3, type S3Server, startS3 } from "../support/s3-server.ts";
import { newFolder } from "../support/test-folder.ts";
import { ended, jsonLines, launch, sitegrove, start } from "./program.ts";

test("each bucket, prefix, part and endpoint has its own journal on this machine", () => {
  const state = (out: string, shard?: string, env = {}) =>
    stateFolder(out, shard, { XDG_STATE_HOME: "/state", ...env });
  const folders = [
    ...["s3://logs/eu/monday", "s3://logs/eu-monday", "s3://logs-eu/monday", "s3://logs/eu_monday"],
  ].flatMap((out) => [undefined, "1/2", "2/2"].map((shard) => state(out, shard)));
  for (const endpoint of ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
    folders.push(state("s3://logs/eu/monday", undefined, { [endpoint]: `http://${endpoint}.invalid` }));
  expect(new Set(folders).size).toBe(folders.length);
  expect(folders.every((folder) => folder.startsWith("/state/sitegrove/logs"))).toBe(true);
  expect(state("s3://logs/eu//monday/")).toBe(folders[0]);
});

test("a symbolic link in place of a fleet's file is not followed", async () => {
  const place = newFolder();
  const theirs = path.join(place, "theirs");
  writeFileSync(theirs, "");
  for (const name of ["sites.ndjson", "partial.summary.json"]) {
    const out = path.join(place, name.slice(0, 3));
    mkdirSync(out);
    symlinkSync(theirs, path.join(out, name));
    await sitegrove(["fleet", "http://127.0.0.1:1/", "--out", out, "--retries", "0"]);
  }
  expect(readFileSync(theirs, "utf8")).toBe("");
});

describe.skipIf(!hasS3)("outputs in a bucket", () => {
  const folder = newFolder();
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
    await server.makeBucket("bucket");
  });
  afterAll(() => server.stop());

  test("shards share a prefix, and published websites are not crawled again", async () => {
    const servers = await manyServers({ count: 4 });
    const list = path.join(folder, "sites.txt");
    writeFileSync(list, servers.sites.join("\n"));
    const part = (shard: string, ...flags: string[]) => {
      const out = ["--out", "s3://bucket/a/b", "--shard", shard, "--from", list, "--archives"];
      // This stands for another machine, which has none of the journals.
      const env = { ...server.env, XDG_STATE_HOME: newFolder() };
      return sitegrove(["fleet", ...out, "--no-homepage", "--retries", "0", ...flags], { env });
    };
    const ends = await Promise.all(["0/2", "1/2"].map((shard) => part(shard)));
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    const bucket = await S3Bucket.open("s3://bucket/a/b", server.env);
    const keys = (await server.keys("bucket")).map((key) => key.replace("a/b/", ""));
    const summaries = keys.filter((key) => key.startsWith("summaries/"));
    expect(summaries).toHaveLength(4);
    const sites: string[] = [];
    for (const key of summaries) {
      const { site, files } = JSON.parse((await bucket.get(key)) ?? "") as SiteSummary;
      sites.push(site);
      for (const file of Object.values(files)) expect(keys).toContain(file);
      expect((await bucket.get(files["pages"] ?? ""))?.trimEnd().split("\n")).toHaveLength(3);
    }
    expect(sites.sort()).toEqual([...servers.sites].sort());
    expect(keys.filter((key) => /^(pages|sitemaps|archives)\//.test(key))).toHaveLength(12);
    expect(keys.filter((key) => key.startsWith("summary-"))).toEqual(["summary-0-of-2.json", "summary-1-of-2.json"]);
    await part("0/2");
    await part("1/2");
    expect([...servers.visits.values()]).toEqual(servers.sites.map(() => 1));
  });

  describe.skipIf(!hasRedis)("with a queue", () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
      process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
    });
    afterAll(() => redis.stop());
    const environment = () => ({ ...server.env, SITEGROVE_QUEUE_PASSWORD: redisPassword, XDG_STATE_HOME: folder });
    const fleet = (database: number, command: readonly string[], ...flags: string[]) =>
      sitegrove(["fleet", ...command, "--queue", `${redis.url.slice(0, -1)}${database}`, ...flags], {
        env: environment(),
      });
    const working = (database: number, flags: readonly string[]) => [
      ...["fleet", "worker", "--queue", `${redis.url.slice(0, -1)}${database}`],
      ...["--no-homepage", "--retries", "0", "--idle", "0", "--allow-private", ...flags],
    ];
    const worker = (database: number, ...flags: string[]) => launch(working(database, flags), { env: environment() });
    const results = async (database: number, run: string) =>
      jsonLines((await fleet(database, ["results"], "--run", run)).stdout) as SiteSummary[];
    const published = async (prefix: string, run: string) => {
      const bucket = await S3Bucket.open(`s3://bucket/${prefix}`, server.env);
      const keys = await bucket.list("");
      const texts = keys.filter((key) => key.startsWith(`summaries/${run}/`)).map((key) => bucket.get(key));
      const summaries = (await Promise.all(texts)).map((text) => JSON.parse(text ?? "") as SiteSummary);
      return { bucket, keys, summaries: bySite(summaries) };
    };
    const bySite = (list: readonly SiteSummary[]) => [...list].sort((one, other) => (one.site < other.site ? -1 : 1));

    test("after a worker is killed, each website has one result, and --retry replaces it", async () => {
      const servers = await manyServers({ count: 4, latency: 100 });
      const gone = await manyServers({ count: 1 });
      gone.close();
      const sites = [...servers.sites, gone.sites[0]?.replace("127.1.0.1", "127.1.1.1") ?? ""];
      writeFileSync(path.join(folder, "queued.txt"), sites.join("\n"));
      const from = ["--from", path.join(folder, "queued.txt"), "--run", "r"];
      const outputs = ["--run", "r", "--out", "s3://bucket/q", "--archives", "--lease", "1"];
      expect(await fleet(0, [], ...from)).toMatchObject({ code: 0 });
      const queue = await BullQueue.open(redis.url, { run: "r" });
      const temporary = newFolder();
      const env = { ...environment(), TMPDIR: temporary };
      const first = start(working(0, ["--concurrency", "2", ...outputs]), { env });
      const end = ended(first);
      await onQueue(redis.url, "r", async () => (await queue.counts()).done >= 2);
      first.kill("SIGKILL");
      await end;
      // The next process removes the drafts of the killed one.
      expect(readdirSync(temporary)).toHaveLength(1);
      expect((await ended(start(working(0, outputs), { env }))).code).toBe(0);
      expect(readdirSync(temporary)).toEqual([]);
      const accepted = await results(0, "r");
      expect(accepted.map(({ site }) => site).sort()).toEqual([...sites].sort());
      const { keys, summaries } = await published("q", "r");
      expect(summaries).toEqual(bySite(accepted));
      for (const { files } of summaries) for (const file of Object.values(files)) expect(keys).toContain(file);
      const ofDead = (list: readonly SiteSummary[]) => list.find(({ site }) => site === sites.at(-1));
      expect(ofDead(accepted)?.outcome).toBe("unreachable");
      await fleet(0, [], "--run", "r", "--retry", "unreachable");
      // The result that was published before is replaced.
      expect((await worker(0, ...outputs).end).code).toBe(0);
      const [again, before] = [ofDead(await results(0, "r")), ofDead(accepted)];
      expect(again).toMatchObject({ outcome: "unreachable", site: before?.site });
      expect(again?.attemptId).not.toBe(before?.attemptId);
      expect((await published("q", "r")).summaries).toEqual(bySite(await results(0, "r")));
      await queue.close();
    });

    test("a later run reuses the archives in a bucket, and datasets are made from both", async () => {
      const servers = await manyServers({ count: 2 });
      const run = async (name: string, ...flags: string[]) => {
        await fleet(1, servers.sites, "--run", name);
        expect((await worker(1, "--run", name, "--out", `s3://bucket/${name}`, "--archives", ...flags).end).code).toBe(
          0,
        );
        const words = ["fleet", "dataset", `s3://bucket/${name}`, "--out", "s3://bucket/set"];
        for (let time = 0; time < 2; time += 1)
          expect(await sitegrove(words, { env: environment() })).toMatchObject({ code: 0 });
      };
      await run("monday");
      const monday = await published("monday", "monday");
      const [first] = monday.summaries;
      const archive = first?.files["archive"] ?? "";
      await monday.bucket.delete(archive);
      await monday.bucket.create(archive, "not an archive");
      await run("tuesday", "--previous", "s3://bucket/monday");
      const { summaries } = await published("tuesday", "tuesday");
      // Only the damaged archive could not be used.
      expect(summaries.map(({ site, previousError = "" }) => `${site} ${previousError !== ""}`)).toEqual(
        [...servers.sites].sort().map((site, at) => `${site} ${at === 0}`),
      );
      const set = await S3Bucket.open("s3://bucket/set", server.env);
      for (const name of ["monday", "tuesday"]) {
        const file = path.join(folder, `${name}.parquet`);
        expect(await set.list(`pages/run=${name}/`)).toEqual([`pages/run=${name}/part-0001.parquet`]);
        await set.download(`pages/run=${name}/part-0001.parquet`, file);
        expect((await parquetRows(file)).length).toBe(6);
      }
    });
  });

  test("a forged summary in a bucket fails its website and touches nothing else", async () => {
    const servers = await manyServers({ count: 3 });
    const bucket = await S3Bucket.open("s3://bucket/hostile", server.env);
    const [good, bad, worse] = servers.sites.flatMap((site) => siteJob(site) ?? []);
    const place = newFolder();
    const victim = path.join(place, "victim.txt");
    writeFileSync(victim, "mine");
    await bucket.create("victim.txt", "mine");
    await bucket.create(summaryName(bad!, undefined), "{}");
    const hash = keyHash(worse!.key);
    const forged = {
      ...emptySummary(worse!, `${hash}-9`, "complete"),
      files: { pages: `pages/../../victim.${hash}-1.txt`, archive: `${victim}` },
    };
    await bucket.create(summaryName(worse!, undefined), JSON.stringify(forged));
    for (const key of [`pages/../../x.${hash}-1.txt`, `../victim.txt`, "pages/a\\b", "summaries/../../../y.json"])
      await bucket.create(key, "");
    const words = ["fleet", ...servers.sites, "--out", "s3://bucket/hostile", "--no-homepage", "--retries", "0"];
    const { code } = await sitegrove(words, { env: { ...server.env, XDG_STATE_HOME: place } });
    expect(code).toBe(3);
    const { websites, outcomes } = JSON.parse((await bucket.get("summary.json")) ?? "");
    expect({ websites, outcomes }).toMatchObject({ websites: 3, outcomes: { complete: 1, failed: 2 } });
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(await bucket.get("victim.txt")).toBe("mine");
    expect(await bucket.list("")).toContain("../victim.txt");
    const data = await sitegrove(["fleet", "dataset", "s3://bucket/hostile", "--out", path.join(place, "set")], {
      env: { ...server.env, XDG_STATE_HOME: place },
    });
    expect(data).toMatchObject({ code: 3, stderr: expect.stringContaining(said.unreadSummaries) });
    const rows = await parquetRows(path.join(place, "set/sites/run=hostile/part-0001.parquet"));
    expect(Object.fromEntries(rows.map(({ site, outcome }) => [site, outcome]))).toEqual({
      [good!.homepage]: "complete",
      [bad!.homepage]: "failed",
      [worse!.homepage]: "failed",
    });
  });

  test("an error about a bucket is a single line", async () => {
    const out = (address: string, env: Record<string, string>) =>
      sitegrove(["fleet", "a.example", "--out", address], { env: { ...server.env, XDG_STATE_HOME: folder, ...env } });
    const unsigned = await out("s3://bucket/x", { AWS_SECRET_ACCESS_KEY: "" });
    expect(unsigned).toMatchObject({ code: 2, stderr: said.needsSecretKey });
    expect(await out("s3://nowhere/x", {})).toMatchObject({ code: 1, stderr: said.noSuchBucket });
    expect((await out("s3:/x", {})).stderr).toContain(said.bucketAddress);
    const relative = await out("s3://bucket/x", { AWS_ENDPOINT_URL_S3: "127.0.0.1:9" });
    expect(relative.stderr).toContain(said.endpointWithoutScheme);
  });
});
