// Folders for outputs: made with whatever is missing above them, and gone again if nothing came of it.
import { mkdirSync, rmdirSync, statSync } from "node:fs";
import path from "node:path";

/** Returns the folders that were missing, the innermost first. Throws the error of the system; `recursive` of Node.js hangs in /proc. */
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

/** As long as they are empty. */
export function removeEmpty(folders: readonly string[]): void {
  try {
    for (const folder of folders) rmdirSync(folder);
  } catch {
    // Somebody uses it.
  }
}
