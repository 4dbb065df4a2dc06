// Some tests need more than Node.js. If it is missing, they are skipped, and the run says so at its end. With CI=true they fail instead,
// because .ci/run should have installed it.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const { CI, SITEGROVE_MOTO, PYTHONPATH = "" } = process.env;

/** Whether to run tests that need `name`. */
export function orInCi(isThere: boolean, name: string): boolean {
  if (isThere || CI === "true") return true;
  appendFileSync(listOfMissing(), `${name}\n`);
  return false;
}

// All processes of a run write to one list, in its temporary folder.
function listOfMissing(): string {
  return path.join(tmpdir(), "missing-on-this-machine");
}

/** What the tests of this run asked for and this machine lacks. */
export function missing(): string[] {
  const file = listOfMissing();
  return existsSync(file) ? [...new Set(readFileSync(file, "utf8").trimEnd().split("\n"))].sort() : [];
}

export function hasProgram(name: string, flag = "--version"): boolean {
  return orInCi(spawnSync(name, [flag], { stdio: "ignore" }).status === 0, name);
}

/** The environment for Python, with the folder in which .ci/run installs some packages. */
export const pythonEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  PYTHONPATH: [SITEGROVE_MOTO, PYTHONPATH].filter((folder) => folder).join(":"),
};

/** Whether Python finds these modules. It does not import them, which would take seconds. */
export function hasPython(...modules: string[]): boolean {
  if (modules.length === 0) return hasProgram("python3");
  const code = "import sys, importlib.util as u; [u.find_spec(name).name for name in sys.argv[1:]]";
  const { status } = spawnSync("python3", ["-c", code, ...modules], { env: pythonEnvironment });
  return orInCi(status === 0, `Python's ${modules.join(", ")}`);
}
