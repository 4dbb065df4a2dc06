// Measures archives of a large website. Compares `diff` of two archives with reading both completely, and `check` and `report` of an archive
// with alternate languages with `ls -f csv`, which reads the same entries.
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { runChild, runProgram } from "./child.mjs";
import { median, printTable } from "./report.mjs";

// In each sitemap that changed, 3% of the pages differ.
const laterEditions = [
  { name: "a change in every sitemap", oneOf: 1 },
  { name: "a change in every twentieth sitemap", oneOf: 20 },
];
const inWords = { open: "openTree, both", read: "openTree + pages(), both", diff: "diffTrees" };

export async function measureDiff({ pages, rounds, nodeOptions }) {
  await inFolder(async (folder) => {
    const before = path.join(folder, "before.warc");
    await runChild("archives-child.mjs", ["make", before, pages, 0, 1]);
    const rows = [];
    for (const { name, oneOf } of laterEditions) {
      const after = path.join(folder, `after-${oneOf}.warc`);
      await runChild("archives-child.mjs", ["make", after, pages, 1, oneOf]);
      const ways = Object.fromEntries(
        Object.keys(inWords).map((way) => {
          const options = way === "diff" ? { nodeOptions } : {};
          return [way, () => runChild("archives-child.mjs", [way, before, after], options)];
        }),
      );
      for (const [way, run] of await inTurns(ways, rounds)) rows.push([name, inWords[way], ...run]);
      rmSync(after);
    }
    const heading = `Two archives of ${pages.toLocaleString("en-US")} pages each`;
    printTable(heading, ["", "", "seconds", "CPU s", "peak MB"], rows);
  });
}

const commands = {
  "sitegrove ls -f csv": ["ls", "-f", "csv"],
  "sitegrove check -f json": ["check", "-f", "json", "--fail-on", "never"],
  "sitegrove report": ["report"],
};

export async function measureCheck({ pages, rounds, nodeOptions }) {
  await inFolder(async (folder) => {
    const archive = path.join(folder, "website.warc");
    await runChild("archives-child.mjs", ["languages", archive, pages]);
    const ways = Object.fromEntries(
      Object.entries(commands).map(([name, words]) => [name, () => runProgram([...words, archive], { nodeOptions })]),
    );
    const heading = `An archive of ${pages.toLocaleString("en-US")} pages with alternate pages in five languages`;
    const rows = (await inTurns(ways, rounds)).map(([name, run]) => [name, ...run]);
    printTable(heading, ["", "seconds", "CPU s", "peak MB"], rows);
  });
}

// Runs each way once per round, and returns its median time, CPU time and peak memory.
async function inTurns(ways, rounds) {
  const runs = Object.keys(ways).map((name) => [name, []]);
  for (let round = 0; round < rounds; round++) {
    for (const [name, list] of runs) {
      process.stderr.write(`${name}…\n`);
      list.push(await ways[name]());
    }
  }
  return runs.map(([name, list]) => {
    const of = (field) => median(list.map((run) => run[field]));
    return [name, [of("seconds"), of("cpu"), of("peak") / 2 ** 20]];
  });
}

async function inFolder(use) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-archives-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
