// npm run matrix: runs the tests on every supported major version of Node.js. Each comes from a package of the npm registry, which has
// no install script, and stays in a cache outside of the clone. `npm run matrix -- 22 26` runs two versions. Arguments that do not look
// like versions are passed to vitest: `npm run matrix -- 22 parse`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { prepare } from "./prepare.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const cache = path.join(os.tmpdir(), "sitegrove-node-versions");
const supported = ["20", "22", "24", "26"];

const isVersion = (argument) => /^\d+(\.\d+)*$/.test(argument);
const wanted = process.argv.slice(2).filter(isVersion);
const forTests = process.argv.slice(2).filter((argument) => !isVersion(argument));

prepare();
const failed = [];
for (const version of wanted.length > 0 ? wanted : supported) {
  const node = installed(version);
  const { stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  process.stdout.write(`\nNode ${stdout.trim()}\n`);
  const { status } = spawnSync(node, ["node_modules/vitest/vitest.mjs", "run", ...forTests], {
    cwd: root,
    stdio: "inherit",
    // Tests that start `node` or `npm` by name get the same version.
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
  });
  if (status !== 0) failed.push(version);
}
process.stdout.write(failed.length === 0 ? "\nall versions passed\n" : `\nfailed on Node ${failed.join(", ")}\n`);
process.exit(failed.length === 0 ? 0 : 1);

// Returns the path of the executable. Downloads it if it is not in the cache yet.
function installed(version) {
  const folder = path.join(cache, version);
  const node = path.join(folder, process.platform === "win32" ? "bin/node.exe" : "bin/node");
  if (existsSync(node)) return node;
  const system = process.platform === "win32" ? "win" : process.platform;
  const download = path.join(cache, `${version}.${process.pid}`);
  mkdirSync(download, { recursive: true });
  run("npm", ["pack", `node-${system}-${process.arch}@${version}`, "--silent", "--pack-destination", download]);
  const archive = readdirSync(download).find((name) => name.endsWith(".tgz"));
  run("tar", ["-xzf", path.join(download, archive), "-C", download]);
  // Renames in one step, so that an interrupted download is never mistaken for a complete one.
  renameSync(path.join(download, "package"), folder);
  rmSync(download, { recursive: true, force: true });
  return node;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2] });
  if (status === 0) return;
  process.stderr.write(`${command} ${args.join(" ")} failed${error ? `: ${error.message}` : ""}\n`);
  process.exit(1);
}
