// npm run bench:site: a generated website of a million pages, served by a process of its own, read to its last page: by standard
// tools (the floor), by us and by peers. Every candidate is a process of its own, timed from its start to its end.
//   --pages N      size of the website (default 1,000,000)
//   --rounds N     how often the floor and we are measured (default 3; the median counts). Peers are measured once.
//   --only TEXT    the floor, and candidates whose name contains it
//   --skip-peers   the floor and ours
//   --profile DIR  write CPU profiles of ours there
//   --dist DIR     another build than dist/
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { runChild } from "./child.mjs";
import { median, printBars, printMachine, printTable } from "./report.mjs";
import { generateWebsite } from "./website.mjs";

const { values: flags } = parseArgs({
  options: {
    pages: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    "skip-peers": { type: "boolean", default: false },
    profile: { type: "string" },
    dist: { type: "string" },
  },
});
if (flags.dist !== undefined) process.env.SITEGROVE_BENCH_DIST = path.resolve(flags.dist);
const { setUp } = await import("./setup.mjs");

const pages = Number(flags.pages.replaceAll(/[,_]/g, ""));
const candidates = [
  { name: "floor: curl, zcat, grep", run: () => runChild("floor.sh", [`${origin}/index.xml`], { command: "sh" }) },
  { name: "streamPages", own: "stream" },
  { name: "sitemapTreeForHomepage + pages()", own: "tree" },
  { name: "openTree + pages()", own: "open" },
  { name: "crawlee 3.18.1 parseSitemap", peer: "crawlee" },
  { name: "sitemapper 4.1.6", peer: "sitemapper" },
  { name: "sitemapd 0.2.2", peer: "sitemapd" },
  { name: "ultimate-sitemap-parser (Python)", peer: "reference", run: runReference },
].filter(
  ({ name, own, peer }) =>
    (own === undefined && peer === undefined) ||
    (name.includes(flags.only) && !(peer !== undefined && flags["skip-peers"])),
);

await setUp({ peers: candidates.some(({ peer }) => peer !== undefined) });
const website = await generateWebsite({ pages });
const server = spawn(process.execPath, [path.join(import.meta.dirname, "server.mjs"), website.directory], {
  stdio: ["pipe", "pipe", "inherit"],
});
const origin = String((await once(server.stdout, "data"))[0]).trim();
const scratch = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-archive-"));
const archive = path.join(scratch, "website.warc");

printMachine();
try {
  report(await measureAll());
} finally {
  server.stdin.end();
  rmSync(scratch, { recursive: true });
}

async function measureAll() {
  const results = new Map();
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const candidate of candidates) {
      if (candidate.peer !== undefined && round > 0) continue;
      process.stderr.write(`${candidate.name}…\n`);
      const result = await measure(candidate);
      if (result === undefined) continue;
      if (result.pages !== pages) console.log(`${candidate.name} found ${result.pages} of ${pages} pages`);
      results.set(candidate, [...(results.get(candidate) ?? []), result]);
    }
  }
  return [...results].map(([candidate, runs]) => ({
    ...candidate,
    seconds: median(runs.map((run) => run.seconds)),
    peak: median(runs.map((run) => (run.peak ?? Number.NaN) / 2 ** 20)),
    complete: runs.every((run) => run.pages === pages),
  }));
}

async function measure({ name, own, peer, run }) {
  try {
    if (run !== undefined) return await run();
    if (own === "open" && !existsSync(archive)) await runChild("site-child.mjs", ["save", origin, archive]);
    const nodeOptions = own !== undefined && flags.profile ? ["--cpu-prof", `--cpu-prof-dir=${flags.profile}`] : [];
    return await runChild("site-child.mjs", [own ?? peer, origin, archive], { nodeOptions });
  } catch (error) {
    console.log(`${name} failed: ${error.message}`);
    return undefined;
  }
}

// The reference is measured where a Python has it installed: SITEGROVE_BENCH_PYTHON names it, otherwise python3.
async function runReference() {
  const python = process.env.SITEGROVE_BENCH_PYTHON ?? "python3";
  if (spawnSync(python, ["-c", "import usp.tree"], { stdio: "ignore" }).status !== 0) {
    console.log("ultimate-sitemap-parser is not installed for python3 (or $SITEGROVE_BENCH_PYTHON): not measured");
    return undefined;
  }
  return runChild("reference.py", [`${origin}/`], { command: python });
}

function report(results) {
  const find = (test) => results.find(test);
  const floor = find(({ name }) => name.startsWith("floor"))?.seconds ?? Number.NaN;
  printTable(
    `A website of ${pages.toLocaleString("en-US")} pages: ${(website.bytes / 1e6).toFixed(0)} MB of XML, half of the sitemaps compressed`,
    ["", "seconds", "× floor", "peak MB", "pages"],
    results.map(({ name, seconds, peak, complete }) => [
      name,
      seconds,
      seconds / floor,
      Number.isNaN(peak) ? "–" : peak,
      complete ? "all" : "WRONG",
    ]),
  );
  const stream = find(({ own }) => own === "stream");
  const tree = find(({ own }) => own === "tree");
  const open = find(({ own }) => own === "open");
  const peers = results.filter(({ peer, complete }) => peer !== undefined && complete);
  const bars = [];
  const atMost = (promise, value, limit) =>
    bars.push({ promise: `${promise}: at most ${limit}`, value, met: value <= limit });
  if (stream) {
    atMost("streamPages ÷ floor", stream.seconds / floor, 3);
    const fastest = Math.min(...peers.map(({ seconds }) => seconds));
    if (peers.length > 0) {
      const value = fastest / stream.seconds;
      bars.push({ promise: "the fastest peer ÷ streamPages: at least 8", value, met: value >= 8 });
    }
    atMost("streamPages, peak MB", stream.peak, 160);
  }
  if (tree) {
    atMost("tree and one traversal ÷ floor", tree.seconds / floor, 5);
    atMost("tree and one traversal, peak MB", tree.peak, 160);
  }
  if (open) atMost("openTree and one traversal, peak MB", open.peak, 160);
  if (bars.length > 0) printBars("Bars", bars);
}
