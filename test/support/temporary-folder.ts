// Where a run of the tests keeps its temporary files: a folder of its own. It is gone after the run, and with it whoever was started by the
// tests and is still there, also where Ctrl-C ended it. Two runs at a time have nothing in common.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** For this process and those that it starts. */
export function useOwnTemporaryFolder(): void {
  if (process.platform === "win32" || path.basename(tmpdir()).startsWith(prefix)) return;
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  // Servers that do not run as root get at what is theirs in there.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  // What the program keeps from one run to the next.
  process.env["XDG_CACHE_HOME"] = path.join(folder, "cache");
  process.on("exit", () => {
    for (const pid of startedWith(folder)) end(pid);
    for (const place of mountedIn(folder)) spawnSync("umount", ["-l", place]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
}

const prefix = "sitegrove-tests-";

// Known by their environment, which those that left the group of processes have, too. Redis hides it, but works in there.
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

// Small disks.
function mountedIn(folder: string): string[] {
  if (!existsSync("/proc/mounts")) return [];
  const places = readFileSync("/proc/mounts", "utf8").split("\n");
  return places.map((line) => line.split(" ")[1] ?? "").filter((place) => place.startsWith(`${folder}/`));
}
