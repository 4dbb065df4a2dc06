// Prepares a clone: installs missing packages, and builds dist/ if its sources are newer.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export function prepare() {
  install(".");
  const sources = ["src", "scripts/build.mjs", "scripts/bundle.mjs", "tsconfig.json", "tsconfig.build.json"];
  if (Math.max(...sources.map(newest)) > newest("dist/.built"))
    run(process.execPath, ["scripts/build.mjs"], "building");
}

/** Installs the packages of a folder, unless they are up to date. */
export function install(folder) {
  if (newest(`${folder}/package-lock.json`) <= newest(`${folder}/node_modules/.package-lock.json`)) return;
  const words = ["ci", "--no-global", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder];
  npm(words, `installing dependencies${folder === "." ? "" : ` of ${folder}/`}`);
}

// npm tells its scripts where it is. Without that, Windows finds `npm.cmd` only through a shell.
function npm(args, label) {
  const { npm_execpath: script } = process.env;
  if (script?.endsWith(".js")) run(process.execPath, [script, ...args], label);
  else run("npm", args, label, process.platform === "win32");
}

// Sends all output to standard error, because `npm start -- ls URL > file` must write only the listing.
function run(command, args, label, shell = false) {
  process.stderr.write(`${label}…\n`);
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell });
  if (status !== 0) {
    process.stderr.write(`${label} failed${error ? `: ${error.message}` : ""}\n`);
    process.exit(1);
  }
}

// Returns the latest modification time below a path, or 0 if nothing is there.
function newest(relative) {
  const start = path.join(root, relative);
  if (!existsSync(start)) return 0;
  const stat = statSync(start);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(start).map((name) => newest(path.join(relative, name))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prepare();
