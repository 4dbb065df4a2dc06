// npm run bench: how fast documents are parsed, by us, by XML tokenisers and by other sitemap parsers; whether time grows with
// the input and memory does not. Each parser runs in processes of its own, in rounds that take turns, and the median counts.
//   --rounds N     how often each is measured (default 3)
//   --only TEXT    only parsers whose name contains it
//   --skip-peers   ours alone
//   --dist DIR     another build than dist/
import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { runChild } from "./child.mjs";
import { makings } from "./makings.mjs";
import { median, printBars, printMachine, printTable } from "./report.mjs";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    "skip-peers": { type: "boolean", default: false },
    dist: { type: "string" },
  },
});
if (flags.dist !== undefined) process.env.SITEGROVE_BENCH_DIST = path.resolve(flags.dist);
const { setUp } = await import("./setup.mjs");
const { parsers } = await import("./parsers.mjs");

const rounds = Number(flags.rounds);
const documents = [
  { kind: "plain", entries: 50_000 },
  { kind: "rich", entries: 20_000 },
];
const own = "parseSitemap";
const ownNames = [own, "streamPages"];
const fetchProgram = path.join(import.meta.dirname, "fetch.ts");

await setUp({ peers: !flags["skip-peers"] });
printMachine();
const bars = [];
await publicFunctions();
for (const document of documents) await compare(document);
for (const document of documents) await double(document);
await memory();
printBars("Bars", bars);
if (!flags["skip-peers"] && flags.only === "") fetching();

// First what users call, on documents of many makings: ratios within one process, in CPU time.
async function publicFunctions() {
  const rows = [];
  for (const making of Object.keys(makings)) {
    const runs = [];
    for (let round = 0; round < rounds; round++) runs.push(await runChild("public-child.mjs", [making]));
    const ratio = (over, under) => median(runs.map((run) => run[over] / run[under]));
    rows.push({
      making,
      speed: median(runs.map((run) => run.bytes / run.parseSitemap / 1000)),
      parse: ratio("saxes", "parseSitemap"),
      read: ratio("saxes", "readSitemap"),
      json: ratio("json", "parseSitemap"),
    });
  }
  const sorted = rows.toSorted((a, b) => a.parse - b.parse);
  const shown = [
    ...rows,
    { ...sorted[0], making: `worst: ${sorted[0].making}` },
    { ...sorted.at(-1), making: `best: ${sorted.at(-1).making}` },
  ];
  printTable(
    "Public functions, by the making of the document",
    ["making", "parseSitemap MB/s", "× saxes", "readSitemap × saxes", "× JSON.parse of the same pages"],
    shown.map(({ making, speed, parse, read, json }) => [making, speed, parse, read, json]),
  );
  for (const { making, parse } of rows) {
    bars.push({ promise: `parseSitemap, ${making}: as fast as saxes`, value: parse, met: parse >= 1 });
  }
}

async function compare({ kind, entries }) {
  const names = Object.keys(parsers).filter(
    (name) => name.includes(flags.only) && (!flags["skip-peers"] || ownNames.includes(name)),
  );
  const results = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results.get(name).push(await measure(name, kind, entries));
  }
  const speeds = new Map(
    names.map((name) => {
      const time = median(results.get(name).map(({ milliseconds }) => milliseconds));
      return [name, { megabytes: results.get(name)[0].bytes / time / 1000, urls: (entries / time) * 1000 }];
    }),
  );
  const ours = speeds.get(own)?.megabytes;
  printTable(
    `Parsing: ${entries.toLocaleString("en-US")} ${kind} entries, ${(results.get(names[0])[0].bytes / 1e6).toFixed(1)} MB`,
    ["parser", "yields", "MB/s", "URLs/s", "ours ÷ it"],
    names.map((name) => {
      const { megabytes, urls } = speeds.get(name);
      return [name, parsers[name].yields, megabytes, urls, ours === undefined ? "" : ours / megabytes];
    }),
  );
  for (const name of names) {
    const { bar } = parsers[name];
    if (bar === undefined || ours === undefined) continue;
    const ratio = ours / speeds.get(name).megabytes;
    bars.push({ promise: `${kind}: at least ${bar} times ${name}`, value: ratio, met: ratio >= bar });
  }
}

// The run that was disturbed least counts: the question is how much work there is, not how busy the machine.
async function double({ kind, entries }) {
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    ratios.push((await runChild("parse-child.mjs", ["streamPages", kind, entries, "double"])).ratio);
  }
  const value = median(ratios);
  bars.push({ promise: `${kind}: twice the input, at most 2.2 times the time`, value, met: value <= 2.2 });
}

async function measure(name, kind, entries) {
  const result = await runChild("parse-child.mjs", [name, kind, entries]);
  if (result.pages !== entries) throw new Error(`${name} found ${result.pages} of ${entries} pages`);
  return result;
}

// The same process with and without reading; what is read comes from a file, so that generating it costs nothing here.
async function memory() {
  const entries = 1_000_000;
  const { generateDocument } = await import("./website.mjs");
  const file = await generateDocument({ entries });
  const peaks = { idle: [], read: [] };
  for (let round = 0; round < rounds; round++) {
    for (const task of ["idle", "read"]) {
      const { pages, peak } = await runChild("memory-child.mjs", [task, file]);
      if (task === "read" && pages !== entries) throw new Error(`read ${pages} of ${entries} pages`);
      peaks[task].push(peak / 2 ** 20);
    }
  }
  const [idle, read] = [median(peaks.idle), median(peaks.read)];
  printTable(
    "Memory: reading 1,000,000 URLs as a stream",
    ["process", "peak MB"],
    [
      ["idle, same modules loaded", idle],
      ["reading", read],
    ],
  );
  bars.push({ promise: "reading adds at most 48 MB", value: read - idle, met: read - idle <= 48 });
}

// A program of its own, which is also run alone.
function fetching() {
  console.log("");
  const { status } = spawnSync(process.execPath, ["--import", "tsx", fetchProgram], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
