// Identifies files, to tell whether two names lead to the same one.
import fs from "node:fs";
import path from "node:path";

/** Identifies a file, whatever its name: links to it and other spellings of its path have the same identity. */
export function identityOf(file: string): string {
  try {
    const { dev, ino } = fs.statSync(file, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    // The file is missing or inaccessible; opening it will report that.
    const folder = path.dirname(file);
    return path.join(fs.existsSync(folder) ? fs.realpathSync(folder) : path.resolve(folder), path.basename(file));
  }
}

/** Identifies an open file. A terminal or a pipe has no identity, because it may be given more than once. */
export function openIdentity(descriptor: number): string | undefined {
  try {
    const stats = fs.fstatSync(descriptor, { bigint: true });
    return stats.isFile() ? `${stats.dev} ${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}
