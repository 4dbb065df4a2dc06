// Runs a program of ours in a process of its own and takes what it prints as JSON.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

/** The JSON that the child printed, with `seconds`: the time from its start to its end. */
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
 * The most memory that this process ever held, in bytes. Linux lets a program inherit the peak of the process that started it
 * in `ru_maxrss`, so its own count is asked first.
 */
export function peakMemory() {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    return Number(kilobytes) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
