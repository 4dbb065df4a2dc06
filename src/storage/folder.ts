// Outputs: folders, created with missing parents and removed again if nothing was written; and files that replace others.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmdirSync, statSync } from "node:fs";
import path from "node:path";

/** Returns the folders that were missing, the innermost first. Throws the system's error. Node's own `recursive` option hangs in /proc. */
export function makeFolder(folder: string): readonly string[] {
  if (isFolder(folder)) return [];
  const parent = path.dirname(folder);
  const above = isFolder(parent) || parent === folder ? [] : makeFolder(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(folder)) return above;
    throw error;
  }
  return [folder, ...above];
}

function isFolder(name: string): boolean {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Removes folders, up to the first that is not empty. */
export function removeEmpty(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder);
  } catch {
    // Somebody uses it.
  }
}

/** Replaces a file with another, keeping its permissions. Flushes to disk first: a power failure must not leave an empty file. */
export function replaceFile(file: string, target: string): void {
  const mode = statSync(target, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined) chmodSync(file, mode & 0o777);
  const descriptor = openSync(file, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(file, target);
}
