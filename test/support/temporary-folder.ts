// Gives each run of the tests a temporary folder of its own. When the run ends, also by Ctrl-C, the folder is deleted, and processes that the
// tests started and left behind are killed. Two runs at a time share nothing.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Makes a new folder the temporary one of this process and of those that it starts. */
export function useOwnTemporaryFolder(): void {
  if (process.platform === "win32" || path.basename(tmpdir()).startsWith(prefix)) return;
  const folder = mkdtempSync(path.join(fastest(), prefix));
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

// Prefers memory, because the tests write thousands of small files and wait until they are on the disk. A folder that you name with TMPDIR is
// used. So is the usual one if programs cannot be run from memory, or if it has no room: the tests need a tenth of that.
function fastest(): string {
  const memory = "/dev/shm";
  if (process.env["TMPDIR"] !== undefined || !existsSync("/proc/mounts") || !existsSync(memory)) return tmpdir();
  const mount = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .find((line) => line.split(" ")[1] === memory);
  const { bavail, bsize } = statfsSync(memory);
  return mount === undefined || mount.includes("noexec") || bavail * bsize < 1e9 ? tmpdir() : memory;
}

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
