// Gives each run of the tests a temporary folder of its own. When the run ends, also by Ctrl-C, the folder is deleted, and processes that the
// tests started and left behind are killed. Two runs at a time share nothing.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Makes a new folder the temporary one of this process and of those that it starts. */
export function useOwnTemporaryFolder(): void {
  if (process.platform === "win32" || path.basename(tmpdir()).startsWith(prefix)) return;
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  // Servers that do not run as root need to reach their files in it.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  // The program keeps a cache from one run to the next.
  process.env["XDG_CACHE_HOME"] = path.join(folder, "cache");
  process.on("exit", () => {
    for (const pid of startedWith(folder)) end(pid);
    for (const place of mountedIn(folder)) spawnSync("umount", ["-l", place]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
}

const prefix = "sitegrove-tests-";

// Finds processes by their environment, which they keep if they leave the process group. Redis hides it, but its working directory is in the folder.
function startedWith(folder: string): number[] {
  if (!existsSync("/proc/self/environ")) return [];
  const isOurs = (pid: number) => {
    try {
      const isStarted = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`TMPDIR=${folder}`);
      return isStarted || readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
    } catch {
      // It has ended, or belongs to somebody else.
      return false;
    }
  };
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && isOurs(pid));
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

// Finds the small disks that tests mounted.
function mountedIn(folder: string): string[] {
  if (!existsSync("/proc/mounts")) return [];
  const places = readFileSync("/proc/mounts", "utf8").split("\n");
  return places.map((line) => line.split(" ")[1] ?? "").filter((place) => place.startsWith(`${folder}/`));
}
