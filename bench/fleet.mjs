// node bench/fleet.mjs: measures `sitegrove fleet` on many small websites, and compares it with `xargs -P8 sitegrove ls`. A separate process
// serves the websites on loopback. Each has its own address (127.x.y.z), and responds after 80 ms.
//   --sites N        number of websites for CPU time and throughput (default 3,000)
//   --loop N         number of websites for xargs (default 60)
//   --in-flight N    number of websites at the same time (default 2,000)
//   --flat N         number of websites in the run whose memory must not grow (default 50,000)
//   --dead N         number of host names that do not resolve (default 200)
//   --silent N       number of hosts that never respond (default 50)
//   --latency MS     latency of every response (default 80)
//   --only TEXT      only run parts whose name contains TEXT: cpu, loop, in-flight, flat, dead, bucket
//   --json FILE      also write the figures to FILE
//   --queue          measure fleets with a queue instead (bench/fleet-queue.mjs)
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { printBars, printMachine, printTable } from "./report.mjs";
import { setUp } from "./setup.mjs";

if (process.argv.includes("--queue")) {
  await import("./fleet-queue.mjs");
  process.exit();
}

const { values: flags } = parseArgs({
  options: {
    sites: { type: "string", default: "3000" },
    loop: { type: "string", default: "60" },
    "in-flight": { type: "string", default: "2000" },
    flat: { type: "string", default: "50000" },
    dead: { type: "string", default: "200" },
    silent: { type: "string", default: "50" },
    latency: { type: "string", default: "80" },
    only: { type: "string", default: "" },
    json: { type: "string" },
  },
});
const size = (name) => Number(flags[name].replaceAll(/[,_]/g, ""));
await setUp({ peers: false });
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-fleet-"));
const program = path.join(process.env.SITEGROVE_BENCH_DIST ?? path.join(import.meta.dirname, "../dist"), "cli/main.js");
const server = await startServer();
const figures = {};
const rows = [];
const bars = [];
printMachine();
try {
  for (const [name, measure] of Object.entries({ cpu, loop, "in-flight": inFlight, flat, dead, bucket })) {
    if (!name.includes(flags.only)) continue;
    process.stderr.write(`${name}…\n`);
    await measure();
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
printTable("Fleet", ["", "websites", "seconds", "websites/s", "CPU ms each", "peak MB"], rows);
if (bars.length > 0) printBars("Bars", bars);
if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(figures, undefined, 2)}\n`);

async function cpu() {
  const run = await fleet("fleet, 128 at a time", homepages(size("sites")), ["--concurrency", "128"]);
  figures.cpuMilliseconds = run.each;
  figures.perSecond = run.perSecond;
  bars.push({
    promise: "CPU of a small website: at most 8 ms",
    value: `${run.each.toFixed(1)} ms`,
    met: run.each <= 8,
  });
}

// Runs one process for each website, eight at a time.
async function loop() {
  const sites = homepages(size("loop"));
  const before = performance.now();
  const words = ["-P8", "-n1", process.execPath, program, "ls", "-f", "ndjson", "--known", "if-needed"];
  await ended(spawn("xargs", words, { stdio: ["pipe", "ignore", "inherit"] }), sites.join("\n"));
  const seconds = (performance.now() - before) / 1000;
  const perSecond = sites.length / seconds;
  rows.push(["xargs -P8 sitegrove ls", sites.length, seconds, perSecond, Number.NaN, Number.NaN]);
  figures.loopPerSecond = perSecond;
  figures.perSecond ??= (
    await fleet("fleet, 128 at a time", homepages(size("sites")), ["--concurrency", "128"])
  ).perSecond;
  const ratio = figures.perSecond / perSecond;
  bars.push({
    promise: "throughput: at least 15 times that of xargs -P8",
    value: `${ratio.toFixed(1)} times`,
    met: ratio >= 15,
  });
}

async function inFlight() {
  const count = size("in-flight");
  // Responses take so long that all websites are in flight at the same time.
  const slow = await startServer(Math.max(1500, count * 2));
  try {
    const sites = homepages(count, slow.port);
    const run = await fleet(`fleet, ${count} at a time`, sites, ["--concurrency", String(count)]);
    const megabytes = run.peak / 2 ** 20;
    figures.inFlightMegabytes = megabytes;
    bars.push({
      promise: `${count.toLocaleString("en-US")} websites in flight: below 500 MB`,
      value: `${megabytes.toFixed(0)} MB`,
      met: megabytes < 500,
    });
  } finally {
    slow.close();
  }
}

async function flat() {
  const count = size("flat");
  const few = await fleet("a tenth of them", homepages(count / 10), ["--concurrency", "128", "-f", "none"]);
  const many = await fleet("all of them", homepages(count), ["--concurrency", "128", "-f", "none"]);
  // Each website on the list takes a few hundred bytes; nothing else may stay in memory.
  const grown = (many.peak - few.peak) / 2 ** 20;
  figures.grownMegabytes = grown;
  const allowed = 40 + (count * 0.9 * 1024) / 2 ** 20;
  bars.push({
    promise: `${count.toLocaleString("en-US")} websites: flat (1 kB of the list for each, and 40 MB)`,
    value: `${grown.toFixed(0)} MB more than a tenth of them`,
    met: grown <= allowed,
  });
}

async function dead() {
  const healthy = homepages(100);
  const alone = await fleet("healthy websites alone", healthy, ["--concurrency", "64"]);
  const deadNames = Array.from({ length: size("dead") }, (_, at) => `http://dead-${at}.invalid/`);
  const silent = Array.from(
    { length: size("silent") },
    (_, at) => `http://127.200.${Math.floor(at / 250)}.${(at % 250) + 1}:${server.port}/`,
  );
  const concurrency = String(deadNames.length + silent.length + 64);
  const all = [...deadNames, ...silent, ...healthy];
  const flagsOfAll = ["--concurrency", concurrency, "--retries", "0", "--timeout", "20"];
  // The name server for the dead names never responds.
  const names = await startSilentNames();
  let run;
  try {
    run = await fleet("with dead names and silent hosts", all, flagsOfAll, { SITEGROVE_BENCH_DNS: names.address });
  } finally {
    names.close();
  }
  const isHealthy = new Set(healthy);
  const times = (journal) => {
    const done = journal.filter(({ type, site }) => type === "done" && isHealthy.has(site));
    return (
      Math.max(...done.map(({ at }) => Date.parse(at))) -
      Math.min(...journal.filter(({ type }) => type === "start").map(({ at }) => Date.parse(at)))
    );
  };
  const [withOthers, byThemselves] = [times(run.journal), times(alone.journal)];
  const ratio = withOthers / byThemselves;
  figures.delayRatio = ratio;
  bars.push({
    promise: `${deadNames.length} dead names and ${silent.length} silent hosts in flight: healthy ones take at most 1.5 times as long`,
    value: `${ratio.toFixed(2)} times (${(withOthers / 1000).toFixed(1)} s, alone ${(byThemselves / 1000).toFixed(1)} s)`,
    met: ratio <= 1.5,
  });
}

// Writes the outputs to a bucket on loopback.
async function bucket() {
  const store = await startServer(undefined, "s3-server.mjs");
  try {
    const access = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret", TMPDIR: folder };
    const env = { ...access, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${store.port}` };
    const flags = ["--concurrency", "128", "--out", "s3://bench/a"];
    const run = await fleet("fleet, into a bucket", homepages(size("sites")), flags, env);
    figures.bucketMilliseconds = run.each;
  } finally {
    store.close();
  }
}

function homepages(count, port = server.port) {
  return Array.from({ length: count }, (_, at) => {
    const [high, low] = [Math.floor(at / 250), (at % 250) + 1];
    return `http://127.${1 + Math.floor(high / 256)}.${high % 256}.${low}:${port}/`;
  });
}

async function fleet(name, sites, more, env = {}) {
  const [list, out, note] = ["sites.txt", "out", "peak.json"].map((file) => path.join(folder, file));
  writeFileSync(list, `${sites.join("\n")}\n`);
  rmSync(out, { recursive: true, force: true });
  rmSync(note, { force: true });
  const preload = ["--import", path.join(import.meta.dirname, "peak.mjs")];
  if (env.SITEGROVE_BENCH_DNS) preload.push("--import", path.join(import.meta.dirname, "silent-names.mjs"));
  const words = [...preload, program, "fleet", "--from", list, "--out", out, "--no-progress", ...more];
  const before = performance.now();
  const options = {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env, SITEGROVE_BENCH_PEAK: note },
  };
  const code = await ended(spawn(process.execPath, words, options));
  const seconds = (performance.now() - before) / 1000;
  if (code !== 0 && code !== 3) throw new Error(`${name} ended with ${code}`);
  const { cpu: used, peak } = JSON.parse(readFileSync(note, "utf8"));
  const journal = existsSync(path.join(out, "sites.ndjson"))
    ? readFileSync(path.join(out, "sites.ndjson"), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
  const complete = journal.filter(({ type, summary }) => type === "done" && summary.outcome === "complete").length;
  if (code === 0 && journal.length > 0 && complete !== sites.length)
    throw new Error(`${name}: ${complete} of ${sites.length} are complete`);
  const each = (used * 1000) / sites.length;
  rows.push([name, sites.length, seconds, sites.length / seconds, each, peak / 2 ** 20]);
  return { seconds, perSecond: sites.length / seconds, each, peak, journal };
}

async function startServer(latency = size("latency"), file = "fleet-server.mjs") {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, file), String(latency), "10"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const port = Number(await new Promise((resolve) => child.stdout.once("data", resolve)));
  return { port, close: () => child.stdin.end() };
}

async function startSilentNames() {
  const { createSocket } = await import("node:dgram");
  const socket = createSocket("udp4");
  await new Promise((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

function ended(child, input) {
  child.stdin?.end(input);
  return new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
}
