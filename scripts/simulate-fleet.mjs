// What a fleet of many websites takes: time, traffic and disk, by a simulation that anybody can run and change.
//   node scripts/simulate-fleet.mjs                          the table of docs/at-scale.md
//   node scripts/simulate-fleet.mjs --sites 5e6 --machines 4 --processes 8 --concurrency 1024
//   --cpu MS          CPU of a small website (npm run bench:fleet measures it)
//   --mix FILE        other kinds of websites, as JSON: what `kinds` below holds
// Each process has so many websites under way at a time and one core. A website takes its place, waits for the network, needs the
// core for a while, and gives its place to the next one. The same numbers come out each time.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** Measured: CPU and requests (bench:fleet, bench:site). Assumed: how frequent each kind is, how long it takes, how large it is. */
export const kinds = [
  { name: "small", share: 0.6, requests: 3, seconds: 1, cpu: 1, megabytes: 0.03, pages: 300 },
  { name: "some thousand pages", share: 0.1, requests: 15, seconds: 5, cpu: 6, megabytes: 0.5, pages: 8000 },
  { name: "large", share: 0.01, requests: 120, seconds: 90, cpu: 250, megabytes: 20, pages: 500_000 },
  { name: "no sitemap", share: 0.13, requests: 25, seconds: 4, cpu: 2.2, megabytes: 0.06, pages: 0 },
  { name: "refuses", share: 0.04, requests: 25, seconds: 4, cpu: 2.2, megabytes: 0.03, pages: 0 },
  { name: "name does not exist", share: 0.08, requests: 0, seconds: 3, cpu: 0.5, megabytes: 0, pages: 0 },
  { name: "silent", share: 0.04, requests: 3, seconds: 60, cpu: 0.7, megabytes: 0, pages: 0 },
];

const defaultCpu = 6;
// In bytes: a line of ndjson, and a page in a compressed archive.
const lineBytes = 150;
const archiveShare = 1.1;
// Of a longer list, so many websites of one process are simulated, and their time multiplied.
const sample = 200_000;

/** `cpu`: of a small website, in milliseconds; the kinds say how many times that they need. */
export function simulate({ sites, machines, processes, concurrency, cpu = defaultCpu, mix = kinds }) {
  const share = Math.ceil(sites / (machines * processes));
  const simulated = Math.min(share, sample);
  const random = randomNumbers(20240531);
  const places = new Float64Array(Math.max(1, Math.floor(concurrency / processes)));
  const sum = { requests: 0, megabytes: 0, pages: 0, cpu: 0 };
  let core = 0;
  let end = 0;
  for (let site = 0; site < simulated; site++) {
    const kind = draw(mix, random());
    // The place that is free first; times vary from half to one and a half.
    const at = places[0];
    const needs = (kind.cpu * cpu) / 1000;
    core = Math.max(core, at) + needs;
    const done = Math.max(at + kind.seconds * (0.5 + random()), core);
    replaceFirst(places, done);
    end = Math.max(end, done);
    sum.requests += kind.requests;
    sum.megabytes += kind.megabytes;
    sum.pages += kind.pages;
    sum.cpu += needs;
  }
  const scale = sites / simulated;
  const seconds = end * (share / simulated);
  return {
    seconds,
    perSecond: sites / seconds,
    coreHours: (sum.cpu * scale) / 3600,
    requests: sum.requests * scale,
    gigabytes: (sum.megabytes * scale) / 1000,
    megabits: (sum.megabytes * scale * 8) / seconds,
    pages: sum.pages * scale,
    pagesGigabytes: (sum.pages * scale * lineBytes) / 1e9,
    archivesGigabytes: (sum.megabytes * scale * archiveShare) / 1000,
  };
}

function draw(mix, number) {
  let left = number * mix.reduce((total, { share }) => total + share, 0);
  return mix.find(({ share }) => (left -= share) < 0) ?? mix.at(-1);
}

// The first of a heap gets another value.
function replaceFirst(heap, value) {
  let at = 0;
  for (;;) {
    let least = at * 2 + 1;
    if (least >= heap.length) break;
    if (least + 1 < heap.length && heap[least + 1] < heap[least]) least += 1;
    if (heap[least] >= value) break;
    heap[at] = heap[least];
    at = least;
  }
  heap[at] = value;
}

function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const examples = [
  { sites: 10_000, machines: 1, processes: 1, concurrency: 128 },
  { sites: 10_000, machines: 1, processes: 2, concurrency: 256 },
  { sites: 1_000_000, machines: 1, processes: 8, concurrency: 1024 },
  { sites: 1_000_000, machines: 4, processes: 8, concurrency: 1024 },
  { sites: 100_000_000, machines: 20, processes: 16, concurrency: 2048 },
  { sites: 100_000_000, machines: 100, processes: 16, concurrency: 2048 },
];

export function table(runs) {
  const heading =
    "| websites | machines | processes each | at a time each | time | websites/s | CPU | requests | traffic | pages | as ndjson | archives |";
  const rows = runs.map((run) => {
    const { seconds, perSecond, coreHours, requests, gigabytes, megabits, pages, pagesGigabytes, archivesGigabytes } =
      simulate(run);
    return `| ${[
      many(run.sites),
      run.machines,
      run.processes,
      run.concurrency,
      time(seconds),
      Math.round(perSecond).toLocaleString("en-US"),
      `${rounded(coreHours)} core hours`,
      many(requests),
      `${size(gigabytes)}, ${rounded(megabits / run.machines)} Mbit/s each`,
      many(pages),
      size(pagesGigabytes),
      size(archivesGigabytes),
    ].join(" | ")} |`;
  });
  return `${[heading, `|${"--:|".repeat(12)}`, ...rows].join("\n")}\n`;
}

function many(number) {
  if (number >= 1e9) return `${rounded(number / 1e9)} billion`;
  if (number >= 1e6) return `${rounded(number / 1e6)} million`;
  return `${rounded(number / 1000)} thousand`;
}

function size(gigabytes) {
  return gigabytes >= 1000 ? `${rounded(gigabytes / 1000)} TB` : `${rounded(gigabytes)} GB`;
}

function time(seconds) {
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${rounded(seconds / 3600)} h` : `${rounded(seconds / 86_400)} days`;
}

// Two figures: nobody knows more.
function rounded(number) {
  return Number(number.toPrecision(2)).toLocaleString("en-US");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: Object.fromEntries(
      ["sites", "machines", "processes", "concurrency", "cpu", "mix"].map((name) => [name, { type: "string" }]),
    ),
  });
  const { mix, ...numbers } = values;
  const own = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
  if (mix !== undefined) own.mix = JSON.parse(readFileSync(mix, "utf8"));
  const runs = own.sites === undefined ? examples.map((run) => ({ ...run, ...own })) : [{ ...examples[0], ...own }];
  process.stdout.write(table(runs));
}
