// Lets only one process work in a folder. The lock names the process; if that has ended, even with its machine, the
// next one takes over.
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { SitemapError } from "../model/errors.ts";

export class FolderLock {
  readonly #path: string;
  readonly #remove = () => this.release();
  #held = true;

  readonly #beat: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    process.once("exit", this.#remove);
    // For processes on other machines or in other containers, which cannot see this one.
    this.#beat = setInterval(() => touch(path), beatTime);
    this.#beat.unref();
  }

  /** Throws a `SitemapError` (`folder-in-use`) if a running process has the lock. */
  static take(path: string): FolderLock {
    const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
    writeFileSync(own, JSON.stringify(identity(process.pid)), { flag: "wx" });
    try {
      for (let attempt = 0; attempt < 10; attempt++) {
        // A link is created atomically and with its content.
        if (link(own, path)) return new FolderLock(path);
        const owner = ownerOf(path);
        if (owner !== undefined && isRunning(owner)) throw inUse(owner);
        // Two processes may get here at once: a file can be moved away only once, and what was moved is checked again.
        const aside = `${own}.old`;
        try {
          renameSync(path, aside);
          const moved = ownerOf(aside);
          if (moved !== undefined && isRunning(moved)) renameSync(aside, path);
        } catch {
          // Another process was faster.
        }
        rmSync(aside, { force: true });
      }
    } finally {
      rmSync(own, { force: true });
    }
    throw new SitemapError("folder-in-use", "Another process is about to work in this folder");
  }

  /** The process that works in a folder, if one does. */
  static owner(path: string): number | undefined {
    const owner = ownerOf(path);
    return owner !== undefined && isRunning(owner) ? owner.pid : undefined;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    clearInterval(this.#beat);
    process.off("exit", this.#remove);
    rmSync(this.#path, { force: true });
  }
}

interface Identity {
  readonly pid: number;
  readonly host: string;
  /** When the process was started, if the system tells: process ids are reused. */
  readonly started: string | undefined;
}

interface Owner extends Identity {
  /** When the lock was last refreshed, in milliseconds. */
  readonly seen: number;
}

function identity(pid: number): Identity {
  return { pid, host: hostname(), started: startOf(pid) };
}

function inUse({ pid, host }: Identity): SitemapError {
  const where = host === hostname() ? "" : ` on ${host}`;
  return new SitemapError("folder-in-use", `Process ${pid}${where} is working in this folder; wait for it, or end it`);
}

function ownerOf(path: string): Owner | undefined {
  try {
    const { pid, host, started } = JSON.parse(readFileSync(path, "utf8")) as Partial<Identity>;
    if (typeof pid !== "number") return undefined;
    return { pid, host: String(host), started, seen: statSync(path).mtimeMs };
  } catch {
    // Missing or damaged.
    return undefined;
  }
}

function isRunning({ pid, host, started, seen }: Owner): boolean {
  if (host !== hostname()) return Date.now() - seen < longestSilence;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return started === undefined || startOf(pid) === started;
}

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: field 22, counted after the name, which may contain
// anything.
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The folder is gone: writing into it will report that.
  }
}

// In milliseconds.
const beatTime = 10_000;
const longestSilence = 60_000;
