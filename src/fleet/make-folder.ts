// Makes a folder and those above it. Node's own `recursive` never returns where the system says that a parent is missing
// which is there, as below /proc.
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/** Returns the folders that were missing, the innermost first. Throws the error of the system. */
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
