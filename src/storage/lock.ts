// A lock: a file with the id of the process that is using another file or a folder. Locks of dead processes are taken over.
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimes, writeFileSync } from "node:fs";
import { hostname } from "node:os";

type Owner = { readonly pid: number; readonly host: string };

export class FileLock {
  readonly #path: string;
  readonly #text: string;
  readonly #remove = () => this.release();
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    process.once("exit", this.#remove);
    // Touches the file regularly, because processes on other machines or in other containers cannot see this process.
    this.#heartbeat = setInterval(() => {
      // An error is ignored: if the folder is gone, the next write to it reports that.
      if (this.isOurs()) utimes(path, new Date(), new Date(), () => {});
    }, heartbeatTime).unref();
  }

  /** Takes the lock. If a running process has it, throws what `refused` returns for its owner, such as `Process 7 on box`. */
  static acquire(path: string, refused: (owner: string) => Error): FileLock {
    const id = randomBytes(4).toString("hex");
    const own = `${path}.${process.pid}.${id}`;
    const text = JSON.stringify({ pid: process.pid, host: hostname(), started: startOf(process.pid), id });
    writeFileSync(own, text, { flag: "wx" });
    try {
      for (let attempt = 0; attempt < 10; attempt++) {
        try {
          // A hard link appears atomically, with its content.
          linkSync(own, path);
          return new FileLock(path, text);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        }
        const owner = ownerOf(path);
        if (owner !== undefined)
          throw refused(`Process ${owner.pid}${owner.host === hostname() ? "" : ` on ${owner.host}`}`);
        // Two processes may get here at the same time, but only one of them can move the file away, and it checks the moved file again.
        const aside = `${own}.old`;
        try {
          renameSync(path, aside);
          // Unlike a rename, a link never replaces the lock that a third process may have taken meanwhile.
          if (ownerOf(aside) !== undefined) linkSync(aside, path);
        } catch {
          // Another process was faster.
        }
        rmSync(aside, { force: true });
      }
    } finally {
      rmSync(own, { force: true });
    }
    throw refused("Another process");
  }

  /** Whether this process still has the lock. Another process may have taken it over because this one seemed dead. */
  isOurs(): boolean {
    try {
      return readFileSync(this.#path, "utf8") === this.#text;
    } catch {
      return false;
    }
  }

  release(): void {
    try {
      if (this.isOurs()) rmSync(this.#path, { force: true });
    } catch {
      // The folder may have become read-only. The lock of a process that has ended is taken over.
    }
    clearInterval(this.#heartbeat);
    process.off("exit", this.#remove);
  }
}

/** Returns the owner of a lock, or undefined if the lock is missing or damaged, or its process is gone or silent. */
export function ownerOf(path: string): Owner | undefined {
  try {
    // Process ids are reused, so the start of the process is compared, too, if the system provides it.
    const lock = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner & { readonly started: string }>;
    const { pid, host, started } = lock;
    if (typeof pid !== "number") return undefined;
    const owner = { pid, host: String(host) };
    if (host !== hostname()) return Date.now() - statSync(path).mtimeMs < longestSilence ? owner : undefined;
    return isRunning(pid) && (started === undefined || startOf(pid) === started) ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a process exists, whoever owns it. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

// Returns when a process started: field 22 of https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html. The name before it may contain
// anything, so fields are counted from its end.
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

// How often the lock file is touched, and after how long without a touch it counts as abandoned, in milliseconds.
const heartbeatTime = 10_000;
const longestSilence = 60_000;
