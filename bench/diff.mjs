// Two archives of a website, a day apart, compared: beside reading both to their last page, which is what nobody gets around.
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { runChild } from "./child.mjs";
import { median, printTable } from "./report.mjs";

// How many of the sitemaps are not as they were: of these, 3 % of the pages differ.
const laterEditions = [
  { name: "a change in every sitemap", oneOf: 1 },
  { name: "a change in every twentieth sitemap", oneOf: 20 },
];

/** Prints a table; gives the bars. */
export async function measureDiff({ pages, rounds, nodeOptions = [] }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-diff-"));
  try {
    const before = path.join(folder, "before.warc");
    await runChild("diff-child.mjs", ["make", before, pages, 0, 1]);
    const results = [];
    for (const { name, oneOf } of laterEditions) {
      const after = path.join(folder, `after-${oneOf}.warc`);
      await runChild("diff-child.mjs", ["make", after, pages, 1, oneOf]);
      const runs = { open: [], read: [], diff: [] };
      for (let round = 0; round < rounds; round++) {
        for (const [way, list] of Object.entries(runs)) {
          process.stderr.write(`${way}, ${name}…\n`);
          const options = way === "diff" ? { nodeOptions } : {};
          list.push(await runChild("diff-child.mjs", [way, before, after], options));
        }
      }
      for (const [way, list] of Object.entries(runs)) results.push({ name, way, ...medians(list) });
      rmSync(after);
    }
    print(pages, results);
    return barsOf(results);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function medians(list) {
  const of = (name) => median(list.map((run) => run[name]));
  return { seconds: of("seconds"), cpu: of("cpu"), peak: of("peak") / 2 ** 20, found: of("found") };
}

const inWords = { open: "openTree, both", read: "openTree + pages(), both", diff: "diffTrees" };

function print(pages, results) {
  printTable(
    `Two archives of ${pages.toLocaleString("en-US")} pages each`,
    ["", "", "seconds", "CPU s", "peak MB", "pages, or changes"],
    results.map(({ name, way, seconds, cpu, peak, found }) => [name, inWords[way], seconds, cpu, peak, found]),
  );
}

function barsOf(results) {
  return laterEditions.flatMap(({ name }) => {
    const [read, diff] = ["read", "diff"].map((way) => results.find((run) => run.name === name && run.way === way));
    const ratio = diff.cpu / read.cpu;
    return [
      { promise: `diffTrees ÷ reading both (${name}): at most 2.5`, value: ratio, met: ratio <= 2.5 },
      { promise: `diffTrees, peak MB (${name}): at most 250`, value: diff.peak, met: diff.peak <= 250 },
    ];
  });
}
