// Where the files of a fleet are: a folder, or a bucket. A file is written as a draft on this machine, and gets its name only when it is
// complete. Names that come from a bucket or a folder never lead out of it.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { constants, copyFile, link, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { SitemapError } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { storageFailed } from "../storage/file.ts";
import { makeFolder } from "../storage/folder.ts";
import { FileLock, ownerOf } from "../storage/lock.ts";
import { longestLine } from "./lines.ts";
import { isBucket, S3Bucket } from "./s3-bucket.ts";
import { isOwnPath } from "./site-job.ts";

export class Store {
  readonly bucket: S3Bucket | undefined;
  readonly #folder: string;

  /** `folder` is where the files are or, with a bucket, their drafts. */
  constructor(folder: string, bucket?: S3Bucket) {
    this.#folder = folder;
    this.bucket = bucket;
  }

  /** Opens a folder, or the bucket at an address. */
  static async open(location: string): Promise<Store> {
    return isBucket(location) ? new Store(draftsFolder(), await S3Bucket.open(location)) : new Store(location);
  }

  /** Opens a folder or bucket to write to. Throws a `SitemapError` if outputs cannot go there. */
  static async openForOutput(location: string): Promise<Store> {
    const store = await Store.open(location);
    await store.bucket?.inspect();
    if (store.bucket === undefined && statSync(location, { throwIfNoEntry: false })?.isDirectory() === false)
      throw invalid(`${location} is not a folder`);
    return store;
  }

  /** Locks a folder. A bucket cannot be locked. Throws a `SitemapError` (`folder-in-use`). */
  lock(name: string): FileLock | undefined {
    if (this.bucket !== undefined) return undefined;
    makeFolder(this.#folder);
    return lockFolder(this.#folder, name);
  }

  #path(name: string): string {
    if (!isOwnPath(name))
      throw new SitemapError("storage-failed", `${JSON.stringify(name)} is not the name of an output`);
    return path.join(this.#folder, name);
  }

  /** The path to write a file at. */
  draft(name: string): string {
    const draft = draftOf(this.#path(name));
    makeFolder(path.dirname(draft));
    return draft;
  }

  /** Gives a draft its final name, once it is on the disk or in the bucket. A file of this name is replaced. */
  async publish(name: string, draft: string = this.draft(name)): Promise<void> {
    if (this.bucket === undefined) {
      await flush(draft);
      return rename(draft, this.#path(name));
    }
    await this.bucket.upload(name, draft);
    await rm(draft, { force: true });
  }

  /** Writes a text, unless the name is taken. */
  async create(name: string, text: string): Promise<"created" | "exists"> {
    if (this.bucket !== undefined) return this.bucket.create(name, text);
    const file = this.#path(name);
    const draft = this.draft(`${name}.${randomUUID()}`);
    try {
      await writeFile(draft, text, { flush: true });
      await link(draft, file).catch((error: NodeJS.ErrnoException) => {
        // Not every file system has hard links. A copy is not complete at once, but does not replace a file either.
        if (!withoutLinks.has(error.code)) throw error;
        return copyFile(draft, file, constants.COPYFILE_EXCL);
      });
      return "created";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return "exists";
      throw storageFailed(`${name} could not be written`, error);
    } finally {
      await rm(draft, { force: true });
    }
  }

  async replace(name: string, text: string): Promise<void> {
    const file = new DraftFile(this, name);
    await file.write(text);
    await file.publish();
  }

  async get(name: string): Promise<string | undefined> {
    const file = this.#path(name);
    if (this.bucket !== undefined) return this.bucket.get(name);
    const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (size > longestLine) throw new SitemapError("storage-failed", `${name} is too long`);
    return readFile(file, "utf8").catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw storageFailed(`${name} could not be read`, error);
    });
  }

  /** Returns a file to read: the file itself, or a copy that `remove` removes. Undefined for anything but a regular file: a pipe could block forever. */
  async fetch(name: string): Promise<{ readonly file: string; remove(): Promise<void> } | undefined> {
    if (this.bucket === undefined) {
      const file = this.#path(name);
      const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
      return isFile ? { file, remove: async () => {} } : undefined;
    }
    const file = this.draft(`${randomUUID()}.${path.basename(this.#path(name))}`);
    return (await this.bucket.download(name, file)) ? { file, remove: () => rm(file, { force: true }) } : undefined;
  }

  async delete(name: string): Promise<void> {
    await this.discard(name);
    await this.bucket?.delete(name);
  }

  /** Removes what was written on this machine: the draft and, in a folder, also the file. */
  async discard(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
    await this.deleteDraft(name);
  }

  deleteDraft(name: string): Promise<void> {
    return rm(draftOf(this.#path(name)), { force: true });
  }

  /** Returns the names that begin with `start`. A folder includes drafts, and subfolders only if `start` ends with a slash. */
  async list(start: string): Promise<string[]> {
    if (this.bucket !== undefined) return (await this.bucket.list(start)).filter(isOwnPath);
    const parent = path.posix.dirname(`${start}-`);
    const isDeep = start.endsWith("/");
    const options = { recursive: isDeep, withFileTypes: true } as const;
    const local = await readdir(this.#path(parent), options).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw storageFailed(`${parent} could not be read`, error);
    });
    const names = local.flatMap((entry) => {
      const folder = path.relative(this.#folder, entry.parentPath).replaceAll(path.sep, "/");
      const name = entry.name.startsWith(draftMark) ? entry.name.slice(draftMark.length) : entry.name;
      return entry.isFile() ? [path.posix.join(folder, name)] : [];
    });
    return [...new Set(names.filter((name) => name.startsWith(start) && isOwnPath(name)))].sort();
  }
}

// How file systems say that they cannot create a hard link.
const withoutLinks: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

// The mark comes at the start of a name, because the end of the name says whether an archive is compressed.
const draftMark = "partial.";

function draftOf(file: string): string {
  return path.join(path.dirname(file), draftMark + path.basename(file));
}

async function flush(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Locks a folder with a file of this name. Throws a `SitemapError` (`folder-in-use`) if another process has it. */
export function lockFolder(folder: string, name: string): FileLock {
  const refused = (owner: string) =>
    new SitemapError("folder-in-use", `${owner} is using this folder; wait for it, or stop it`);
  return FileLock.acquire(path.join(folder, name), refused);
}

let drafts: string | undefined;

// Returns the folder for the drafts of all buckets, which exists as long as this process. Removes those of killed processes, which may be large.
function draftsFolder(): string {
  if (drafts !== undefined) return drafts;
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(draftsStart))) {
    const old = path.join(tmpdir(), name);
    const lock = path.join(old, draftsLock);
    if (existsSync(lock) && ownerOf(lock) === undefined) rmSync(old, { recursive: true, force: true });
  }
  const folder = mkdtempSync(path.join(tmpdir(), draftsStart));
  lockFolder(folder, draftsLock);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  drafts = folder;
  return folder;
}

const draftsStart = "sitegrove-drafts-";
const draftsLock = "lock";

/** A text file of a store that is written piece by piece. It is open only while something is written: open files are scarce. */
export class DraftFile {
  readonly #store: Store;
  readonly #name: string;
  #held = "";
  /** How many bytes were written. */
  #size = 0;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  write(text: string): Promise<void> | undefined {
    this.#held += text;
    return this.#held.length < mostHeld ? undefined : this.#flush();
  }

  /** Ends the file. Returns the path of the draft. Throws a `SitemapError` if its size is not what was written. */
  async finish(): Promise<string> {
    await this.#flush();
    const draft = this.#store.draft(this.#name);
    if (statSync(draft, { throwIfNoEntry: false })?.size === this.#size) return draft;
    throw new SitemapError("storage-failed", `Another program has changed ${this.#name}`);
  }

  async publish(): Promise<void> {
    await this.finish();
    await this.#store.publish(this.#name);
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#held);
    this.#held = "";
    const draft = this.#store.draft(this.#name);
    const isFirst = this.#size === 0;
    this.#size += bytes.length;
    if (isFirst) await rm(draft, { force: true });
    await writeFile(draft, bytes, { flag: isFirst ? "wx" : "a" }).catch((error: unknown) => {
      // The system's error may not name the file.
      throw storageFailed(`${this.#name} could not be written`, error);
    });
  }
}

const mostHeld = 64 * 1024;
