// Finds the files of a static site by their paths in URLs. Symbolic links cannot lead out of their folder. This is not in site-files.ts,
// because `ls` reads folders, too, and should load little.
import fs, { type Dirent } from "node:fs";
import path from "node:path";
import { systemReason } from "../../model/errors.ts";
import { type Problem, problem } from "../../model/problem.ts";

/** The hosts of static websites whose redirects and other rules are known. */
export const hosts = ["netlify", "cloudflare-pages", "vercel", "github-pages"] as const;
export type Host = (typeof hosts)[number];

/** Returns the real path of a file by its percent-encoded name; undefined if there is none. Returns a problem if it cannot be read. */
export function fileAt(folder: string, encoded: string): string | Problem | undefined {
  try {
    const named = path.join(folder, decodeURIComponent(encoded));
    const file = fs.realpathSync.native(named);
    if (!isInside(file, folder)) return problem("not-local", { value: "it is outside its folder" });
    // Web servers are case-sensitive, some file systems are not.
    if (file !== named && file.toLowerCase() === named.toLowerCase()) return undefined;
    const stat = fs.statSync(file);
    if (stat.isFile()) fs.accessSync(file, fs.constants.R_OK);
    if (stat.isFile()) return file;
    return stat.isDirectory() ? undefined : problem("not-local", { value: "it is not a regular file" });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const isMissing = ["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"].includes(code);
    return isMissing || error instanceof URIError ? undefined : problem("not-local", { value: systemReason(error) });
  }
}

export function isInside(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** Yields the website's files below a folder. Does not follow symbolic links: a target in the folder has its own path there. */
export function* filesIn(folder: string): Generator<string, void> {
  for (const entry of entriesOf(folder)) {
    // Names like `_next`, `.git` and `node_modules` belong to frameworks, tools and packages, not to the website.
    if (/^[_.]|^node_modules$/.test(entry.name)) continue;
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(file);
    else if (entry.isFile()) yield file;
  }
}

/** Reads the beginning of a file, as much as fits into the buffer. UTF-16 is recognized by its byte order mark. */
export function readStart(file: string, buffer: Buffer): string {
  const descriptor = fs.openSync(file, "r");
  try {
    const bytes = buffer.subarray(0, fs.readSync(descriptor, buffer));
    const mark = bytes.toString("hex", 0, 2);
    return new TextDecoder({ fffe: "utf-16le", feff: "utf-16be" }[mark]).decode(bytes);
  } finally {
    fs.closeSync(descriptor);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).sort((one, two) => (one.name < two.name ? -1 : 1));
  } catch {
    return [];
  }
}
