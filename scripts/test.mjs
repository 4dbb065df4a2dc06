// npm test: makes the clone ready, then runs the tests. `npm test -- parse` runs those whose path contains "parse".
import { spawnSync } from "node:child_process";
import { prepare } from "./prepare.mjs";

prepare();
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  stdio: "inherit",
});
process.exit(status ?? 1);
