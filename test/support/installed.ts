// What some tests need beyond Node.js. Where it is missing, they are skipped; but not where CI=true: .ci/run installs all of it, and
// what it could not install makes the tests fail.
import { spawnSync } from "node:child_process";

const { CI, SITEGROVE_MOTO, PYTHONPATH = "" } = process.env;

export function orInCi(isThere: boolean): boolean {
  return isThere || CI === "true";
}

export function hasProgram(name: string, flag = "--version"): boolean {
  return orInCi(spawnSync(name, [flag], { stdio: "ignore" }).status === 0);
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
  return orInCi(spawnSync("python3", ["-c", code, ...modules], { env: pythonEnvironment }).status === 0);
}
