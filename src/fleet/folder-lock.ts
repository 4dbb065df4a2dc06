// One process at a time works in a folder. The lock names the process; where that is gone, killed or with its machine, the next one
// takes over.
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { SitemapError } from "../errors.ts";

export class FolderLock {
  readonly #path: string;
  readonly #remove = () => this.release();
  #held = true;

  readonly #beat: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    process.once("exit", this.#remove);
    // For those who cannot see this process, because it is on another machine or in another container.
    this.#beat = setInterval(() => touch(path), beatTime);
    this.#beat.unref();
  }

  /** Throws a `SitemapError` (`folder-in-use`) where a process that is running has the lock. */
  static take(path: string): FolderLock {
    const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
    writeFileSync(own, JSON.stringify(identity(process.pid)), { flag: "wx" });
    try {
      for (let attempt = 0; attempt < 10; attempt++) {
        // A link is made once and with its content, whoever else tries.
        if (link(own, path)) return new FolderLock(path);
        const owner = ownerOf(path);
        if (owner !== undefined && isRunning(owner)) throw inUse(owner);
        // Two may come here at a time: a file can be moved away only once, and what was moved is looked at again.
        const aside = `${own}.old`;
        try {
          renameSync(path, aside);
          const moved = ownerOf(aside);
          if (moved !== undefined && isRunning(moved)) renameSync(aside, path);
        } catch {
          // Somebody else was quicker.
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
  /** When it was started, where the system tells: process ids are used again. */
  readonly started: string | undefined;
}

interface Owner extends Identity {
  /** When it last gave a sign of life, in milliseconds. */
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
    // Not there, or damaged.
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

// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: field 22, counted behind the name, which may hold anything.
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
    // The folder is gone: whoever writes into it will say so.
  }
}

// In milliseconds.
const beatTime = 10_000;
const longestSilence = 60_000;
