// Processes that end badly: what was acknowledged is in the archive, and temporary files do not stay.
// Needs processes, more than a second.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { write } from "../../scripts/bundle.mjs";
import { openArchive } from "../../src/archive/open.ts";
import { createStore } from "../../src/archive/store.ts";
import { isLong } from "../support/long.ts";
import { newFolder, testFolder } from "../support/test-folder.ts";
import { contentAt } from "./child.ts";
import { bytesOf, contentOf, documentAt } from "./exchanges.ts";

const inFolder = testFolder();
let script: string;
beforeAll(async () => {
  const folder = newFolder();
  // As JavaScript it starts ten times as fast, and it is started often.
  await write({ input: { child: path.join(import.meta.dirname, "child.ts") }, logLevel: "silent" }, folder, {
    format: "esm",
    entryFileNames: "[name].mjs",
  });
  script = path.join(folder, "child.mjs");
});
beforeEach(async () => {
  await mkdir(inFolder("tmp"));
  // os.tmpdir() reads it each time.
  vi.stubEnv("TMPDIR", inFolder("tmp"));
});
afterEach(() => void vi.unstubAllEnvs());

const info = { homepage: "https://example.org/", settings: {} };
const leftovers = async () => (await readdir(inFolder("tmp"))).filter((name) => name.startsWith("sitegrove-"));

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

test("an archive whose process was killed opens, and holds everything that was acknowledged", async () => {
  const killAt = async (run: number) => {
    const save = inFolder(`${run}.warc${run % 3 === 0 ? ".gz" : ""}`);
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
  // A few of them, compressed or not, and at other moments.
  const runs = isLong ? Array.from({ length: 24 }, (_, run) => run) : [0, 14];
  const worker = async () => {
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) await killAt(run);
  };
  await Promise.all([worker(), worker(), worker()]);
});

test("a full disk rejects with a sentence, and the archive is whole up to there", async () => {
  const save = inFolder("site.warc");
  // 1.5 MB for any one file. Node.js ignores the signal, so that writing fails as on a full disk.
  const child = start("crawl", save, 1500);
  await child.ended;
  expect(child.lines().at(-1)).toBe(`error storage-failed EFBIG ${save} could not be written: file too large`);
  const acknowledged = child.lines().slice(1, -1);
  const archive = await openArchive(save);
  expect(archive.truncated).toBe(false);
  expect(archive.urls).toHaveLength(acknowledged.length);
  await archive.close();
  expect(await leftovers()).toEqual([]);
});

test("temporary files have no name: nobody can open them, and nothing can leave them behind", async () => {
  const store = await createStore({ kind: "file", info });
  await store.keep(documentAt("https://example.org/a.xml", "secret"));
  await store.save(inFolder("site.warc.gz"));
  const archive = await openArchive(inFolder("site.warc.gz"));
  expect(await leftovers()).toEqual([]);
  for (const source of [store, archive]) {
    const fetched = await source.fetch({ url: "https://example.org/a.xml", role: "sitemap" });
    expect(await contentOf(fetched)).toMatchObject({ body: { bytes: "secret" } });
    await source.close();
  }
});

test.each(isLong ? ["exit", "throw", "wait"] : ["throw"])(
  "temporary files do not stay when the process ends without closing: %s",
  async (mode) => {
    const child = start(mode);
    await until(() => child.lines().length === 121);
    if (mode === "wait") child.process.kill("SIGKILL");
    await child.ended;
    expect(await leftovers()).toEqual([]);
  },
);
