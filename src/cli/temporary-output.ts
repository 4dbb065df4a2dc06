// The temporary file beside an output, `.NAME.PID.partial`: its name says which process writes it. What a killed process left is removed
// by the next run with the same output.
import { lstatSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";

/** The path of this process's own, beside `target`. Removes those of the same name whose process has ended. `ending`: of the file's name. */
export function temporaryOutput(target: string, name: string, ending = ""): string {
  const folder = path.dirname(target);
  removeLeftovers(folder, `.${name}.`, `.partial${ending}`);
  return path.join(folder, `.${name}.${process.pid}.partial${ending}`);
}

function removeLeftovers(folder: string, start: string, end: string): void {
  for (const name of names(folder)) {
    if (!name.startsWith(start) || !name.endsWith(end)) continue;
    const pid = name.slice(start.length, -end.length);
    if (!/^\d{1,10}$/.test(pid) || isRunning(Number(pid))) continue;
    const file = path.join(folder, name);
    try {
      // A link is not followed; what is younger than this process may be of another one that it cannot see.
      const found = lstatSync(file);
      const isOwn = found.isFile() && found.uid === (process.getuid?.() ?? found.uid);
      if (isOwn && found.mtimeMs < performance.timeOrigin) rmSync(file);
    } catch {
      // Another process was faster, or the folder may not be changed: nothing depends on it.
    }
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// In a container, an earlier process often had the same id.
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, but it is somebody else's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
