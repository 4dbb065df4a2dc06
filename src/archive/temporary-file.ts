// Every temporary file: one in a directory of our own (0700) that nobody else can read. Where the system allows it the names are
// taken away at once, so that nothing can be left behind, however the process ends. Where it does not, they are gone when the
// file is closed and when the process ends, and what a killed process left is swept when the next one needs a file.
import { rmdirSync, unlinkSync } from "node:fs";
import { lstat, mkdtemp, open, readdir, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { KeptFile, storageFailed } from "./file.ts";

/** The one file in a directory of ours. */
const fileName = "documents";
/** The name tells whose it is; mkdtemp adds the six characters. */
const namePattern = /^sitegrove-(\d{1,10})-[A-Za-z0-9]{6}$/;
// A process of another container, with other process ids, may be between making its directory and opening its file. Once
// the file is open its name is no longer needed.
const sweepAge = 5000;

/** A file that nobody else can read, and the way to get rid of it. */
export interface TemporaryFile {
  readonly file: KeptFile;
  remove(): Promise<void>;
}

const directories = new Set<string>();
let swept: Promise<void> | undefined;

/** Throws a `SitemapError` (`storage-failed`) where there is no room, no right or no folder. */
export async function createTemporaryFile(): Promise<TemporaryFile> {
  swept ??= sweepTemporaryFiles();
  await swept;
  const place = tmpdir();
  let directory: string | undefined;
  try {
    directory = await mkdtemp(path.join(place, `sitegrove-${process.pid}-`));
    if (directories.size === 0) process.on("exit", removeAll);
    directories.add(directory);
    // O_EXCL: never a file, or a link, that somebody else put there.
    const handle = await open(path.join(directory, fileName), "wx+", 0o600);
    await remove(directory);
    const file = new KeptFile(handle, `A temporary file in ${place}`);
    return temporaryFile(file, directory);
  } catch (error) {
    if (directory !== undefined) await remove(directory);
    throw storageFailed(`No temporary file can be made in ${place}`, error);
  }
}

function temporaryFile(file: KeptFile, directory: string): TemporaryFile {
  return {
    file,
    async remove() {
      await file.close();
      if (directories.has(directory)) await remove(directory);
    },
  };
}

/** Removes what killed processes left. Nothing but our own: by name, owner and kind, and only the file we would have made. */
export async function sweepTemporaryFiles(now: number = Date.now()): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const owner = namePattern.exec(name)?.[1];
    if (owner === undefined || isRunning(Number(owner))) continue;
    const directory = path.join(tmpdir(), name);
    // lstat: a link is not followed.
    const stats = await lstat(directory).catch(() => undefined);
    if (!stats?.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) continue;
    if (now - stats.mtimeMs >= sweepAge) await remove(directory);
  }
}

// Some systems keep the name of an open file.
async function remove(directory: string): Promise<void> {
  await unlink(path.join(directory, fileName)).catch(() => undefined);
  // Fails where there is something in it that is not ours: then it stays.
  const gone = await rmdir(directory).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
  if (!gone) return;
  directories.delete(directory);
  if (directories.size === 0) process.off("exit", removeAll);
}

function removeAll(): void {
  for (const directory of directories) {
    for (const step of [() => unlinkSync(path.join(directory, fileName)), () => rmdirSync(directory)]) {
      try {
        step();
      } catch {
        // The process is ending: there is nobody to tell, and the next one sweeps.
      }
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, but it is somebody else's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
