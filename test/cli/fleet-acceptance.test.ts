// A fleet as operators meet it: a list of which 15% are silent, 10% refuse connections, 10% always fail, 5% redirect, and some are large; killed
// again and again, with a journal, with workers on a queue, and into a bucket. Every result is compared with the truth. Only in the long run.
// Needs Redis, an S3 server, processes, minutes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BullQueue } from "../../src/fleet/bull-queue.ts";
import { stateFolder } from "../../src/fleet/journal-file.ts";
import { readResults } from "../../src/fleet/journal-state.ts";
import { S3Bucket } from "../../src/fleet/s3-bucket.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import { linesIn, occurrences } from "../support/grown.ts";
import { isLong } from "../support/long.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { freePort } from "../support/own-port.ts";
import { hasRedis, redisPassword, startRedis } from "../support/redis-server.ts";
import { hasS3, startS3 } from "../support/s3-server.ts";
import { ended, start } from "./program.ts";

const count = Number(process.env["SITEGROVE_FLEET_SITES"] ?? 1000);
const kinds = [
  ...["silent", "silent", "silent", "refused", "refused", "failing", "failing", "redirect", "large"],
  ...Array.from({ length: 11 }, () => "plain"),
] as const;
const kindOf = (at: number) => (kinds[at % 20] === "large" && at % 250 > 60 ? "plain" : (kinds[at % 20] as string));
const pagesOf = (at: number) => (kindOf(at) === "large" ? 20_000 : 5 + (at % 30));

describe.runIf(isLong)(`every one of ${count} websites gets the right result`, { timeout: 900_000 }, () => {
  let server: Server;
  let folder: string;
  let sites: string[];
  const at = (name: string) => path.join(folder, name);
  const address = (number: number) => `127.7.${Math.floor(number / 250)}.${(number % 250) + 1}`;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "acceptance-"));
    server = createServer((request, response) => {
      const host = request.headers.host ?? "";
      const [, , high = 0, low = 1] = host.split(/[.:]/).map(Number);
      const number = high * 250 + low - 1;
      const base = `http://${host}`;
      const kind = kindOf(number);
      if (kind === "silent") return;
      if (kind === "failing") return void response.writeHead(500).end();
      if (kind === "redirect")
        return void response
          .writeHead(301, { location: base.replace(address(number), address(number + 2)) + request.url })
          .end();
      if (request.url === "/robots.txt") return void response.end(`Sitemap: ${base}/sitemap.xml\n`);
      if (request.url !== "/sitemap.xml") return void response.writeHead(404).end();
      const urls = Array.from({ length: pagesOf(number) }, (_, page) => `<url><loc>${base}/${page}</loc></url>`);
      setTimeout(() => response.end(`<urlset>${urls.join("")}</urlset>`), 30);
    });
    const port = await listenOnLoopback(
      server,
      Array.from({ length: count }, (_, number) => address(number)),
    );
    const closed = await freePort();
    sites = Array.from(
      { length: count },
      (_, number) => `http://${address(number)}:${kindOf(number) === "refused" ? closed : port}/`,
    );
    writeFileSync(at("sites.txt"), `${sites.join("\n")}\n`);
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  const truth = (number: number): string => {
    const kind = kindOf(number);
    if (kind === "redirect") return truth(number + 2);
    return ["silent", "refused", "failing"].includes(kind) ? "unreachable 0" : `complete ${pagesOf(number)}`;
  };
  function expectTruth(results: readonly SiteSummary[]): void {
    const told = new Map(results.map(({ site, outcome, pages }) => [site, `${outcome} ${pages}`]));
    expect(results).toHaveLength(count);
    expect(sites.map((site) => `${site} ${told.get(site)}`)).toEqual(
      sites.map((site, each) => `${site} ${truth(each)}`),
    );
  }
  const flags = [
    "--no-homepage",
    "--known",
    "never",
    "--timeout",
    "5",
    "--retries",
    "1",
    "--concurrency",
    "64",
    "--allow-private",
  ];
  const done = '"type":"done"';
  async function killed(words: readonly string[], kills: number, journal: string, env = {}): Promise<void> {
    for (let kill = 0; kill < kills; kill += 1) {
      const child = start(words, { env });
      const over = new AbortController();
      const end = ended(child).finally(() => over.abort());
      const more = Math.ceil(count / (kills * 2));
      await linesIn(journal, done, Math.min(count - 1, occurrences(journal, done) + more), over.signal);
      child.kill("SIGKILL");
      await end;
    }
    expect((await ended(start(words, { env }))).code).toBe(3);
  }
  const collected = async (results: AsyncIterable<SiteSummary>) => {
    const list: SiteSummary[] = [];
    for await (const summary of results) list.push(summary);
    return list;
  };

  test("from a journal, killed twenty times", async () => {
    const words = ["fleet", "--from", at("sites.txt"), "--out", at("out"), "-f", "none", ...flags];
    await killed(words, 20, at("out/sites.ndjson"));
    expectTruth(await collected(readResults(at("out/sites.ndjson"))));
  });

  test.skipIf(!hasRedis)("from three workers: eight kills, one past its lease, Redis killed", async () => {
    const redis = await startRedis();
    process.env["SITEGROVE_QUEUE_PASSWORD"] = redisPassword;
    const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
    const queue = await BullQueue.open(redis.url);
    const words = ["fleet", "worker", "--queue", redis.url, "--lease", "3", "--stay", "--out", at("shared"), ...flags];
    const work = () => start(words, { env });
    const workers = [work(), work(), work()];
    try {
      expect((await ended(start(["fleet", "--from", at("sites.txt"), "--queue", redis.url], { env }))).code).toBe(0);
      const counts = () => queue.counts();
      const grown = async (more: number) => {
        const most = Math.min(count, (await counts()).done + more);
        while ((await counts()).done < most) await sleep(50);
      };
      for (let kill = 0; kill < 8; kill += 1) {
        await grown(count / 20);
        const dying = workers[kill % 3];
        if (kill === 3) {
          dying?.kill("SIGSTOP");
          // Waits until its lock has expired.
          await sleep(5000);
          dying?.kill("SIGCONT");
          await grown(count / 20);
        } else if (kill === 5) {
          await redis.kill();
          await redis.start();
        }
        dying?.kill("SIGKILL");
        workers[kill % 3] = work();
      }
      await grown(count);
      expectTruth(await collected(queue.results()));
    } finally {
      for (const worker of workers) worker.kill("SIGKILL");
      await queue.close();
      await redis.stop();
    }
  });

  test.skipIf(!hasS3)("from a bucket, killed four times", async () => {
    const s3 = await startS3();
    await s3.makeBucket("bucket");
    const env = { ...s3.env, XDG_STATE_HOME: folder };
    const words = ["fleet", "--from", at("sites.txt"), "--out", "s3://bucket/a", ...flags];
    const state = stateFolder("s3://bucket/a", undefined, env);
    await killed(words, 4, path.join(state, "sites.ndjson"), env);
    const bucket = await S3Bucket.open("s3://bucket/a", s3.env);
    const summaries: SiteSummary[] = [];
    for (const key of await bucket.list("summaries/")) summaries.push(JSON.parse((await bucket.get(key)) ?? ""));
    expectTruth(summaries);
    // Killed attempts leave no files.
    const named = summaries.flatMap(({ files }) => Object.values(files));
    expect([...(await bucket.list("pages/")), ...(await bucket.list("sitemaps/"))].sort()).toEqual(named.sort());
  });
});
