// What some tests need beyond Node.js. Where it is missing, they are skipped, and the run says so at its end. Not if CI=true: .ci/run installs
// all of it, and what it could not install makes the tests fail.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const { CI, SITEGROVE_MOTO, PYTHONPATH = "" } = process.env;

/** Whether tests that need `name` run. */
export function orInCi(isThere: boolean, name: string): boolean {
  if (isThere || CI === "true") return true;
  appendFileSync(listOfMissing(), `${name}\n`);
  return false;
}

// Processes of one run share their temporary folder.
function listOfMissing(): string {
  return path.join(tmpdir(), "missing-on-this-machine");
}

/** What this machine lacks, as far as the tests of this run asked for it. */
export function missing(): string[] {
  const file = listOfMissing();
  return existsSync(file) ? [...new Set(readFileSync(file, "utf8").trimEnd().split("\n"))].sort() : [];
}

export function hasProgram(name: string, flag = "--version"): boolean {
  return orInCi(spawnSync(name, [flag], { stdio: "ignore" }).status === 0, name);
}

/** For Python: .ci/run has a folder of its own for some packages. */
export const pythonEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  PYTHONPATH: [SITEGROVE_MOTO, PYTHONPATH].filter((folder) => folder).join(":"),
};

/** Looked up, not imported: to import some of them takes seconds. */
export function hasPython(...modules: string[]): boolean {
  if (modules.length === 0) return hasProgram("python3");
  const code = "import sys, importlib.util as u; [u.find_spec(name).name for name in sys.argv[1:]]";
  const { status } = spawnSync("python3", ["-c", code, ...modules], { env: pythonEnvironment });
  return orInCi(status === 0, `Python's ${modules.join(", ")}`);
}
