// node bench/fleet.mjs --queue: measures fleets with a queue, on its own Redis: what the queue costs in addition to the crawl, three workers
// against one, and the time and memory to queue a long list. The CPU time per website is user and system time of the processes that crawl,
// without their start, which is measured by a run over one website. Journal and queue take turns. The minimum counts, because other
// programs on the machine can only add time.
//   --sites N        number of websites for the CPU time (default 3,000)
//   --list N         number of websites to queue (default 100,000)
//   --latency MS     latency of every response (default 80)
//   --rounds N       how often journal and queue take turns (default 2)
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { printBars, printMachine, printTable } from "./report.mjs";
import { setUp } from "./setup.mjs";

const { values: flags } = parseArgs({
  options: {
    queue: { type: "boolean" },
    sites: { type: "string", default: "3000" },
    list: { type: "string", default: "100000" },
    latency: { type: "string", default: "80" },
    rounds: { type: "string", default: "2" },
  },
});
const size = (name) => Number(flags[name].replaceAll(/[,_]/g, ""));
await setUp({ peers: false });
const program = path.join(process.env.SITEGROVE_BENCH_DIST ?? path.join(import.meta.dirname, "../dist"), "cli/main.js");
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-queue-"));
const password = "bench";
const environment = { ...process.env, SITEGROVE_QUEUE_PASSWORD: password };
const rows = [];
const bars = [];
printMachine();

const port = await freePort();
const redisWords = ["--port", port, "--bind", "127.0.0.1", "--dir", folder, "--requirepass", password];
const redis = spawn("redis-server", [...redisWords, "--appendonly", "yes", "--appendfsync", "always", "--save", ""], {
  stdio: "ignore",
});
const server = spawn(process.execPath, [path.join(import.meta.dirname, "fleet-server.mjs"), flags.latency, "10"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const serverPort = await new Promise((resolve) => server.stdout.once("data", (text) => resolve(Number(text))));
await sleep(1000);
const client = new Redis({ port, password });
try {
  await queueing(size("list"));
  await crawling(size("sites"));
} finally {
  client.disconnect();
  server.kill();
  redis.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
printTable("Fleet with a queue", ["", "websites", "seconds", "websites/s", "CPU ms each", "Redis MB"], rows);
printBars("Bars", bars);

async function queueing(count) {
  const before = await memory();
  const seconds = (await run(["--from", listOf(count, (at) => `https://site-${at}.example/`), "--run", "list"], 1))
    .seconds;
  const grown = (await memory()) - before;
  rows.push(["queue a list", count, seconds, count / seconds, Number.NaN, grown]);
  bars.push({
    promise: `${count.toLocaleString("en")} websites queued in less than 60 s (the promise is for 100,000)`,
    value: `${seconds.toFixed(1)} s`,
    met: seconds < 60,
  });
  bars.push({ promise: "in less than 200 MB of Redis", value: `${grown.toFixed(0)} MB`, met: grown < 200 });
  await client.flushall();
}

async function crawling(count) {
  const homepages = (at) =>
    `http://127.${1 + Math.floor(at / 62_500)}.${Math.floor(at / 250) % 250}.${(at % 250) + 1}:${serverPort}/`;
  const [one, all] = [listOf(1, homepages), listOf(count, homepages)];
  const pace = ["--concurrency", "128", "--no-progress"];
  let folders = 0;
  const journal = (list) => {
    folders += 1;
    return run(["--from", list, "--out", path.join(folder, `alone-${folders}`), "-f", "none", ...pace], 1);
  };
  const queue = async (list, workers) => {
    await client.flushall();
    await run(["--from", list], 1);
    const before = await redisCpu();
    const ended = await run(["worker", "--idle", "0", "--allow-private", ...pace], workers);
    return { ...ended, inRedis: (await redisCpu()) - before, redisMemory: await memory() };
  };
  const least = (one, other) => (one === undefined || other.cpu < one.cpu ? other : one);
  const starts = { journal: await journal(one), queue: await queue(one, 1) };
  const best = {};
  for (let round = 0; round < size("rounds"); round += 1) {
    best.journal = least(best.journal, await journal(all));
    best.queue = least(best.queue, await queue(all, 1));
  }
  const three = await queue(all, 3);
  const each = (ended, start, workers = 1) => ((ended.cpu - start.cpu * workers) * 1000) / count;
  const row = (name, ended, start, workers) => {
    rows.push([`${name}: start`, Number.NaN, start.seconds, Number.NaN, start.cpu * 1000, Number.NaN]);
    const figures = [ended.seconds, count / ended.seconds, each(ended, start, workers)];
    rows.push([name, count, ...figures, ended.redisMemory ?? Number.NaN]);
    if (ended.inRedis !== undefined)
      rows.push(["  and in Redis", count, Number.NaN, Number.NaN, (ended.inRedis * 1000) / count, Number.NaN]);
  };
  row("a journal", best.journal, starts.journal);
  row("a queue, 1 worker", best.queue, starts.queue);
  row("a queue, 3 workers", three, starts.queue, 3);
  const overhead = each(best.queue, starts.queue) / each(best.journal, starts.journal) - 1;
  bars.push({
    promise: "the queue costs at most 5% of the CPU of a website",
    value: `${(overhead * 100).toFixed(1)} %`,
    met: overhead <= 0.05,
  });
  const [ratio, cores] = [best.queue.seconds / three.seconds, os.availableParallelism()];
  process.stderr.write(
    `3 workers are ${ratio.toFixed(2)} times as fast as 1, on ${cores} cores, which serve the websites and run Redis as well\n`,
  );
}

function listOf(count, homepage) {
  const file = path.join(folder, `${count}.txt`);
  writeFileSync(file, Array.from({ length: count }, (_, at) => homepage(at)).join("\n"));
  return file;
}

// Runs a command in several processes. Returns the seconds it took, and the seconds of CPU time of all processes together.
async function run(words, processes) {
  const before = performance.now();
  const queue = words.includes("--out") ? [] : ["--queue", `redis://127.0.0.1:${port}/0`];
  const command =
    words[0] === "worker" ? ["fleet", "worker", ...queue, ...words.slice(1)] : ["fleet", ...queue, ...words];
  const cpus = await Promise.all(
    Array.from({ length: processes }, () => {
      const timed = ["-c", 'TIMEFORMAT="%U %S"; time "$@" > /dev/null', "bash", process.execPath, program, ...command];
      const child = spawn("bash", timed, { env: environment, stdio: ["ignore", "ignore", "pipe"] });
      let text = "";
      child.stderr.on("data", (chunk) => {
        text += chunk;
      });
      return new Promise((resolve, reject) =>
        child.on("close", () => {
          const [, user, system] = /([\d.]+) ([\d.]+)\s*$/.exec(text) ?? [];
          if (user === undefined) reject(new Error(text));
          else resolve(Number(user) + Number(system));
        }),
      );
    }),
  );
  return { seconds: (performance.now() - before) / 1000, cpu: cpus.reduce((sum, cpu) => sum + cpu, 0) };
}

async function memory() {
  return Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]) / 2 ** 20;
}

async function redisCpu() {
  const info = await client.info("cpu");
  return Number(/used_cpu_sys:([\d.]+)/.exec(info)?.[1]) + Number(/used_cpu_user:([\d.]+)/.exec(info)?.[1]);
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port: free } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return free;
}
