// node bench/users.mjs: measures what users do, and compares it with the goals of the project. Candidates take turns; the median counts.
//   --pages N      size of the large website (default 1,000,000)
//   --rounds N     how often each is measured (default 3)
//   --only TEXT    only parts whose name contains TEXT
//   --large        also measure the memory of every format for ten times as many pages
//   --dist DIR     measure the build in DIR instead of dist/
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { runChild, runFloor, runProgram, runReference } from "./child.mjs";
import { median, printBars, printMachine, printTable } from "./report.mjs";
import { serveWebsite } from "./website.mjs";

const { values: flags } = parseArgs({
  options: {
    pages: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    large: { type: "boolean", default: false },
    dist: { type: "string" },
  },
});
if (flags.dist !== undefined) process.env.SITEGROVE_BENCH_DIST = path.resolve(flags.dist);
const { setUp } = await import("./setup.mjs");

const pages = Number(flags.pages.replaceAll(/[,_]/g, ""));
const rounds = Number(flags.rounds);
const dist = process.env.SITEGROVE_BENCH_DIST ?? path.join(import.meta.dirname, "../dist");
const megabytes = (bytes) => bytes / 2 ** 20;
const bars = [];

const parts = [
  { name: "import", run: starting },
  { name: "small website", run: small },
  { name: "large website", run: large },
  { name: "archive", run: archive },
  ...(flags.large ? [{ name: "flat memory", run: flat }] : []),
];

await setUp({ peers: false });
printMachine();
for (const { name, run } of parts) {
  if (!name.includes(flags.only)) continue;
  process.stderr.write(`${name}…\n`);
  await run();
}
printBars("What users do", bars);

function atMost(limit, promise, value) {
  bars.push({ promise: `${promise}: at most ${limit}`, value, met: value <= limit });
}

// Runs each way once per round, and returns the medians of its figures.
async function inTurns(ways, count = rounds) {
  const runs = new Map(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < count; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const result = await way();
      if (result !== undefined) runs.get(name).push(result);
    }
  }
  const result = {};
  for (const [name, list] of runs) {
    if (list.length === 0) continue;
    result[name] = Object.fromEntries(Object.keys(list[0]).map((key) => [key, median(list.map((run) => run[key]))]));
  }
  return result;
}

async function starting() {
  const load = `await import(${JSON.stringify(pathToFileURL(path.resolve(dist, "index.js")).href)})`;
  const ways = {
    "an empty program": ["--input-type=module", "-e", ""],
    'import "sitegrove"': ["--input-type=module", "-e", load],
    "sitegrove --version": [path.join(dist, "cli/main.js"), "--version"],
    "sitegrove --help": [path.join(dist, "cli/main.js"), "--help"],
  };
  const timed = Object.fromEntries(Object.entries(ways).map(([name, args]) => [name, () => timeOf(args)]));
  const results = await inTurns(timed, 15);
  const { milliseconds: empty } = results["an empty program"];
  printTable(
    "Starting: the median of 15",
    ["", "milliseconds", "more than an empty program"],
    Object.entries(results).map(([name, { milliseconds }]) => [name, milliseconds, milliseconds - empty]),
  );
  atMost(60, 'import "sitegrove", milliseconds more', results['import "sitegrove"'].milliseconds - empty);
}

async function timeOf(args) {
  const before = performance.now();
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  return { milliseconds: performance.now() - before };
}

async function small() {
  const website = await serveWebsite({ pages: 825, pagesPerSitemap: 207 });
  try {
    const words = ["ls", `${website.origin}/`];
    const { ls, usp } = await inTurns(
      {
        ls: () => runProgram(words),
        usp: () => runReference(website),
      },
      rounds * 3,
    );
    printTable(
      "A small website: 825 pages, 4 sitemaps",
      ["", "seconds", "CPU s", "peak MB"],
      Object.entries({
        "sitegrove ls": ls,
        "ultimate-sitemap-parser": usp,
      }).flatMap(([name, run]) => (run === undefined ? [] : [[name, run.seconds, run.cpu, megabytes(run.peak)]])),
    );
    // Node.js 22 and newer cache compiled code.
    const most = process.versions.node.startsWith("20.") ? 1.1 : 1;
    if (usp !== undefined)
      atMost(most, "825 pages, sitegrove ls ÷ ultimate-sitemap-parser, time", ls.seconds / usp.seconds);
    atMost(66, "825 pages, sitegrove ls, peak MB", megabytes(ls.peak));
  } finally {
    await website.close();
  }
}

async function large() {
  const website = await serveWebsite({ pages });
  try {
    // Runs more rounds, because on a shared machine one run in four takes 50% longer.
    const { floor, ls } = await inTurns(
      {
        floor: () => runFloor(website),
        ls: () => runProgram(["ls", "-f", "pages", `${website.origin}/`]),
      },
      rounds * 3,
    );
    if (ls.lines !== pages) throw new Error(`listed ${ls.lines} of ${pages} pages`);
    atMost(2.2, "a million pages, sitegrove ls -f pages ÷ floor", ls.seconds / floor.seconds);
    atMost(115, "a million pages, sitegrove ls -f pages, peak MB", megabytes(ls.peak));
  } finally {
    await website.close();
  }
}

async function archive() {
  const website = await serveWebsite({ pages });
  try {
    const compressed = `${website.archive}.gz`;
    await runChild("site-child.mjs", ["save", website.origin, website.archive]);
    await runChild("site-child.mjs", ["save", website.origin, compressed]);
    const { first, firstCompressed } = await inTurns({
      first: () => runChild("site-child.mjs", ["first", website.origin, website.archive]),
      firstCompressed: () => runChild("site-child.mjs", ["first", website.origin, compressed]),
    });
    atMost(1500, "openTree to the first page of a million, milliseconds", first.milliseconds);
    atMost(1500, "the same from a compressed archive", firstCompressed.milliseconds);
  } finally {
    await website.close();
  }
}

// Measures the memory of every format, also with ten times as many pages.
async function flat() {
  const formats = ["pages", "csv", "ndjson", "json", "tabtree", "sitemaps", "parquet"];
  const peaks = new Map(formats.map((format) => [format, []]));
  for (const size of [pages, pages * 10]) {
    const website = await serveWebsite({ pages: size });
    const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-parquet-"));
    try {
      for (const format of formats) {
        process.stderr.write(`${format}, ${size.toLocaleString("en-US")} pages…\n`);
        const output = format === "parquet" ? ["-o", path.join(folder, `${size}`)] : [];
        const run = await runProgram(["ls", "-f", format, ...output, `${website.origin}/`]);
        peaks.get(format).push(megabytes(run.peak));
      }
    } finally {
      await website.close();
      rmSync(folder, { recursive: true });
    }
  }
  printTable(
    "Memory of the program, by format",
    ["", `MB, ${pages.toLocaleString("en-US")} pages`, "MB, ten times as many", "ratio"],
    [...peaks].map(([format, [one, ten]]) => [format, one, ten, ten / one]),
  );
  for (const [format, [one, ten]] of peaks)
    atMost(1.15, `ls -f ${format}, peak of ten times the pages ÷ of one`, ten / one);
}
