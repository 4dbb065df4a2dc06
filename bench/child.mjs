// Runs and measures processes: scripts of this folder, which print JSON; the program, as a user runs it; and the programs we compare with.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/** Runs a script. Returns the JSON that it printed, and how many `seconds` it took from start to end. */
export async function runChild(file, args, { command = process.execPath, nodeOptions = [] } = {}) {
  const before = performance.now();
  const program = path.join(import.meta.dirname, file);
  const child = spawn(command, [...nodeOptions, program, ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  const seconds = (performance.now() - before) / 1000;
  if (code !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${code}`);
  return { ...JSON.parse(output), seconds };
}

/**
 * Returns the peak memory of this process, in bytes. On Linux, `maxRSS` may be the peak of the process that started this one, so
 * /proc is read first.
 */
export function peakMemory() {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    return Number(kilobytes) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

const dist = () => process.env.SITEGROVE_BENCH_DIST ?? path.join(import.meta.dirname, "../dist");

/** Runs the program. Returns the `lines` of its output, its `seconds`, its seconds of `cpu` time, and its `peak` memory in bytes. */
export async function runProgram(words, { nodeOptions = [], env: added = {} } = {}) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-run-"));
  const note = path.join(folder, "peak");
  const peak = path.join(import.meta.dirname, "peak.mjs");
  const args = [...nodeOptions, "--import", peak, path.join(dist(), "cli/main.js"), ...words];
  try {
    const before = performance.now();
    const env = { ...process.env, ...added, SITEGROVE_BENCH_PEAK: note };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    let lines = 0;
    child.stdout.on("data", (data) => {
      for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, at + 1)) lines++;
    });
    const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
    const seconds = (performance.now() - before) / 1000;
    if (code !== 0) throw new Error(`sitegrove ${words.join(" ")} ended with ${code}`);
    return { ...JSON.parse(readFileSync(note, "utf8")), seconds, lines };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs the floor: standard tools transfer the bytes, decompress them and look at each once. */
export function runFloor({ origin }) {
  return runChild("floor.sh", [`${origin}/index.xml`], { command: "sh" });
}

/** Runs USP, if it is installed for python3 or for the Python that SITEGROVE_BENCH_PYTHON names. */
export async function runReference({ origin }) {
  const python = process.env.SITEGROVE_BENCH_PYTHON ?? "python3";
  if (spawnSync(python, ["-c", "import usp.tree"], { stdio: "ignore" }).status !== 0) {
    console.log("ultimate-sitemap-parser is not installed for python3 (or $SITEGROVE_BENCH_PYTHON): not measured");
    return undefined;
  }
  return runChild("reference.py", [`${origin}/`], { command: python });
}
