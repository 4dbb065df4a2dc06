// The names in the system's hosts file, which name servers do not know.
// https://man7.org/linux/man-pages/man5/hosts.5.html Only the names are read: the system resolves them.
import { readFile, stat } from "node:fs/promises";
import path from "node:path";

export class HostsFile {
  readonly #path: string;
  #names: ReadonlySet<string> = new Set();
  #version: string | undefined;

  constructor(file: string = systemPath()) {
    this.#path = file;
  }

  /** Whether the file lists a name; `hostName` in lower case, without a trailing dot. */
  async has(hostName: string): Promise<boolean> {
    try {
      const { mtimeMs, size } = await stat(this.#path);
      const version = `${mtimeMs} ${size}`;
      if (version !== this.#version) {
        this.#names = namesIn(await readFile(this.#path, "utf8"));
        this.#version = version;
      }
      return this.#names.has(hostName);
    } catch {
      // Not every system has one.
      return false;
    }
  }
}

function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const [, ...listed] = line.replace(/#.*/, "").trim().split(/\s+/);
    for (const name of listed) names.add(name.replace(/\.$/, "").toLowerCase());
  }
  return names;
}

function systemPath(): string {
  const { SystemRoot = "C:\\Windows" } = process.env;
  return process.platform === "win32" ? path.join(SystemRoot, "System32/drivers/etc/hosts") : "/etc/hosts";
}
