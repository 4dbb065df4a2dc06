// `fleet --dataset`: the tables of all websites of a run hold every row once, whatever was killed.
// Needs processes, Redis, more than a second.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Dataset, openDataset } from "../../src/cli/fleet/dataset.ts";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { noSink } from "../../src/fleet/fleet-options.ts";
import { S3Bucket } from "../../src/fleet/s3-bucket.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import { Store } from "../../src/fleet/store.ts";
import { type ManyServers, manyServers } from "../fleet/many-servers.ts";
import { job, summaryOf } from "../fleet/queue-contract.ts";
import { linesIn, onQueue } from "../support/grown.ts";
import { hasPython } from "../support/installed.ts";
import { isLong, some } from "../support/long.ts";
import { parquetRows } from "../support/parquet.ts";
import { hasRedis, redisPassword, startRedis } from "../support/redis-server.ts";
import { hasS3, type S3Server, startS3 } from "../support/s3-server.ts";
import { testFolder } from "../support/test-folder.ts";
import { ended, launch, sitegrove, start } from "./program.ts";

const at = testFolder();
let servers: ManyServers;
const count = some(60, 10);
beforeEach(async () => {
  servers = await manyServers({ count, latency: 40 });
  writeFileSync(at("sites.txt"), `${servers.sites.join("\n")}\n`);
});
afterEach(() => servers.close());

async function rows(table: string, run: string): Promise<Record<string, unknown>[]> {
  const place = at(`data/${table}/run=${run}`);
  const parts = readdirSync(place);
  for (const name of parts) expect(name).toMatch(/^part-.*\.parquet$/);
  return (await Promise.all(parts.map((name) => parquetRows(path.join(place, name))))).flat();
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

const night = (out: string, dataset: string, ...flags: string[]) => [
  ...["fleet", "--from", at("sites.txt"), "--out", at(out), "-f", "none", "--dataset", dataset, "--no-homepage"],
  ...flags,
];

/** A process that is killed when so many websites are done. */
async function killed(words: readonly string[], done: number, env: Record<string, string> = {}): Promise<void> {
  const child = start(words, { env });
  const end = ended(child);
  await linesIn(at("out/sites.ndjson"), '"type":"done"', done);
  child.kill("SIGKILL");
  await end;
}

test("killed again and again, two processes write every row once", async () => {
  const words = night("out", at("data"), "--concurrency", "4");
  for (let kill = 1; kill <= some(4, 1); kill += 1) await killed([...words, "--processes", "2"], kill * 4);
  expect((await sitegrove([...words, "--processes", String(some(2, 1))])).code).toBe(0);
  const run = readFileSync(at("out/run.txt"), "utf8").trim();
  expect(run).toMatch(/^\d{8}T\d{6}Z$/);
  await expectWhole(run);
  // The next night has a run of its own beside it.
  const tuesday = (out: string) => sitegrove(night(out, at("data"), "--run", "tuesday", "--max-pages", "1"));
  expect((await tuesday("out2")).code).toBe(3);
  // Its folder may continue it; another one would repeat its rows.
  expect((await tuesday("out2")).code).toBe(3);
  expect(await tuesday("out3")).toMatchObject({
    code: 2,
    stderr: `sitegrove: ${at("data")} already has a run named tuesday; use another --run\n`,
  });
  expect(existsSync(at("out3"))).toBe(false);
  expect(await rows("pages", "tuesday")).toHaveLength(count);
  await expectWhole(run);
  expect((await sitegrove([...words, "--run", "other"])).stderr).toContain(`belongs to the run ${run}`);
  expect((await sitegrove([...words, "--retry", "failed"])).stderr).toContain("--retry does not work with --dataset");
  const journal = readFileSync(at("out/sites.ndjson"), "utf8");
  writeFileSync(at("out/sites.ndjson"), journal.replace('"done"', '"d?ne'));
  expect(await sitegrove(words)).toMatchObject({ code: 2, stderr: expect.stringContaining("rows could be repeated") });
  await expectWhole(run);
});

test.skipIf(!hasPython("duckdb", "pandas", "pyarrow"))("DuckDB and pandas read all runs at once", async () => {
  for (const run of ["a", "b"]) await sitegrove(night(run, at("data"), "--run", run));
  const query = `import duckdb, pandas
print(duckdb.sql("select run, count(*), count(distinct site) from '${at("data")}/pages/*/*.parquet' group by run order by run").fetchall())
print(pandas.read_parquet("${at("data")}/pages", partitioning=None).groupby("run").size().to_dict())`;
  const { stdout } = spawnSync("python3", ["-c", query], { encoding: "utf8" });
  expect(stdout).toBe(
    `[('a', ${count * 3}, ${count}), ('b', ${count * 3}, ${count})]\n{'a': ${count * 3}, 'b': ${count * 3}}\n`,
  );
});

describe.skipIf(!hasRedis)("workers of a queue", () => {
  test("write every row once into a folder, also if one is killed; the rows go with their run", async () => {
    await queued(at("data"), {}, true, async (fleet) => {
      await expectWhole("monday");
      expect((await sitegrove(night("other", at("data"), "--run", "monday"))).code).toBe(2);
      writeFileSync(at("data/pages/own.txt"), "mine");
      expect((await fleet("remove", "--run", "monday", "--outputs")).stderr).toBe(
        "sitegrove: monday: removed, with 4 files\n",
      );
      expect(readdirSync(at("data"), { recursive: true }).sort()).toEqual(["pages", "pages/own.txt"]);
      await sitegrove(night("other", at("data"), "--run", "monday"));
      expect((await fleet("a.example", "--run", "monday", "--dataset", at("data"))).stderr).toContain(
        "already has a run named monday",
      );
    });
  });

  test.skipIf(!hasS3)("and into a bucket, as a process without a queue does that follows one that died", async () => {
    const s3 = await startS3();
    try {
      await s3.makeBucket("bucket");
      const words = night("out", "s3://bucket/data", "--run", "tuesday");
      if (isLong) await killed(words, 4, s3.env);
      if (isLong) expect((await sitegrove(words, { env: s3.env })).code).toBe(0);
      await queued("s3://bucket/data", s3.env, isLong, async (fleet) => {
        await download(s3);
        for (const run of isLong ? ["monday", "tuesday"] : ["monday"]) await expectWhole(run);
        expect((await fleet("remove", "--run", "monday", "--outputs")).code).toBe(0);
        expect((await s3.keys("bucket")).filter((key) => key.includes("monday"))).toEqual([]);
      });
    } finally {
      await s3.stop();
    }
  });

  type Fleet = (...words: string[]) => ReturnType<typeof sitegrove>;
  async function queued(
    dataset: string,
    more: Record<string, string>,
    isKilled: boolean,
    then: (fleet: Fleet) => Promise<void>,
  ): Promise<void> {
    const redis = await startRedis();
    const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword, ...more };
    process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
    const queue = await BullQueue.open(redis.url);
    const fleet: Fleet = (...words) => sitegrove(["fleet", ...words, "--queue", redis.url], { env });
    try {
      expect((await fleet("--from", at("sites.txt"), "--run", "monday", "--dataset", dataset)).code).toBe(0);
      const words = ["fleet", "worker", "--queue", redis.url, "--lease", "2", "--idle", "1", "--no-homepage"];
      if (isKilled) {
        const dying = start([...words, "--concurrency", "4"], { env });
        const end = ended(dying);
        await onQueue(redis.url, "monday", async () => (await queue.counts("monday")).done >= 5);
        dying.kill("SIGKILL");
        await end;
      }
      const workers = [1, 2].map(() => launch([...words, "--concurrency", "4"], { env }).end);
      expect((await Promise.all(workers)).map(({ code }) => code)).toEqual([0, 0]);
      await then(fleet);
    } finally {
      await queue.close();
      await redis.stop();
    }
  }
});

describe("parts", () => {
  const summaries = Array.from({ length: 5 }, (_, site): SiteSummary => {
    const attemptId = `${site}23-1`;
    const summary = summaryOf({ job: job(`site${site}`), attemptId } as never);
    return site === 4 ? { ...summary, outcome: "quarantined" } : summary;
  });
  const ids = summaries.slice(0, 4).map(({ attemptId }) => attemptId);
  const results = async function* () {
    yield* summaries;
  };
  /** With a page for each website: one with 4,200 videos is written at once. */
  async function read(dataset: Dataset, videos = 0): Promise<void> {
    const page = { url: "https://example.org/", videos: Array(videos).fill({}) } as never;
    for (const summary of summaries) {
      const output = await dataset.open({ key: summary.key, homepage: summary.site }, summary.attemptId);
      await output.pages?.("", [page]);
      await output.keep(summary);
    }
  }
  const parts = () => readdirSync(at("data/pages/run=a"));

  test("parts that were begun when their process died are written once", async () => {
    const store = new Store(at("data"));
    const dataset = openDataset(noSink, store, "a");
    await read(dataset);
    // Listed, and not yet published.
    await store.put(`_spool/run=a/${ids[0]}.list.json`, JSON.stringify(ids.slice(0, 3)));
    expect(readdirSync(at("data/_spool/run=a"))).toHaveLength(6);
    await dataset.finish(results());
    expect(await rows("pages", "a")).toHaveLength(4);
    expect(parts()).toEqual([ids[0], ids[3]].map((id) => `part-${id}.parquet`));
    // Published, and not yet removed.
    mkdirSync(at("data/_spool/run=a"), { recursive: true });
    await store.put(`_spool/run=a/${ids[0]}.list.json`, JSON.stringify(ids.slice(0, 3)));
    await dataset.finish(results());
    expect(await rows("pages", "a")).toHaveLength(4);
    expect(existsSync(at("data/_spool"))).toBe(false);
  });

  test.each([
    ["one for all", undefined, [ids[0]]],
    ["the next one, once a table has its size", 1000, ids],
  ])("%s", async (_, mostBytes, firsts) => {
    const dataset = openDataset(noSink, new Store(at("data")), "a", mostBytes);
    await read(dataset, 4200);
    await dataset.finish(results());
    expect(parts()).toEqual(firsts.map((id) => `part-${id}.parquet`));
    const sites = (await rows("sites", "a")).map(({ site }) => site);
    expect(sites).toEqual(summaries.slice(0, 4).map(({ site }) => site));
  });
});
