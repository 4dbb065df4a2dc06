// A disk of a few megabytes that really gets full. Only root may mount one.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { orInCi } from "./installed.ts";

export interface SmallDisk {
  readonly path: string;
  remove(): void;
}

/** Returns undefined if no disk can be mounted. */
export function smallDisk(kilobytes: number): SmallDisk | undefined {
  const place = mkdtempSync(path.join(tmpdir(), "small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", place], { stdio: "ignore" });
  } catch {
    rmdirSync(place);
    orInCi(false, "a small disk (mount as root)");
    return undefined;
  }
  return {
    path: place,
    remove() {
      // A lazy unmount works even if a file is still open.
      execFileSync("umount", ["-l", place], { stdio: "ignore" });
      rmdirSync(place);
    },
  };
}
