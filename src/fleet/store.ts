// Where the files of a fleet are: a folder, or a bucket. A file is written as a draft on this machine, and has its name only when it is whole.
// Names that come from a bucket or a folder never lead out of it.
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { SitemapError } from "../model/errors.ts";
import { storageFailed } from "../storage/file.ts";
import { makeFolder } from "../storage/folder.ts";
import { ownerOf } from "../storage/lock.ts";
import { lockName, takeFolder } from "./journal-file.ts";
import { isBucket, type Published, S3Bucket } from "./s3-bucket.ts";
import { isOwnPath } from "./site-job.ts";

export class Store {
  readonly bucket: S3Bucket | undefined;
  readonly #folder: string;

  /** `folder`: where the files are or, with a bucket, their drafts. */
  constructor(folder: string, bucket?: S3Bucket) {
    this.#folder = folder;
    this.bucket = bucket;
  }

  /** Opens a folder, or the bucket at an address. */
  static async open(location: string): Promise<Store> {
    return isBucket(location) ? new Store(draftsFolder(), await S3Bucket.open(location)) : new Store(location);
  }

  #path(name: string): string {
    if (!isOwnPath(name))
      throw new SitemapError("storage-failed", `${JSON.stringify(name)} is not the name of an output`);
    return path.join(this.#folder, name);
  }

  /** The path to write a file at. The end of its name tells whether an archive is compressed. */
  draft(name: string): string {
    const file = this.#path(name);
    makeFolder(path.dirname(file));
    return name.endsWith(".gz") ? file : `${file}${partial}`;
  }

  /** Gives a draft its final name. In a bucket, an existing file stays as it is, unless `isReplaced`. */
  async publish(name: string, isReplaced = false): Promise<void> {
    const draft = this.draft(name);
    if (this.bucket === undefined) return rename(draft, this.#path(name));
    if (isReplaced) await this.bucket.delete(name);
    await this.bucket.upload(name, draft);
    await rm(draft, { force: true });
  }

  /** Writes a text, unless the name is taken. */
  async put(name: string, text: string): Promise<Published> {
    if (this.bucket !== undefined) return this.bucket.put(name, text, "application/json");
    const file = this.#path(name);
    const draft = this.draft(`${name}.${randomUUID()}`);
    try {
      await writeFile(draft, text);
      await link(draft, file);
      return "created";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return "exists";
      throw storageFailed(`${name} could not be written`, error);
    } finally {
      await rm(draft, { force: true });
    }
  }

  async replace(name: string, text: string): Promise<void> {
    if (this.bucket !== undefined) return this.bucket.replace(name, text);
    await new DraftFile(this, name).publish(text);
  }

  async get(name: string): Promise<string | undefined> {
    const file = this.#path(name);
    if (this.bucket !== undefined) return this.bucket.get(name);
    return readFile(file, "utf8").catch(() => undefined);
  }

  /** A file to read: the file itself, or a copy that `remove` removes. Undefined if there is no such file. */
  async fetch(name: string): Promise<{ readonly file: string; remove(): Promise<void> } | undefined> {
    if (this.bucket === undefined) {
      const file = this.#path(name);
      return existsSync(file) ? { file, remove: async () => {} } : undefined;
    }
    const file = this.draft(`${randomUUID()}.${path.basename(this.#path(name))}`);
    return (await this.bucket.download(name, file)) ? { file, remove: () => rm(file, { force: true }) } : undefined;
  }

  async delete(name: string): Promise<void> {
    await this.discard(name);
    await this.bucket?.delete(name);
  }

  /** Removes what was written on this machine: a draft, or in a folder also the file. */
  async discard(name: string): Promise<void> {
    const file = this.#path(name);
    for (const each of [file, `${file}${partial}`]) await rm(each, { force: true });
  }

  /** The names that begin with `start`, in a folder also those of drafts. If it ends with a slash, subfolders are included. */
  async list(start: string): Promise<string[]> {
    if (this.bucket !== undefined) return (await this.bucket.list(start)).filter(isOwnPath);
    const parent = path.posix.dirname(`${start}-`);
    const isDeep = start.endsWith("/");
    const local = await readdir(this.#path(parent), { recursive: isDeep, withFileTypes: true }).catch(() => []);
    const names = local.flatMap((entry) => {
      const file = path.relative(this.#folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/");
      return entry.isFile() ? [file.replace(/\.partial$/, "")] : [];
    });
    return [...new Set(names.filter((name) => name.startsWith(start) && isOwnPath(name)))].sort();
  }

  /** Removes the files of earlier attempts: killed ones, and those whose result is replaced. A later attempt may be running. */
  async deleteEarlier(name: string, attemptId: string): Promise<void> {
    const [hash = "", last = "1"] = attemptId.split("-");
    if (last === "1") return;
    const start = name.slice(0, name.indexOf(`.${hash}-`) + hash.length + 2);
    for (const each of await this.list(start))
      if (Number.parseInt(each.slice(start.length), 10) < Number(last)) await this.delete(each);
  }
}

const partial = ".partial";

let drafts: string | undefined;

// The folder for drafts of all buckets, while this process lives. Folders that killed processes have left are removed.
function draftsFolder(): string {
  if (drafts !== undefined) return drafts;
  for (const name of readdirSync(tmpdir())) {
    const lock = path.join(tmpdir(), name, lockName);
    if (!name.startsWith(draftsStart) || !existsSync(lock) || ownerOf(lock) !== undefined) continue;
    try {
      rmSync(path.dirname(lock), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
  const folder = mkdtempSync(path.join(tmpdir(), draftsStart));
  takeFolder(path.join(folder, lockName));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  drafts = folder;
  return folder;
}

const draftsStart = "sitegrove-drafts-";

type Piece = string | Uint8Array;

/** A file of a store that is written piece by piece. It is open only while something is written: open files are scarce. */
export class DraftFile {
  readonly #store: Store;
  readonly #name: string;
  #held: Piece[] = [];
  #size = 0;
  #isBegun = false;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  write(piece: Piece): Promise<void> | undefined {
    if (piece.length > 0) this.#held.push(piece);
    this.#size += piece.length;
    return this.#size < mostHeld ? undefined : this.#flush();
  }

  /** Writes the last piece, and returns the path of the draft. */
  async finish(last: Piece): Promise<string> {
    this.#held.push(last);
    await this.#flush();
    return this.#store.draft(this.#name);
  }

  async publish(last: Piece): Promise<void> {
    await this.finish(last);
    await this.#store.publish(this.#name);
  }

  async #flush(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    this.#size = 0;
    const draft = this.#store.draft(this.#name);
    if (!this.#isBegun) await rm(draft, { force: true });
    const flag = this.#isBegun ? "a" : "wx";
    this.#isBegun = true;
    const whole = typeof held[0] === "string" ? held.join("") : Buffer.concat(held as Uint8Array[]);
    await writeFile(draft, whole, { flag }).catch((error: unknown) => {
      // The system does not say which file it was.
      throw storageFailed(`${this.#name} could not be written`, error);
    });
  }
}

const mostHeld = 64 * 1024;
