// `fleet dataset`: the tables of a run hold every row once, however often they are made.
// Needs Redis, DuckDB, more than a second.

import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { writeDataset } from "../../src/fleet/dataset.ts";
import { storedRun } from "../../src/fleet/results.ts";
import { Store } from "../../src/fleet/store.ts";
import { manyServers } from "../fleet/many-servers.ts";
import { dated, urlset } from "../support/documents.ts";
import { hasPython } from "../support/installed.ts";
import { saidOfFleets as said, said as saidOfOne } from "../support/messages.ts";
import { parquetRows } from "../support/parquet.ts";
import { hasRedis, redisPassword, startRedis } from "../support/redis-server.ts";
import { testFolder } from "../support/test-folder.ts";
import { jsonLines, shell, sitegrove } from "./program.ts";

const at = testFolder();
const quick = ["--no-homepage", "--retries", "0"];
const fleet = (out: string, ...words: string[]) => sitegrove(["fleet", "--out", at(out), ...quick, ...words]);
const dataset = (from: string, ...words: string[]) =>
  sitegrove(["fleet", "dataset", at(from), "--out", at("data"), ...words]);

async function rows(table: string, run: string): Promise<Record<string, unknown>[]> {
  const place = at(`data/${table}/run=${run}`);
  const parts = readdirSync(place);
  for (const name of parts) expect(name).toMatch(/^part-\d{4}\.parquet$/);
  return (await Promise.all(parts.map((name) => parquetRows(path.join(place, name))))).flat();
}

test("making a dataset again, also after --retry, duplicates no row", async () => {
  const robots = "User-agent: *\nContent-Signal: search=yes, ai-train=no\n";
  const { sites } = await manyServers({ count: 4, robots });
  const gone = await manyServers({ count: 1 });
  gone.close();
  const dead = gone.sites[0]?.replace("127.1.0.1", "127.1.9.9") ?? "";
  expect((await fleet("monday", ...sites, dead)).code).toBe(3);
  await fleet("monday", "--retry", "unreachable");
  for (let time = 0; time < 2; time += 1)
    expect(await dataset("monday")).toMatchObject({ code: 0, stdout: "monday: 5 websites, 12 pages\n" });
  const [pages, sitemaps, table] = [
    await rows("pages", "monday"),
    await rows("sitemaps", "monday"),
    await rows("sites", "monday"),
  ];
  const urls = sites.flatMap((site) => [0, 1, 2].map((page) => `${site}${page}`));
  expect(pages.map(({ url }) => String(url)).sort()).toEqual(urls.sort());
  expect(sitemaps.filter(({ kind }) => kind === "pages")).toHaveLength(4);
  expect(table.map(({ site, outcome }) => `${site} ${outcome}`).sort()).toEqual(
    [...sites.map((site) => `${site} complete`), `${dead} unreachable`].sort(),
  );
  expect(table.find(({ site }) => site === sites[0])?.["preferences"]).toEqual(["search=yes", "ai-train=no"]);
  for (const row of [...pages, ...sitemaps, ...table])
    expect(row).toMatchObject({ run: "monday", site: expect.any(String), fetched_at: expect.any(Date) });
  // Another name makes another run.
  expect((await dataset("monday", "--run", "again")).code).toBe(0);
  expect(await rows("pages", "again")).toHaveLength(12);
  expect(readdirSync(at("data")).sort()).toEqual(["changes", "pages", "problems", "sitemaps", "sites"]);
});

test("missing and damaged files are reported, and everything else is included", async () => {
  const { sites } = await manyServers({ count: 3 });
  await fleet("out", ...sites);
  const files = jsonLines(readFileSync(at("out/sites.ndjson"), "utf8")).flatMap(({ type, summary }) =>
    type === "done" ? [summary.files] : [],
  );
  rmSync(at(`out/${files[0].pages}`));
  appendFileSync(at(`out/${files[1].pages}`), '{"url":5}\nhalf a li');
  // The file is cut between two lines, so what is left is valid.
  const [line] = readFileSync(at(`out/${files[2].pages}`), "utf8").split("\n");
  writeFileSync(at(`out/${files[2].pages}`), `${line}\n`);
  const { code, stdout, stderr } = await dataset("out");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "out: 3 websites, 4 pages\n" });
  expect(stderr).toContain(said.damagedFiles("3 websites"));
  expect(await rows("pages", "out")).toHaveLength(4);
  expect(await rows("sites", "out")).toHaveLength(3);
});

test.each<[string, (name: string, text: string) => void]>([
  ["is cut off between two lines", (name, text) => writeFileSync(name, text.replace(/\n.*\n$/, "\n"))],
  ["is empty", (name) => writeFileSync(name, "")],
  ["has a text for a number", (name, text) => writeFileSync(name, text.replace('"depth":1', '"depth":"1"'))],
  ["has a number for a URL", (name, text) => writeFileSync(name, text.replace(/"url":"[^"]*"/, '"url":5'))],
  [
    "has a number that is not finite",
    (name, text) => writeFileSync(name, text.replace('"status":200', '"status":1e999')),
  ],
  [
    "has a problem that is none",
    (name, text) => writeFileSync(name, text.replace('"problems":[]', '"problems":[null]')),
  ],
  [
    "is a folder",
    (name) => {
      rmSync(name);
      mkdirSync(name);
    },
  ],
  [
    "is a pipe",
    (name) => {
      rmSync(name);
      execFileSync("mkfifo", [name]);
    },
  ],
])("a sitemaps file that %s is reported as damaged, and everything else is included", async (_, damage) => {
  const { sites } = await manyServers({ count: 2 });
  await fleet("out", ...sites);
  const [file = ""] = readdirSync(at("out/sitemaps"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ndjson"),
  );
  const name = at(`out/sitemaps/${file}`);
  damage(name, readFileSync(name, "utf8"));
  const { code, stdout, stderr } = await dataset("out");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "out: 2 websites, 6 pages\n" });
  expect(stderr).toContain(said.damagedFiles("1 website"));
});

test("damaged lines of the journal are reported, because a website may be missing", async () => {
  const { sites } = await manyServers({ count: 3 });
  await fleet("out", ...sites);
  const journal = readFileSync(at("out/sites.ndjson"), "utf8");
  const isLost = (line: string) => line.includes(sites[0] ?? "") && !line.includes('"type":"list');
  writeFileSync(
    at("out/sites.ndjson"),
    journal
      .split("\n")
      .map((line) => (isLost(line) ? "?" : line))
      .join("\n"),
  );
  const { code, stdout, stderr } = await dataset("out");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "out: 2 websites, 6 pages\n" });
  expect(stderr).toContain(said.threeDamagedLines);
});

test("a table that does not fit on the disk is an error, even if only its end is missing", async () => {
  const { sites } = await manyServers({ count: 1, pages: 500 });
  await fleet("out", ...sites);
  expect((await dataset("out")).code).toBe(0);
  const name = at("data/pages/run=out/part-0001.parquet");
  const blocks = Math.floor((statSync(name).size - 1) / 1024);
  rmSync(at("data"), { recursive: true });
  const limited = `ulimit -f ${blocks}; eval "$SITEGROVE fleet dataset ${at("out")} --out ${at("data")}"`;
  const { code, stderr } = await shell(limited);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(saidOfOne.fileTooLarge) });
  expect(existsSync(name)).toBe(false);
});

test.each([
  ["csv", 2, said.needsNdjson],
  ["none", 0, "2 websites"],
])("a run with -f %s gives a dataset, or an error that says why it cannot", async (format, code, message) => {
  const { sites } = await manyServers({ count: 2 });
  await fleet("out", ...sites, "-f", format);
  const { code: ended, stdout, stderr } = await dataset("out");
  expect({ ended, text: stdout + stderr }).toEqual({ ended: code, text: expect.stringContaining(message) });
  if (code === 0) expect(await rows("sites", "out")).toHaveLength(2);
});

test("websites of the run without a result yet are counted, and make the dataset incomplete", async () => {
  const { sites } = await manyServers({ count: 3 });
  await fleet("out", ...sites);
  // A killed process leaves this behind: one result is half written, and another website was not started.
  const lines = readFileSync(at("out/sites.ndjson"), "utf8").trimEnd().split("\n");
  const waiting = JSON.stringify({
    ...JSON.parse(lines[1] ?? ""),
    site: "http://127.0.0.1/",
    key: "http://127.0.0.1/",
  });
  writeFileSync(at("out/sites.ndjson"), [waiting, ...lines.slice(0, -1), lines.at(-1)?.slice(0, -9)].join("\n"));
  const { code, stdout, stderr } = await dataset("out");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "out: 2 websites, 6 pages\n" });
  expect(stderr).toContain(said.twoWithoutResult);
});

test("a large table is split into parts, and the parts replace those of an earlier dataset", async () => {
  // Rows are written in groups of 10,000.
  const { sites } = await manyServers({ count: 2, pages: 10_500 });
  await fleet("out", ...sites);
  for (const [most, parts] of [
    [1000, 2],
    [undefined, 1],
  ] as const) {
    await writeDataset(await storedRun(at("out")), new Store(at("data")), most);
    expect(readdirSync(at("data/pages/run=out"))).toHaveLength(parts);
    expect(await rows("pages", "out")).toHaveLength(21_000);
  }
});

test("a dataset killed while it replaces another one has every row of the websites in `sites` exactly once; making it again cleans up", async () => {
  /** Throws at an operation, like a process that is killed there, so nothing is cleaned up. */
  class MortalStore extends Store {
    left = Number.POSITIVE_INFINITY;
    #live() {
      if (this.left-- <= 0) throw new Error("killed");
    }
    override async publish(...words: Parameters<Store["publish"]>) {
      this.#live();
      await super.publish(...words);
    }
    override async delete(name: string) {
      this.#live();
      await super.delete(name);
    }
  }
  const { sites } = await manyServers({ count: 2 });
  await fleet("out", ...sites);
  const store = new MortalStore(at("data"));
  const write = async (mostBytes?: number) => writeDataset(await storedRun(at("out")), store, mostBytes);
  const tables = async () => {
    const files = readdirSync(at("data"), { recursive: true, encoding: "utf8" }).filter((name) =>
      /parquet$/.test(name),
    );
    const rowsOf = (table: string) =>
      Promise.all(files.filter((name) => name.startsWith(table)).map((name) => parquetRows(at(`data/${name}`))));
    return { sites: (await rowsOf("sites")).flat(), pages: (await rowsOf("pages")).flat() };
  };
  for (let lives = 0, isOver = false; !isOver; lives += 1) {
    store.left = Number.POSITIVE_INFINITY;
    // One part for each website, then a single one.
    await write(0);
    writeFileSync(at("data/pages/run=out/notes.txt"), "");
    store.left = lives;
    isOver = await write().then(
      () => true,
      () => false,
    );
    const written = await tables();
    const pagesOf = (site: unknown) => written.pages.filter((page) => page["site"] === site).map(({ url }) => url);
    for (const { site } of written.sites)
      expect(pagesOf(site).sort()).toEqual([0, 1, 2].map((page) => `${site}${page}`));
    expect(new Set(written.sites.map(({ site }) => site)).size).toBe(written.sites.length);
    if (isOver) expect(written.sites).toHaveLength(2);
  }
  const lock = store.lock("lock.out");
  await expect(write()).rejects.toThrow(expect.objectContaining({ code: "folder-in-use" }));
  lock?.release();
  expect(readdirSync(at("data/pages/run=out")).sort()).toEqual(["notes.txt", "part-0001.parquet"]);
});

test.skipIf(!hasRedis)("a dataset can be made from the output of workers, one run at a time", async () => {
  const { sites } = await manyServers({ count: 3 });
  const redis = await startRedis();
  const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
  const onQueue = (...words: string[]) => sitegrove(["fleet", ...words, "--queue", redis.url], { env });
  for (const run of ["monday", "tuesday"]) {
    await onQueue(...sites, "--run", run);
    await onQueue("worker", "--run", run, "--out", at("shared"), "--idle", "0", "--allow-private", ...quick);
  }
  expect((await dataset("shared")).stderr).toContain(said.severalRuns("--run"));
  for (const run of ["monday", "tuesday"]) {
    expect((await dataset("shared", "--run", run)).code).toBe(0);
    expect(await rows("pages", run)).toHaveLength(9);
  }
});

test.skipIf(!hasPython("duckdb", "pandas", "pyarrow"))(
  "DuckDB and pandas read all runs, with times in UTC and changes as a table",
  async () => {
    let names = ["a", "b"];
    const { sites } = await manyServers({
      count: 2,
      sitemaps: (base) => ({
        "/sitemap.xml": urlset(...names.map((name) => dated(`${base}/${name}`, "2026-01-01T12:00:00+02:00"))),
      }),
    });
    await fleet("monday", ...sites, "--archives");
    names = ["b", "c"];
    await fleet("tuesday", ...sites);
    await fleet("changes", ...sites, "-f", "changes", "--previous", at("monday"), "--archives");
    for (const run of ["monday", "tuesday", "changes"]) expect((await dataset(run)).code).toBe(0);
    const docs = readFileSync(path.join(import.meta.dirname, "../../docs/fleet.md"), "utf8");
    const [recipe = ""] = docs.match(/(?<=```sql\n)WITH[^`]*/) ?? [];
    const query = `import duckdb, pandas, json, sys
duckdb.sql("SET TimeZone='America/New_York'")
sql = lambda text: duckdb.sql(text.replace("data/", "${at("data")}/")).fetchall()
print(json.dumps([
  sql("select run, count(*), count(distinct site) from 'data/pages/*/*.parquet' group by run order by run"),
  sql("select distinct typeof(last_modified), epoch(last_modified) from 'data/pages/*/*.parquet'"),
  sql("select kind, parse_filename(url) from 'data/changes/*/*.parquet' order by all"),
  sql(sys.argv[1]),
  sorted(pandas.read_parquet("${at("data")}/pages", partitioning=None).groupby("run").size().to_dict().items()),
], default=str))`;
    const { stdout, stderr } = spawnSync("python3", ["-c", query, recipe], { encoding: "utf8" });
    expect(stderr).toBe("");
    const [first, second] = [...sites].sort();
    expect(JSON.parse(stdout)).toEqual([
      [
        ["monday", 4, 2],
        ["tuesday", 4, 2],
      ],
      [["TIMESTAMP WITH TIME ZONE", Date.UTC(2026, 0, 1, 10) / 1000]],
      [
        ["added", "c"],
        ["added", "c"],
      ],
      [first, second].flatMap((site) => [
        [site, `${site}a`, "removed"],
        [site, `${site}c`, "added"],
      ]),
      [
        ["monday", 4],
        ["tuesday", 4],
      ],
    ]);
  },
);
