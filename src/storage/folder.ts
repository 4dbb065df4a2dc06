// Folders for outputs: created with missing parents, and removed again if nothing was written.
import { mkdirSync, rmdirSync, statSync } from "node:fs";
import path from "node:path";

/** Creates a folder and its missing parents. Returns those it created, the innermost first. Node's own `recursive` hangs in /proc. */
export function makeFolder(folder: string): readonly string[] {
  if (isFolder(folder)) return [];
  const parent = path.dirname(folder);
  const above = isFolder(parent) || parent === folder ? [] : makeFolder(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have created it in the meantime.
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
    // Another process may be using the folder.
  }
}
