// `fleet --dataset`: the tables of all websites of a run hold every row once, whatever was killed.
// Needs processes, Redis, more than a second.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Dataset } from "../../src/cli/fleet/dataset.ts";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { noSink } from "../../src/fleet/fleet-options.ts";
import { readResults } from "../../src/fleet/journal-file.ts";
import { S3Bucket } from "../../src/fleet/s3-bucket.ts";
import { Store } from "../../src/fleet/store.ts";
import { type ManyServers, manyServers } from "../fleet/many-servers.ts";
import { linesIn, onQueue } from "../support/grown.ts";
import { hasPython } from "../support/installed.ts";
import { some } from "../support/long.ts";
import { hasRedis, redisPassword, startRedis } from "../support/redis-server.ts";
import { hasS3, type S3Server, startS3 } from "../support/s3-server.ts";
import { ended, launch, sitegrove, start } from "./program.ts";

let folder: string;
let servers: ManyServers;
const count = some(60, 12);
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "cli-dataset-"));
  servers = await manyServers({ count, latency: 60 });
  writeFileSync(at("sites.txt"), `${servers.sites.join("\n")}\n`);
});
afterEach(() => {
  servers.close();
  rmSync(folder, { recursive: true });
});
const at = (name: string) => path.join(folder, name);

type Row = Record<string, unknown>;
async function rows(table: string, run: string): Promise<Row[]> {
  const place = at(`data/${table}/run=${run}`);
  const parts = readdirSync(place);
  for (const name of parts) expect(name).toMatch(/^part-.*\.parquet$/);
  const all = parts.map(async (name) => {
    const { buffer, byteOffset, byteLength } = readFileSync(path.join(place, name));
    const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    return parquetReadObjects({ file, compressors: { GZIP: (bytes: Uint8Array) => gunzipSync(bytes) } });
  });
  return (await Promise.all(all)).flat();
}

/** As another tool would copy it. */
async function download(server: S3Server): Promise<void> {
  const bucket = await S3Bucket.open("s3://bucket/data", server.env);
  const names = (await server.keys("bucket")).map((key) => key.slice("data/".length));
  expect(names.filter((name) => !/^(pages|sitemaps|problems|sites)\/run=/.test(name))).toEqual(["sitegrove.txt"]);
  for (const name of names) {
    mkdirSync(path.dirname(at(`data/${name}`)), { recursive: true });
    await bucket.download(name, at(`data/${name}`));
  }
}

/** The truth: three pages of every website, once. */
async function expectWhole(run: string): Promise<void> {
  const [pages, sitemaps, sites] = [await rows("pages", run), await rows("sitemaps", run), await rows("sites", run)];
  const urls = servers.sites.flatMap((site) => [0, 1, 2].map((page) => `${site}${page}`));
  expect(pages.map(({ url }) => String(url)).sort()).toEqual(urls.sort());
  expect(sites.map(({ site }) => String(site)).sort()).toEqual([...servers.sites].sort());
  expect(sitemaps.filter(({ kind }) => kind === "pages")).toHaveLength(count);
  for (const row of [...pages, ...sitemaps, ...sites])
    expect(row).toMatchObject({ run, site: expect.any(String), fetched_at: expect.any(Date) });
  expect(existsSync(at("data/_spool"))).toBe(false);
}

test("killed again and again, two processes write every row once", async () => {
  const words = ["fleet", "--from", at("sites.txt"), "--out", at("out"), "-f", "none", "--dataset", at("data")];
  const flags = ["--no-homepage", "--concurrency", "4", "--processes", "2"];
  for (let kill = 1; kill <= some(4, 2); kill += 1) {
    const child = start([...words, ...flags]);
    const end = ended(child);
    await linesIn(at("out/sites.ndjson"), '"type":"done"', kill * 4);
    child.kill("SIGKILL");
    await end;
  }
  expect((await sitegrove([...words, ...flags])).code).toBe(0);
  const run = readFileSync(at("out/run.txt"), "utf8").trim();
  expect(run).toMatch(/^\d{8}T\d{6}Z$/);
  await expectWhole(run);
  // The next night has a run of its own beside it.
  const next = ["--run", "tuesday", "--max-pages", "1"];
  expect((await sitegrove([...words.slice(0, 4), at("out2"), ...words.slice(5), ...flags, ...next])).code).toBe(3);
  expect(await rows("pages", "tuesday")).toHaveLength(count);
  await expectWhole(run);
  expect((await sitegrove([...words, "--run", "other"])).stderr).toContain(`belongs to the run ${run}`);
  expect((await sitegrove([...words, "--retry", "failed"])).stderr).toContain("--retry does not work with --dataset");
});

test.skipIf(!hasPython("duckdb", "pandas"))("DuckDB reads all runs with one glob", async () => {
  const words = ["fleet", "--from", at("sites.txt"), "-f", "none", "--dataset", at("data"), "--no-homepage"];
  for (const run of ["a", "b"]) await sitegrove([...words, "--out", at(run), "--run", run]);
  const query = `import duckdb
print(duckdb.sql("select run, count(*), count(distinct site) from '${at("data")}/pages/*/*.parquet' group by run order by run").fetchall())`;
  const { stdout } = spawnSync("python3", ["-c", query], { encoding: "utf8" });
  expect(stdout.trim()).toBe(`[('a', ${count * 3}, ${count}), ('b', ${count * 3}, ${count})]`);
});

describe.skipIf(!hasRedis)("workers of a queue write every row once, also where one is killed", () => {
  test("into a folder", () => killedWorker(at("data"), {}));

  test.skipIf(!hasS3)("into a bucket", async () => {
    const s3 = await startS3();
    try {
      await s3.makeBucket("bucket");
      await killedWorker("s3://bucket/data", s3.env, () => download(s3));
      // Without a queue, too, where a part was begun by a process that died.
      const spooled = async () => (await s3.keys("bucket")).filter((key) => key.includes("_spool/run=tuesday/"));
      const words = ["fleet", "--from", at("sites.txt"), "--out", at("out"), "-f", "none", "--no-homepage"];
      const child = start([...words, "--dataset", "s3://bucket/data", "--run", "tuesday"], { env: s3.env });
      const end = ended(child);
      while ((await spooled()).length < 4);
      child.kill("SIGKILL");
      await end;
      const flags = ["--dataset", "s3://bucket/data", "--run", "tuesday"];
      expect((await sitegrove([...words, ...flags], { env: s3.env })).code).toBe(0);
      rmSync(at("data"), { recursive: true });
      await download(s3);
      await expectWhole("tuesday");
    } finally {
      await s3.stop();
    }
  });

  async function killedWorker(dataset: string, more: Record<string, string>, then = async () => {}): Promise<void> {
    const redis = await startRedis();
    const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword, ...more };
    process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
    const queue = await BullQueue.open(redis.url);
    try {
      const fill = ["fleet", "--from", at("sites.txt"), "--queue", redis.url, "--run", "monday", "--dataset", dataset];
      expect((await sitegrove(fill, { env })).code).toBe(0);
      const words = ["fleet", "worker", "--queue", redis.url, "--lease", "2", "--idle", "1", "--no-homepage"];
      const dying = start([...words, "--concurrency", "4"], { env });
      const end = ended(dying);
      await onQueue(redis.url, "monday", async () => (await queue.counts("monday")).done >= 5);
      dying.kill("SIGKILL");
      await end;
      const workers = [1, 2].map(() => launch([...words, "--concurrency", "4"], { env }).end);
      expect((await Promise.all(workers)).map(({ code }) => code)).toEqual([0, 0]);
      await then();
      await expectWhole("monday");
    } finally {
      await queue.close();
      await redis.stop();
    }
  }
});

test("a part that was begun when its process died is written once", async () => {
  const words = ["fleet", "--from", at("sites.txt"), "--out", at("out"), "-f", "none", "--no-homepage"];
  const run = () => sitegrove([...words, "--dataset", at("data"), "--run", "a"]);
  const store = new Store(at("data"));
  const results = async function* () {
    for await (const summary of readResults(at("out/sites.ndjson")))
      yield summary.site === servers.sites[0] ? { ...summary, outcome: "quarantined" as const } : summary;
  };
  expect((await run()).code).toBe(0);
  rmSync(at("data"), { recursive: true });
  const spool = () => readdirSync(at("data/_spool/run=a"));
  const dataset = new Dataset(noSink, store, "a");
  const ids: string[] = [];
  for await (const summary of results()) {
    const output = await dataset.open({ key: summary.key, homepage: summary.site }, summary.attemptId);
    await output.pages?.("", [0, 1, 2].map((page) => ({ url: `${summary.site}${page}` })) as never);
    await output.keep(summary);
    if (summary.outcome !== "quarantined") ids.push(summary.attemptId);
  }
  // Listed, and not yet published.
  await store.put(`_spool/run=a/${ids[0]}.part.json`, JSON.stringify(ids.slice(0, 3)));
  expect(spool()).toHaveLength(count + 1);
  await dataset.finish(results());
  expect(await rows("pages", "a")).toHaveLength((count - 1) * 3);
  expect(readdirSync(at("data/pages/run=a"))).toHaveLength(2);
  // Published, and not yet removed.
  mkdirSync(at("data/_spool/run=a"), { recursive: true });
  await store.put(`_spool/run=a/${ids[0]}.part.json`, JSON.stringify(ids.slice(0, 3)));
  await dataset.finish(results());
  expect(await rows("pages", "a")).toHaveLength((count - 1) * 3);
  expect(existsSync(at("data/_spool"))).toBe(false);
});
