// npm run bench: compares `parseSitemap` and `readSitemap` with saxes, and with JSON.parse of the same pages, on documents of many makings.
// The figures are ratios of CPU time within one process, in which all take turns; the median counts.
//   --rounds N     how often each is measured (default 3)
//   --only TEXT    only makings whose name contains TEXT
//   --dist DIR     measure the build in DIR instead of dist/
import path from "node:path";
import { parseArgs } from "node:util";
import { runChild } from "./child.mjs";
import { makings } from "./makings.mjs";
import { median, printBars, printMachine, printTable } from "./report.mjs";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    dist: { type: "string" },
  },
});
if (flags.dist !== undefined) process.env.SITEGROVE_BENCH_DIST = path.resolve(flags.dist);
const { setUp } = await import("./setup.mjs");

await setUp({ peers: false });
printMachine();
const rows = [];
for (const making of Object.keys(makings).filter((name) => name.includes(flags.only))) {
  const runs = [];
  for (let round = 0; round < Number(flags.rounds); round++) runs.push(await runChild("public-child.mjs", [making]));
  const ratio = (over, under) => median(runs.map((run) => run[over] / run[under]));
  const speed = median(runs.map((run) => run.bytes / run.parseSitemap / 1000));
  rows.push([
    making,
    speed,
    ratio("saxes", "parseSitemap"),
    ratio("saxes", "readSitemap"),
    ratio("json", "parseSitemap"),
  ]);
}
printTable(
  "Public functions, by the making of the document",
  ["making", "parseSitemap MB/s", "× saxes", "readSitemap × saxes", "× JSON.parse of the same pages"],
  rows,
);
printBars(
  "Bars",
  rows.map(([making, , value]) => {
    const least = making === "plain" || making === "rich" ? 2.5 : 1.5;
    return { promise: `parseSitemap, ${making}, × saxes: at least ${least}`, value, met: value >= least };
  }),
);
