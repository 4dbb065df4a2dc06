// Where the files of a fleet are written before they are published.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { newFolder } from "../support/test-folder.ts";

test("drafts for a bucket are in a folder of this process; those that killed processes have left are removed", async () => {
  const place = newFolder();
  vi.stubEnv("TMPDIR", place);
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) vi.stubEnv(name, "a");
  vi.resetModules();
  try {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const [killed = "", alive = ""] = [pid, process.pid].map((owner) => {
      const folder = path.join(place, `sitegrove-drafts-${owner}`);
      mkdirSync(path.join(folder, "pages"), { recursive: true });
      writeFileSync(path.join(folder, "lock"), JSON.stringify({ pid: owner, host: hostname() }));
      return folder;
    });
    const { Store } = await import("../../src/fleet/store.ts");
    const draft = (await Store.open("s3://bucket/a")).draft("pages/a.ndjson");
    expect(draft.startsWith(path.join(place, "sitegrove-drafts-"))).toBe(true);
    expect([killed, alive].map((folder) => existsSync(folder))).toEqual([false, true]);
  } finally {
    vi.unstubAllEnvs();
  }
});
