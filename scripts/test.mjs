// npm test: makes the clone ready, then runs the tests. `npm test -- parse` runs those whose path contains "parse".
//   --no-fast-path   only the tests of the parser, where everything is read by the scanner
//   --long           all of both; they try as much as they can, and every command line is run by a process
import { spawnSync } from "node:child_process";
import { prepare } from "./prepare.mjs";

prepare();
const own = ["--no-fast-path", "--long"];
const words = process.argv.slice(2);
const isLong = words.includes("--long");
const projects = words.includes("--no-fast-path")
  ? ["--project=no fast path"]
  : isLong
    ? []
    : ["--project=!no fast path"];
const passedOn = words.filter((word) => !own.includes(word));
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...projects, ...passedOn], {
  stdio: "inherit",
  env: isLong ? { ...process.env, SITEGROVE_LONG: "1", SITEGROVE_PROCESSES: "1" } : process.env,
});
process.exit(status ?? 1);
