// Processes that end badly: what was acknowledged is in the archive, and temporary files do not stay.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ModuleKind, ScriptTarget, transpileModule } from "typescript";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createStore, openArchive } from "../../src/store/store.ts";
import { sweepTemporaryDirectories } from "../../src/store/temporary-directory.ts";
import { contentAt } from "./child.ts";
import { bytesOf, documentAt } from "./exchanges.ts";

let directory: string;
let temporary: string;
let script: string;
beforeAll(async () => {
  script = await compileChild(await mkdtemp(path.join(tmpdir(), "store-child-")));
});
afterAll(() => rm(path.join(script, "../../.."), { recursive: true }));
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "store-killed-"));
  temporary = path.join(directory, "tmp");
  await mkdir(temporary);
  // os.tmpdir() reads it each time.
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

/** As JavaScript it starts ten times as fast, and it is started often. */
async function compileChild(target: string): Promise<string> {
  const root = path.join(import.meta.dirname, "../..");
  await writeFile(path.join(target, "package.json"), '{ "type": "module" }');
  for (const folder of ["src", "src/problems", "src/store", "test/store"]) {
    await mkdir(path.join(target, folder), { recursive: true });
    for (const file of (await readdir(path.join(root, folder))).filter((name) => /^[a-z0-9-]+\.ts$/.test(name))) {
      const { outputText } = transpileModule(await readFile(path.join(root, folder, file), "utf8"), {
        compilerOptions: {
          module: ModuleKind.ESNext,
          target: ScriptTarget.ES2022,
          rewriteRelativeImportExtensions: true,
          verbatimModuleSyntax: true,
        },
      });
      await writeFile(path.join(target, folder, file.replace(/ts$/, "js")), outputText);
    }
  }
  return path.join(target, "test/store/child.js");
}

const info = { homepage: "https://example.org/", settings: {} };
const leftovers = async () => (await readdir(temporary)).filter((name) => name.startsWith("sitegrove-"));

interface Child {
  readonly process: ChildProcess;
  /** Whole lines only: half a line was not said. */
  lines(): string[];
  readonly ended: Promise<unknown>;
}

function start(mode: string, save = "", fileLimit?: number): Child {
  const command = [process.execPath, script, mode, save];
  const [name, ...args] =
    fileLimit === undefined ? command : ["bash", "-c", `ulimit -f ${fileLimit}; exec "$@"`, "bash", ...command];
  const child = spawn(name!, args, { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  return { process: child, lines: () => output.split("\n").slice(0, -1), ended: once(child, "close") };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("an archive whose process was killed", () => {
  test("opens, and holds everything that was acknowledged", { timeout: 120_000 }, async () => {
    const killAt = async (run: number) => {
      const save = path.join(directory, `${run}.warc${run % 3 === 0 ? ".gz" : ""}`);
      const child = start("wait", save);
      // Between the first document and nearly the last, and at no tidy moment.
      await until(() => child.lines().length > run * 4 || child.process.exitCode !== null);
      await new Promise((resolve) => setTimeout(resolve, run % 4));
      child.process.kill("SIGKILL");
      await child.ended;
      expect(child.process.signalCode).toBe("SIGKILL");
      const acknowledged = child.lines().slice(1).map(Number);
      const archive = await openArchive(save);
      expect(archive.info).toEqual(info);
      expect(archive.finished).toBe(false);
      for (const index of acknowledged) {
        const fetched = await archive.fetch({ url: `https://example.org/${index}.xml`, role: "sitemap" });
        if (fetched.outcome !== "found") throw new Error(`${index} was acknowledged, but is ${fetched.outcome}`);
        expect((await bytesOf(fetched.body)).equals(contentAt(index))).toBe(true);
        expect(fetched.body.problem).toBeUndefined();
      }
      // What was not acknowledged is whole, or not there.
      expect(archive.urls.length).toBeGreaterThanOrEqual(acknowledged.length);
      await archive.close();
      await rm(save);
    };
    const runs = Array.from({ length: 24 }, (_, run) => run);
    const worker = async () => {
      for (let run = runs.shift(); run !== undefined; run = runs.shift()) await killAt(run);
    };
    await Promise.all([worker(), worker(), worker()]);
  });
});

test("a full disk rejects with the error of the file system, and the archive is whole up to there", async () => {
  const save = path.join(directory, "site.warc");
  // 1.5 MB for any one file. Node.js ignores the signal, so that writing fails as on a full disk.
  const child = start("crawl", save, 1500);
  await child.ended;
  expect(child.lines().at(-1)).toBe("error EFBIG");
  const acknowledged = child.lines().slice(1, -1);
  const archive = await openArchive(save);
  expect(archive.truncated).toBe(false);
  expect(archive.urls).toHaveLength(acknowledged.length);
  await archive.close();
  expect(await leftovers()).toEqual([]);
});

describe("temporary files", () => {
  test("are private, and gone when the store is closed", async () => {
    const store = await createStore({ kind: "file", info });
    await store.keep(documentAt("https://example.org/a.xml", "secret"));
    const [name = ""] = await leftovers();
    expect(name).toMatch(new RegExp(`^sitegrove-${process.pid}-`));
    expect((await lstat(path.join(temporary, name))).mode & 0o777).toBe(0o700);
    const [file = ""] = await readdir(path.join(temporary, name));
    expect((await lstat(path.join(temporary, name, file))).mode & 0o777).toBe(0o600);
    await store.close();
    expect(await leftovers()).toEqual([]);
  });

  test("are not needed for a small website, and are for a large one", async () => {
    const store = await createStore({ kind: "auto", info });
    await store.keep(documentAt("https://example.org/a.xml", Buffer.alloc(4_000_000)));
    expect(await leftovers()).toEqual([]);
    await store.keep(documentAt("https://example.org/b.xml", Buffer.alloc(8_000_000)));
    expect(await leftovers()).toHaveLength(1);
    await store.close();
    expect(await leftovers()).toEqual([]);
  });

  test("of a compressed archive are gone when it is closed, or cannot be opened", async () => {
    const store = await createStore({ kind: "memory", info });
    await store.save(path.join(directory, "site.warc.gz"));
    await store.close();
    const archive = await openArchive(path.join(directory, "site.warc.gz"));
    expect(await leftovers()).toHaveLength(1);
    await archive.close();
    const bytes = await readFile(path.join(directory, "site.warc.gz"));
    await writeFile(path.join(directory, "cut.warc.gz"), bytes.subarray(0, 50));
    await expect(openArchive(path.join(directory, "cut.warc.gz"))).rejects.toMatchObject({ code: "invalid-archive" });
    expect(await leftovers()).toEqual([]);
  });

  test.each(["exit", "throw"])("do not stay when the process ends without closing: %s", async (mode) => {
    const child = start(mode);
    await child.ended;
    expect(child.lines()).toHaveLength(121);
    expect(await leftovers()).toEqual([]);
  });

  test("of a killed process are swept by a later one, those of a running one are not", async () => {
    const [running, killed] = [start("wait"), start("wait")];
    await until(() => [running, killed].every((child) => child.lines().length > 10));
    expect(await leftovers()).toHaveLength(2);
    killed.process.kill("SIGKILL");
    await killed.ended;
    // Just made: it may belong to a process that cannot be seen from here.
    await start("exit").ended;
    expect(await leftovers()).toHaveLength(2);
    for (const name of await leftovers()) await utimes(path.join(temporary, name), 0, 0);
    await start("exit").ended;
    const left = await leftovers();
    expect(left).toHaveLength(1);
    expect(left[0]).toContain(`-${running.process.pid}-`);
    running.process.kill("SIGKILL");
    await running.ended;
  });

  test("that are not ours are never touched", async () => {
    const dead = 2 ** 22 + 1;
    const elsewhere = path.join(directory, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(path.join(elsewhere, "documents"), "mine");
    await symlink(elsewhere, path.join(temporary, `sitegrove-${dead}-aaaaaa`));
    await writeFile(path.join(temporary, `sitegrove-${dead}-bbbbbb`), "a file");
    await mkdir(path.join(temporary, `sitegrove-${dead}-cccccc-more`));
    const withMore = path.join(temporary, `sitegrove-${dead}-dddddd`);
    await mkdir(withMore);
    await writeFile(path.join(withMore, "thesis.txt"), "mine");
    const own = path.join(temporary, `sitegrove-${dead}-eeeeee`);
    await mkdir(own);
    await symlink(path.join(elsewhere, "documents"), path.join(own, "documents"));
    await utimes(own, 0, 0);
    await sweepTemporaryDirectories(Date.now() + 10_000);
    expect(await leftovers()).toEqual([
      `sitegrove-${dead}-aaaaaa`,
      `sitegrove-${dead}-bbbbbb`,
      `sitegrove-${dead}-cccccc-more`,
      `sitegrove-${dead}-dddddd`,
    ]);
    expect(await readFile(path.join(elsewhere, "documents"), "utf8")).toBe("mine");
    expect(await readdir(withMore)).toEqual(["thesis.txt"]);
  });
});
