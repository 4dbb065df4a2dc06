// Outputs in a bucket, as the program writes them: parts of a list without anything between them, and what is published already.
// Needs an S3 server, Redis, processes, more than a second.
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { stateFolder } from "../../src/cli/fleet/outputs.ts";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { S3Bucket } from "../../src/fleet/s3-bucket.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import { manyServers } from "../fleet/many-servers.ts";
import { onQueue } from "../support/grown.ts";
import { isLong } from "../support/long.ts";
import { hasRedis, type RedisServer, redisPassword, startRedis } from "../support/redis-server.ts";
import { hasS3, type S3Server, startS3 } from "../support/s3-server.ts";
import { newFolder } from "../support/test-folder.ts";
import { ended, jsonLines, launch, sitegrove, start } from "./program.ts";

test("the journal of a bucket is in a folder that nobody else could make", () => {
  const place = newFolder();
  vi.stubEnv("TMPDIR", place);
  try {
    const folder = path.dirname(stateFolder("s3://bucket/a/b", "1/2"));
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect(stateFolder("s3://bucket/a/b", "1/2")).toBe(path.join(folder, "bucket-a-b-1-2"));
    const plant: readonly ((folder: string) => void)[] = [
      (name) => symlinkSync(newFolder(), name),
      (name) => writeFileSync(name, ""),
      (name) => {
        mkdirSync(name);
        chmodSync(name, 0o777);
      },
    ];
    for (const each of plant) {
      rmSync(folder, { recursive: true });
      each(folder);
      expect(() => stateFolder("s3://bucket/a/b", undefined)).toThrow(`${folder} is not your own private folder`);
    }
  } finally {
    vi.unstubAllEnvs();
  }
});

test("a link in place of a fleet's files is not followed", async () => {
  const place = newFolder();
  const theirs = path.join(place, "theirs");
  writeFileSync(theirs, "");
  for (const name of ["sites.ndjson", "summary.json.partial"]) {
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

  test("parts of a list fill one prefix; what is there is not read again, unless it is to be", async () => {
    const servers = await manyServers({ count: 4 });
    const list = path.join(folder, "sites.txt");
    writeFileSync(list, servers.sites.join("\n"));
    const part = (shard: string, ...flags: string[]) => {
      const out = ["--out", "s3://bucket/a/b", "--shard", shard, "--from", list, "--archives"];
      // Another machine: nothing of the journals is there.
      const env = { ...server.env, TMPDIR: newFolder() };
      return sitegrove(["fleet", ...out, "--no-homepage", "--retries", "0", ...flags], { env });
    };
    try {
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
      expect(keys.filter((key) => /^(pages|archives)\//.test(key))).toHaveLength(8);
      expect(keys.filter((key) => key.startsWith("summary-"))).toEqual(["summary-0-of-2.json", "summary-1-of-2.json"]);
      await part("0/2");
      await part("1/2", ...(isLong ? ["--processes", "2"] : []));
      expect([...servers.visits.values()]).toEqual(servers.sites.map(() => 1));
    } finally {
      servers.close();
    }
  });

  describe.skipIf(!hasRedis)("with a queue", () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
      process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
    });
    afterAll(() => redis.stop());
    const environment = () => ({ ...server.env, SITEGROVE_QUEUE_PASSWORD: redisPassword, TMPDIR: folder });
    const fleet = (database: number, command: readonly string[], ...flags: string[]) =>
      sitegrove(["fleet", ...command, "--queue", `${redis.url.slice(0, -1)}${database}`, ...flags], {
        env: environment(),
      });
    const working = (database: number, flags: readonly string[]) => [
      ...["fleet", "worker", "--queue", `${redis.url.slice(0, -1)}${database}`],
      ...["--no-homepage", "--retries", "0", "--idle", "0", ...flags],
    ];
    const worker = (database: number, ...flags: string[]) => launch(working(database, flags), { env: environment() });
    const results = async (database: number, run: string) =>
      jsonLines((await fleet(database, ["results"], "--run", run)).stdout) as SiteSummary[];
    const published = async (prefix: string, run: string) => {
      const bucket = await S3Bucket.open(`s3://bucket/${prefix}`, server.env);
      const keys = (await bucket.list("")).map((key) => key.slice(1));
      const texts = keys.filter((key) => key.startsWith(`summaries/${run}/`)).map((key) => bucket.get(key));
      const summaries = (await Promise.all(texts)).map((text) => JSON.parse(text ?? "") as SiteSummary);
      return { bucket, keys, summaries: bySite(summaries) };
    };
    const bySite = (list: readonly SiteSummary[]) => [...list].sort((one, other) => (one.site < other.site ? -1 : 1));

    test("a worker that is killed leaves one result for each website; sites that ended badly are read again", async () => {
      const servers = await manyServers({ count: 4, latency: 100 });
      const gone = await manyServers({ count: 1 });
      gone.close();
      const sites = [...servers.sites, gone.sites[0]?.replace("127.1.0.1", "127.1.1.1") ?? ""];
      writeFileSync(path.join(folder, "queued.txt"), sites.join("\n"));
      const from = ["--from", path.join(folder, "queued.txt"), "--out", "s3://bucket/q", "--archives", "--run", "r"];
      expect(await fleet(0, [], ...from)).toMatchObject({ code: 0 });
      const queue = await BullQueue.open(redis.url);
      const first = start(working(0, ["--concurrency", "2", "--lease", "1"]), { env: environment() });
      const end = ended(first);
      await onQueue(redis.url, "r", async () => (await queue.counts("r")).done >= 2);
      first.kill("SIGKILL");
      await end;
      expect((await worker(0, "--lease", "1").end).code).toBe(0);
      const accepted = await results(0, "r");
      expect(accepted.map(({ site }) => site)).toEqual(sites);
      const { keys, summaries } = await published("q", "r");
      expect(summaries).toEqual(bySite(accepted));
      for (const { files } of summaries) for (const file of Object.values(files)) expect(keys).toContain(file);
      expect(accepted.at(-1)?.outcome).toBe("unreachable");
      // What was published of it is taken back, and it is read anew.
      expect((await fleet(0, [], "--run", "r", "--retry", "unreachable")).stderr).toContain("1 website to crawl again");
      expect((await published("q", "r")).summaries).toHaveLength(4);
      expect((await worker(0).end).code).toBe(0);
      const [again, before] = [(await results(0, "r")).at(-1), accepted.at(-1)];
      expect(again).toMatchObject({ outcome: "unreachable", site: before?.site });
      expect(again?.attemptId).not.toBe(before?.attemptId);
      expect((await published("q", "r")).summaries).toEqual(bySite(await results(0, "r")));
      servers.close();
      await queue.close();
    });

    test("a run that is scheduled uses the archives in the bucket", async () => {
      let isRepeated = () => {};
      const repeated = new Promise<void>((resolve) => {
        isRepeated = resolve;
      });
      const gate = async () => (Math.max(...servers.visits.values()) > 1 ? isRepeated() : undefined);
      const servers = await manyServers({ count: 2, gate });
      const out = ["--out", "s3://bucket/daily", "--archives", "--run", "daily"];
      await fleet(1, servers.sites, ...out);
      await fleet(1, ["schedule"], "--run", "daily", "--every", "2s");
      const { end } = worker(1, "--run", "daily");
      await repeated;
      await fleet(1, ["schedule"], "--run", "daily", "--stop");
      expect((await end).code).toBe(0);
      const queue = await BullQueue.open(redis.url.replace(/0$/, "1"));
      const [, { run: second } = { run: "" }] = await queue.runs();
      const { bucket, summaries } = await published(`daily/${second}`, second);
      expect(summaries.map(({ site }) => site)).toEqual([...servers.sites].sort());
      for (const { files } of summaries) {
        const archive = path.join(folder, "archive.warc.gz");
        expect(await bucket.download(files["archive"] ?? "", archive)).toBe(true);
        expect(gunzipSync(readFileSync(archive)).toString()).toContain("WARC-Type: revisit");
      }
      servers.close();
      await queue.close();
    });
  });

  test("one line says what is missing", async () => {
    const out = (address: string, env: Record<string, string>) =>
      sitegrove(["fleet", "a.example", "--out", address], { env: { ...server.env, ...env } });
    expect(await out("s3://bucket/x", { AWS_SECRET_ACCESS_KEY: "" })).toMatchObject({
      code: 2,
      stderr: "sitegrove: s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment\n",
    });
    expect(await out("s3://nowhere/x", {})).toMatchObject({
      code: 1,
      stderr: "sitegrove: s3://nowhere/x: there is no such bucket (NoSuchBucket)\n",
    });
    expect((await out("s3:/x", {})).stderr).toContain("Expected s3://BUCKET/PREFIX");
    expect((await out("s3://bucket/x", { AWS_ENDPOINT_URL_S3: "127.0.0.1:9" })).stderr).toContain(
      "must begin with http",
    );
  });
});
