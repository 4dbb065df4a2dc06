// Folders for the files that a test writes.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "vitest";

/** Makes a folder that is deleted after the run. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(path.join(tmpdir(), "test-")));
}

/** Makes a folder for each test and deletes it afterwards. Returns a function from a file name to its path in that folder. */
export function testFolder(): (name?: string) => string {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "test-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return (name = "") => path.join(folder, name);
}
