// A website whose pages have alternate pages in five languages, as an archive: checked, beside being written as a table, which reads
// the same entries; and its report, which is made in the pass of the check.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { runChild } from "./child.mjs";
import { median, printTable } from "./report.mjs";

const program = path.join(process.env.SITEGROVE_BENCH_DIST ?? path.join(import.meta.dirname, "../dist"), "cli/main.js");
const ways = {
  "sitegrove ls -f csv": ["ls", "-f", "csv"],
  "sitegrove check -f json": ["check", "-f", "json", "--fail-on", "never"],
  "sitegrove report": ["report"],
};

/** Prints a table; gives the bars. */
export async function measureCheck({ pages, rounds, nodeOptions = [] }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-check-"));
  try {
    const archive = path.join(folder, "website.warc");
    await runChild("check-child.mjs", [archive, pages]);
    const runs = new Map(Object.keys(ways).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, words] of Object.entries(ways)) {
        process.stderr.write(`${name}…\n`);
        runs.get(name).push(await run(words, archive, path.join(folder, "peak"), nodeOptions));
      }
    }
    const results = [...runs].map(([name, list]) => ({ name, ...medians(list) }));
    printTable(
      `An archive of ${pages.toLocaleString("en-US")} pages with alternate pages in five languages`,
      ["", "seconds", "CPU s", "peak MB"],
      results.map(({ name, seconds, cpu, peak }) => [name, seconds, cpu, peak]),
    );
    return barsOf(pages, results);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(words, archive, note, nodeOptions) {
  const args = [...nodeOptions, "--import", path.join(import.meta.dirname, "peak.mjs"), program, ...words, archive];
  const env = { ...process.env, SITEGROVE_BENCH_PEAK: note };
  const before = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (data) => (bytes += data.length));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  const seconds = (performance.now() - before) / 1000;
  if (code !== 0 || bytes === 0) throw new Error(`${words.join(" ")} ended with ${code}`);
  return { ...JSON.parse(readFileSync(note, "utf8")), seconds };
}

function medians(list) {
  const of = (name) => median(list.map((each) => each[name]));
  return { seconds: of("seconds"), cpu: of("cpu"), peak: of("peak") / 2 ** 20 };
}

function barsOf(pages, [table, check, report]) {
  const ratio = check.seconds / table.seconds;
  // CPU time: both write little, and the rest is the same.
  const drawn = report.cpu / check.cpu;
  const held = report.peak / check.peak;
  const most = pages > 1_000_000 ? 300 : 200;
  return [
    { promise: "check ÷ ls -f csv: at most 1.5", value: ratio, met: ratio <= 1.5 },
    { promise: `check, peak MB: at most ${most}`, value: check.peak, met: check.peak <= most },
    { promise: "report ÷ check: at most 1.2", value: drawn, met: drawn <= 1.2 },
    { promise: "report, peak MB ÷ that of check: at most 1.2", value: held, met: held <= 1.2 },
  ];
}
