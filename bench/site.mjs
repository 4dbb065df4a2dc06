// npm run bench:site: measures how long standard tools (the floor), we and our peers take to read a generated website of a million pages.
// Every candidate runs in a separate process, and is timed from its start to its end.
//   --pages N      size of the website (default 1,000,000)
//   --entries KIND entries of the sitemaps: mixed (default), plain or rich
//   --rounds N     how often the floor, we and the fastest peer are measured (default 3; the median counts); other peers run once
//   --only TEXT    only the floor and candidates whose name contains TEXT: `pages()` for trees and archives, `diff` for comparing two
//                  archives, `check` for checking one
//   --skip-peers   do not measure peers
//   --write        write the comparison with peers into README.md and docs/inside/performance.md
//   --profile DIR  write our CPU profiles to DIR
//   --dist DIR     measure the build in DIR instead of dist/
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { measureCheck, measureDiff } from "./archives.mjs";
import { runChild, runFloor, runProgram, runReference } from "./child.mjs";
import { writePeerTables } from "./peer-tables.mjs";
import { median, printBars, printMachine, printTable } from "./report.mjs";
import { serveWebsite } from "./website.mjs";

const { values: flags } = parseArgs({
  options: {
    pages: { type: "string", default: "1000000" },
    entries: { type: "string", default: "mixed" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    "skip-peers": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    profile: { type: "string" },
    dist: { type: "string" },
  },
});
if (flags.dist !== undefined) process.env.SITEGROVE_BENCH_DIST = path.resolve(flags.dist);
const { setUp } = await import("./setup.mjs");

const floor = { name: "floor: curl, zcat, grep", run: runFloor };
const { dependencies: installed } = JSON.parse(readFileSync(path.join(import.meta.dirname, "package.json"), "utf8"));
// `title` is the name in the tables of README.md and docs/inside/performance.md.
const own = [
  {
    name: "sitegrove ls -f pages",
    title: "`sitegrove ls -f pages`",
    own: "ls",
    run: (website) => list(website, "pages"),
  },
  { name: "sitegrove ls -f csv", own: "csv", run: (website) => list(website, "csv") },
  { name: "sitegrove ls -f ndjson", own: "ndjson", run: (website) => list(website, "ndjson") },
  { name: "streamPages", title: "`streamPages`", own: "stream" },
  { name: "sitemapTreeForHomepage + pages()", title: "`sitemapTreeForHomepage` + `pages()`", own: "tree" },
  { name: "openTree + pages()", title: "`openTree` + `pages()`", own: "open" },
  { name: "again: previous + pages()", own: "again" },
].filter(isWanted);
const peers = [
  {
    name: "crawlee parseSitemap",
    title: `crawlee ${installed["@crawlee/utils"]} \`parseSitemap\``,
    peer: "crawlee",
    isFastest: true,
  },
  { name: "sitemapper", title: `sitemapper ${installed.sitemapper}`, peer: "sitemapper" },
  { name: "sitemapd", title: `sitemapd ${installed.sitemapd}`, peer: "sitemapd" },
  {
    name: "ultimate-sitemap-parser (Python)",
    title: "ultimate-sitemap-parser VERSION",
    peer: "reference",
    run: runReference,
  },
].filter((candidate) => !flags["skip-peers"] && isWanted(candidate));

await setUp({ peers: peers.length > 0 });
printMachine();
const pages = Number(flags.pages.replaceAll(/[,_]/g, ""));
const bars = [];
const failed = new Set();
const profiling = flags.profile ? ["--cpu-prof", `--cpu-prof-dir=${flags.profile}`] : [];
if (own.length + peers.length > 0) {
  const results = await measureWebsite(pages, [floor, ...own, ...peers]);
  bars.push(...barsOf(results));
  if (flags.write) {
    if (peers.length < 4 || own.length < 7) throw new Error("--write needs all candidates");
    writePeerTables({ results, pages, rounds: flags.rounds });
  }
}
for (const [name, measureArchives] of Object.entries({ diff: measureDiff, check: measureCheck })) {
  if (isWanted({ name })) await measureArchives({ pages, rounds: Number(flags.rounds), nodeOptions: profiling });
}
for (const name of failed) bars.push({ promise: `${name}: every run ends well`, value: Number.NaN, met: false });
if (bars.length > 0) printBars("Bars", bars);

function isWanted({ name }) {
  return name.includes(flags.only);
}

async function measureWebsite(pages, candidates) {
  const website = await serveWebsite({ pages, entries: flags.entries });
  const runs = new Map();
  try {
    for (let round = 0; round < Number(flags.rounds); round++) {
      for (const candidate of candidates) {
        if (candidate.peer !== undefined && !candidate.isFastest && round > 0) continue;
        process.stderr.write(`${candidate.name}…\n`);
        const run = await measure(candidate, website);
        if (run !== undefined) runs.set(candidate, [...(runs.get(candidate) ?? []), run]);
        // A peer may fail, but we and the floor may not.
        else if (candidate.peer === undefined) failed.add(candidate.name);
      }
    }
  } finally {
    await website.close();
  }
  const results = [...runs].map(([candidate, list]) => ({
    ...candidate,
    title: candidate.title?.replace("VERSION", list[0].version),
    seconds: median(list.map((run) => run.seconds)),
    cpu: median(list.map((run) => run.cpu ?? Number.NaN)),
    peak: median(list.map((run) => (run.peak ?? Number.NaN) / 2 ** 20)),
    complete: list.every((run) => run.pages === pages),
  }));
  printResults(website, results);
  return results;
}

async function measure({ name, own, peer, run }, website) {
  const { origin, archive } = website;
  try {
    if (run !== undefined) return await run(website);
    const isFromArchive = own === "open" || own === "again";
    if (isFromArchive && !existsSync(archive)) await runChild("site-child.mjs", ["save", origin, archive]);
    const nodeOptions = own === undefined ? [] : profiling;
    return await runChild("site-child.mjs", [own ?? peer, origin, archive], { nodeOptions });
  } catch (error) {
    console.log(`${name} failed: ${error.message}`);
    return undefined;
  }
}

// Counts the lines of a format; in CSV, the first line is the header.
async function list({ origin }, format) {
  const { lines, ...run } = await runProgram(["ls", "-f", format, `${origin}/`]);
  return { ...run, pages: format === "csv" ? lines - 1 : lines };
}

function printResults({ pages, bytes }, results) {
  const lowest = results.find(({ name }) => name === floor.name)?.seconds ?? Number.NaN;
  printTable(
    `A website of ${pages.toLocaleString("en-US")} pages: ${(bytes / 1e6).toFixed(0)} MB of XML, half of the sitemaps compressed`,
    ["", "seconds", "× floor", "CPU s", "peak MB", "pages"],
    results.map(({ name, seconds, cpu, peak, complete }) => [
      name,
      seconds,
      seconds / lowest,
      Number.isNaN(cpu) ? "–" : cpu,
      Number.isNaN(peak) ? "–" : peak,
      complete ? "all" : "WRONG",
    ]),
  );
}

function barsOf(results) {
  const find = (wanted) => results.find(({ name, own }) => name === wanted || own === wanted)?.seconds ?? Number.NaN;
  const fastestPeer = Math.min(
    ...results.filter(({ peer, complete }) => peer !== undefined && complete).map(({ seconds }) => seconds),
  );
  const bars = results
    .filter(({ peer, complete }) => peer === undefined && !complete)
    .map(({ name }) => ({ promise: `${name}: all pages`, value: Number.NaN, met: false }));
  const most = flags.entries === "mixed" ? 2.2 : 2.6;
  const toFloor = find("ls") / find(floor.name);
  const toPeer = fastestPeer / find("ls");
  if (Number.isFinite(toFloor))
    bars.push({ promise: `ls -f pages ÷ floor: at most ${most}`, value: toFloor, met: toFloor <= most });
  if (Number.isFinite(toPeer))
    bars.push({ promise: "the fastest peer ÷ ls -f pages: at least 6", value: toPeer, met: toPeer >= 6 });
  for (const { name, own, peak } of results) {
    const mostMemory = own === "ls" ? 115 : 160;
    if (own !== undefined)
      bars.push({ promise: `${name}, peak MB: at most ${mostMemory}`, value: peak, met: peak <= mostMemory });
  }
  return bars;
}
