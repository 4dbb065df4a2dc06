// Prepares a benchmark: builds the project, and installs the peers, which are packages of this folder only.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const bench = import.meta.dirname;
const lock = path.join(bench, "package-lock.json");
const installed = path.join(bench, "node_modules/.package-lock.json");

// Node.js would read these certificates at every start, which takes 40 ms. Nothing is encrypted here, so they are not needed.
delete process.env.NODE_EXTRA_CA_CERTS;

// `--dist DIR` sets this variable to measure another build. Child processes inherit it.
const dist = process.env.SITEGROVE_BENCH_DIST ?? path.join(bench, "../dist");

/** Installs and builds what is missing. */
export async function setUp({ peers = true } = {}) {
  if (peers && (!existsSync(installed) || statSync(lock).mtimeMs > statSync(installed).mtimeMs)) {
    process.stderr.write("installing the peers…\n");
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const { status } = spawnSync("npm", args, { cwd: bench, stdio: ["ignore", 2, 2] });
    if (status !== 0) process.exit(1);
  }
  if (process.env.SITEGROVE_BENCH_DIST === undefined) {
    const { prepare } = await import("../scripts/prepare.mjs");
    prepare();
  }
}

/** Imports a module of the build that is measured. */
export function distModule(file) {
  return import(pathToFileURL(path.resolve(dist, file)).href);
}
