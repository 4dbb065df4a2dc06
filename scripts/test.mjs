// npm test: makes the clone ready, then runs the tests. `npm test -- parse` runs those whose path contains "parse". With `--long`, they try
// as much as they can, and every command line is run by a process.
import { spawnSync } from "node:child_process";
import { prepare } from "./prepare.mjs";

prepare();
const words = process.argv.slice(2).filter((word) => word !== "--long");
const isLong = words.length < process.argv.length - 2;
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...words], {
  stdio: "inherit",
  env: isLong ? { ...process.env, SITEGROVE_LONG: "1", SITEGROVE_PROCESSES: "1" } : process.env,
});
process.exit(status ?? 1);
