// No file is both read and written, and none is written twice. Files are compared, not names: links, other spellings of a path and
// standard output lead to the same file.
import { existsSync, fstatSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { UsageError } from "../exit-codes.ts";
import { websiteHint } from "./target.ts";

type Outputs = Readonly<Record<string, string | undefined>>;

/** `inputs`: - is standard input. `outputs` by their names. Throws a `UsageError` where one of them, or standard output, is an input or another output. */
export function expectDistinct(inputs: readonly string[], outputs: Outputs): void {
  const written = new Map<string | undefined, string>([[openIdentity(1), "standard output"]]);
  written.delete(undefined);
  for (const [name, file] of Object.entries(outputs)) {
    if (file === undefined) continue;
    const identity = identityOf(file);
    const other = written.get(identity);
    if (other !== undefined) throw new UsageError(`${name} and ${other} are the same file`);
    written.set(identity, name);
  }
  for (const file of inputs) {
    const name = written.get(file === "-" ? openIdentity(0) : identityOf(file)) ?? writtenInto(file, outputs);
    if (name !== undefined) throw new UsageError(`${name} is the input itself: ${file}${websiteHint(file)}`);
  }
}

// A folder is read: the documents in it are inputs, too.
function writtenInto(folder: string, outputs: Outputs): string | undefined {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const start = realpathSync(folder) + path.sep;
  const isDocument = /\.(?:xml|txt|html?|rss|atom|rdf|gz|br|zst)$/i;
  const isInside = (file = "") => isDocument.test(file) && existsSync(file) && realpathSync(file).startsWith(start);
  return Object.entries(outputs).find(([, file]) => isInside(file))?.[0];
}

function identityOf(file: string): string {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    // Missing or inaccessible: opening it will report that.
    const folder = path.dirname(file);
    return path.join(existsSync(folder) ? realpathSync(folder) : path.resolve(folder), path.basename(file));
  }
}

// A terminal or a pipe may be named more than once.
function openIdentity(descriptor: number): string | undefined {
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    return stats.isFile() ? `${stats.dev} ${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}
