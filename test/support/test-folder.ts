// Folders for the files of a test.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A folder that is gone after the run. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(path.join(tmpdir(), "test-")));
}

/** For each test of a file a folder of its own, which is gone after it: the path of a file in it, or its own. */
export function testFolder(): (name?: string) => string {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return (name = "") => path.join(folder, name);
}
