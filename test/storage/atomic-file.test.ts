import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { AtomicFile, AtomicFolder } from "../../src/storage/atomic-file.ts";
import { smallDisk } from "../support/small-disk.ts";
import { testFolder } from "../support/test-folder.ts";

const inFolder = testFolder();
const textOf = (name: string) => readFileSync(inFolder(name), "utf8");
const namesIn = (name = "") => readdirSync(inFolder(name));
const failure = (code: string) => expect.objectContaining({ code });

describe("a file", () => {
  test("appears when it is committed, not before", () => {
    const file = new AtomicFile(inFolder("urls.txt"));
    file.write("one\n");
    file.write(Buffer.from("two\n"));
    expect(existsSync(inFolder("urls.txt"))).toBe(false);
    file.commit();
    expect(textOf("urls.txt")).toBe("one\ntwo\n");
    expect(namesIn()).toEqual(["urls.txt"]);
  });

  test("leaves nothing behind if it is discarded", () => {
    const file = new AtomicFile(inFolder("urls.txt"));
    file.write("one\n");
    file.discard();
    file.commit();
    expect(namesIn()).toEqual([]);
    expect(() => file.write("two\n")).toThrow("closed");
  });

  test("stays in place if it is discarded after it was committed", () => {
    const file = new AtomicFile(inFolder("urls.txt"));
    file.commit();
    file.discard();
    expect(namesIn()).toEqual(["urls.txt"]);
  });

  test("replaces another file only if that is allowed, and keeps its permissions", () => {
    writeFileSync(inFolder("urls.txt"), "old");
    chmodSync(inFolder("urls.txt"), 0o640);
    expect(() => new AtomicFile(inFolder("urls.txt"))).toThrow(failure("EEXIST"));
    const file = new AtomicFile(inFolder("urls.txt"), { overwrite: true });
    expect(file.isNew).toBe(false);
    file.write("new");
    expect(textOf("urls.txt")).toBe("old");
    file.commit();
    expect(textOf("urls.txt")).toBe("new");
    expect(statSync(inFolder("urls.txt")).mode & 0o777).toBe(0o640);
  });

  test("does not replace a file that another process created meanwhile", () => {
    const file = new AtomicFile(inFolder("urls.txt"));
    writeFileSync(inFolder("urls.txt"), "theirs");
    expect(() => file.commit()).toThrow(failure("EEXIST"));
    expect(textOf("urls.txt")).toBe("theirs");
    expect(namesIn()).toEqual(["urls.txt"]);
  });

  test("replaces the file behind a symbolic link, and keeps the link", () => {
    mkdirSync(inFolder("elsewhere"));
    writeFileSync(inFolder("elsewhere/real.txt"), "old");
    symlinkSync("elsewhere/real.txt", inFolder("link.txt"));
    const file = new AtomicFile(inFolder("link.txt"), { overwrite: true });
    file.write("new");
    file.commit();
    expect(lstatSync(inFolder("link.txt")).isSymbolicLink()).toBe(true);
    expect(textOf("elsewhere/real.txt")).toBe("new");
  });

  test("may be created by other code, with the same file extension", () => {
    const file = new AtomicFile(inFolder("site.warc.gz"), { open: false });
    expect(file.path).toMatch(/\.warc\.gz$/);
    writeFileSync(file.path, "content", { flag: "wx" });
    file.commit();
    expect(textOf("site.warc.gz")).toBe("content");
  });

  test("may have the longest name that a file can have", () => {
    const name = `${"é".repeat(120)}.txt`;
    const file = new AtomicFile(inFolder(name));
    file.commit();
    expect(namesIn()).toEqual([name]);
  });

  test("cannot replace a folder, or be created in a missing one", () => {
    mkdirSync(inFolder("folder"));
    expect(() => new AtomicFile(inFolder("folder"), { overwrite: true })).toThrow(failure("EISDIR"));
    expect(() => new AtomicFile(inFolder("none/urls.txt"))).toThrow(failure("ENOENT"));
  });

  test("is written directly if it is a device, which stays a device", () => {
    const file = new AtomicFile("/dev/null");
    expect(file.isDirect).toBe(true);
    file.write("gone");
    file.commit();
    file.discard();
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  test("is written directly if it is a pipe", async () => {
    execFileSync("mkfifo", [inFolder("pipe")]);
    const reader = spawn("cat", [inFolder("pipe")], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    reader.stdout.on("data", (piece) => {
      text += piece;
    });
    const file = new AtomicFile(inFolder("pipe"));
    file.write("through the pipe\n");
    file.commit();
    await once(reader, "close");
    expect(text).toBe("through the pipe\n");
    expect(namesIn()).toEqual(["pipe"]);
  });

  test("is unchanged after the disk was full, which is an error", ({ skip }) => {
    const disk = smallDisk(64);
    if (disk === undefined) return skip();
    try {
      const target = path.join(disk.path, "urls.txt");
      writeFileSync(target, "old");
      const file = new AtomicFile(target, { overwrite: true });
      expect(() => file.write(Buffer.alloc(200_000))).toThrow(failure("ENOSPC"));
      file.discard();
      expect(readdirSync(disk.path)).toEqual(["urls.txt"]);
      expect(readFileSync(target, "utf8")).toBe("old");
    } finally {
      disk.remove();
    }
  });
});

describe("a folder", () => {
  const names = ["pages.parquet", "sitemaps.parquet"];
  const write = (folder: { path: string }, content: string) => {
    for (const name of names) writeFileSync(path.join(folder.path, name), content);
  };
  /** A folder with old files, and another one with new files to replace it. */
  const replacing = (name: string) => {
    mkdirSync(inFolder(name));
    write({ path: inFolder(name) }, "old");
    const folder = new AtomicFolder(inFolder("set"), names, { overwrite: true });
    write(folder, "new");
    return folder;
  };

  test("appears together with all its files", () => {
    const folder = new AtomicFolder(inFolder("a/b/set"), names);
    write(folder, "new");
    expect(existsSync(inFolder("a/b/set"))).toBe(false);
    folder.commit();
    folder.discard();
    expect(namesIn("a/b")).toEqual(["set"]);
    expect(namesIn("a/b/set")).toEqual(names);
  });

  test("leaves nothing behind if it is discarded, not even the folders above it", () => {
    const folder = new AtomicFolder(inFolder("a/b/set"), names);
    write(folder, "new");
    folder.discard();
    expect(namesIn()).toEqual([]);
  });

  test("replaces an empty folder", () => {
    mkdirSync(inFolder("set"));
    const folder = new AtomicFolder(inFolder("set"), names);
    write(folder, "new");
    folder.commit();
    expect(namesIn("set")).toEqual(names);
    expect(namesIn()).toEqual(["set"]);
  });

  test("replaces its own files only if that is allowed", () => {
    const folder = replacing("set");
    expect(() => new AtomicFolder(inFolder("set"), names)).toThrow(failure("EEXIST"));
    expect(textOf("set/pages.parquet")).toBe("old");
    folder.commit();
    expect(textOf("set/pages.parquet")).toBe("new");
    expect(namesIn()).toEqual(["set"]);
  });

  // Skips the nth rename and everything after it.
  function killedAtRename(nth: number, work: () => void): void {
    const { renameSync, rmSync, existsSync } = fs;
    const killed = () => {
      throw new Error("killed");
    };
    let left = nth;
    fs.renameSync = (from, to) => {
      left -= 1;
      if (left > 0) return renameSync(from, to);
      Object.assign(fs, { renameSync: killed, rmSync: killed, existsSync: killed });
      return killed();
    };
    try {
      expect(work).toThrow("killed");
    } finally {
      Object.assign(fs, { renameSync, rmSync, existsSync });
    }
  }

  test.each([1, 2])("is recovered by the next run if the process was killed at rename %i while replacing it", (nth) => {
    const folder = replacing("set");
    killedAtRename(nth, () => folder.commit());
    expect(() => new AtomicFolder(inFolder("set"), names)).toThrow(failure("EEXIST"));
    expect(textOf("set/pages.parquet")).toBe("old");
    const next = new AtomicFolder(inFolder("set"), names, { overwrite: true });
    expect(next.isNew).toBe(false);
    write(next, "newer");
    next.commit();
    expect(textOf("set/pages.parquet")).toBe("newer");
    expect(readdirSync(inFolder()).filter((name) => !name.startsWith(".partial-"))).toEqual(["set"]);
  });

  test("is recovered, too, if it is the target of a symbolic link", () => {
    symlinkSync("real", inFolder("set"));
    const folder = replacing("real");
    killedAtRename(2, () => folder.commit());
    expect(() => new AtomicFolder(inFolder("set"), names)).toThrow(failure("EEXIST"));
    expect(textOf("set/pages.parquet")).toBe("old");
  });

  test("never replaces a folder that has other files", () => {
    mkdirSync(inFolder("set"));
    writeFileSync(inFolder("set/thesis.tex"), "years of work");
    expect(() => new AtomicFolder(inFolder("set"), names, { overwrite: true })).toThrow(failure("ENOTEMPTY"));
    rmSync(inFolder("set/thesis.tex"));
    const folder = new AtomicFolder(inFolder("set"), names, { overwrite: true });
    writeFileSync(inFolder("set/thesis.tex"), "years of work");
    write(folder, "new");
    expect(() => folder.commit()).toThrow(failure("ENOTEMPTY"));
    expect(textOf("set/thesis.tex")).toBe("years of work");
    expect(namesIn()).toEqual(["set"]);
  });
});
