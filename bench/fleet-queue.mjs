// npm run bench:fleet -- --queue: fleets on several machines, on a Redis of its own. What the queue costs beside the crawl, three workers
// against one, and how long it takes and how much memory to queue a long list.
//   --sites N        websites that CPU is measured with (default 3,000)
//   --list N         websites that are queued (default 100,000)
//   --latency MS     of every answer (default 80)
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
  const list = listOf(count, homepages);
  const pace = ["--concurrency", "128", "--no-progress"];
  const alone = await run(["--from", list, "--out", path.join(folder, "alone"), "-f", "none", ...pace], 1);
  rows.push([
    "one machine, a journal",
    count,
    alone.seconds,
    count / alone.seconds,
    (alone.cpu * 1000) / count,
    Number.NaN,
  ]);
  let one;
  for (const workers of [1, 3]) {
    await client.flushall();
    await run(["--from", list], 1);
    const redisBefore = await redisCpu();
    const ended = await run(["worker", "--idle", "0", ...pace], workers);
    const inRedis = (await redisCpu()) - redisBefore;
    const each = (ended.cpu * 1000) / count;
    rows.push([
      `a queue, ${workers} worker${workers === 1 ? "" : "s"}`,
      count,
      ended.seconds,
      count / ended.seconds,
      each,
      await memory(),
    ]);
    rows.push(["  of it in Redis", count, Number.NaN, Number.NaN, (inRedis * 1000) / count, Number.NaN]);
    one ??= ended;
    if (workers === 1) {
      const overhead = (ended.cpu - alone.cpu) / alone.cpu;
      bars.push({
        promise: "the queue costs at most 5 % of the CPU of a website",
        value: `${(overhead * 100).toFixed(1)} %`,
        met: overhead <= 0.05,
      });
    } else {
      const ratio = one.seconds / ended.seconds;
      process.stderr.write(
        `3 workers are ${ratio.toFixed(2)} times as fast as 1, on ${os.availableParallelism()} cores\n`,
      );
    }
  }
}

function listOf(count, homepage) {
  const file = path.join(folder, `${count}.txt`);
  writeFileSync(file, Array.from({ length: count }, (_, at) => homepage(at)).join("\n"));
  return file;
}

// CPU of all processes together, in seconds, by what the system says of those that have ended.
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
