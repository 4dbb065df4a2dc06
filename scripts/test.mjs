// npm test: prepares the clone, then runs the tests. `npm test -- parse` runs those whose path contains "parse".
//   --quick          only the unit tests, which need nothing but Node.js
//   --no-fast-path   only the parser's tests, with the scanner reading everything
//   --long           all of them, with every generated case and a process for every command line
import { spawnSync } from "node:child_process";
import { prepare } from "./prepare.mjs";

prepare();
const projects = {
  "--quick": ["unit"],
  "--no-fast-path": ["no fast path"],
  "--long": ["all", "no fast path"],
};
const words = process.argv.slice(2);
const isLong = words.includes("--long");
const chosen = projects[words.find((word) => word in projects)] ?? ["all"];
const passedOn = words.filter((word) => !(word in projects));
const vitest = ["node_modules/vitest/vitest.mjs", "run", ...chosen.map((name) => `--project=${name}`), ...passedOn];
const { status } = spawnSync(process.execPath, vitest, {
  stdio: "inherit",
  env: isLong ? { ...process.env, SITEGROVE_LONG: "1", SITEGROVE_PROCESSES: "1" } : process.env,
});
process.exit(status ?? 1);
