// The cache of compiled code: it is used, it is never needed, and nobody else's code is run.
// Needs processes.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isLong, some } from "../support/long.ts";
import { type RunOptions, sitegroveProcess } from "./program.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-code-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const words = ["parse", "-", "-f", "pages"];
const input = "https://example.org/a\nhttps://example.org/b\n";
const expected = { code: 0, stdout: input, stderr: "" };

// Says which code of the cache was taken and which was refused.
const watch = `import vm from "node:vm";
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    process.on("exit", () => process._rawDebug(options.cachedData === undefined ? "compiled" : this.cachedDataRejected ? "refused" : "taken"));
  }
};`;
const watched = ["--import", `data:text/javascript,${encodeURIComponent(watch)}`];

async function codeOf(cache: string, options: RunOptions = {}): Promise<string[]> {
  const env = { XDG_CACHE_HOME: cache, ...options.env };
  const { code, stdout, stderr } = await sitegroveProcess(words, { input, node: watched, ...options, env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: input });
  return [...new Set(stderr.trim().split("\n"))];
}

const filled = path.join(folder, "filled");
beforeAll(async () => {
  expect(await codeOf(filled)).toEqual(["compiled"]);
});

function copy(name: string, change: (file: string) => void = () => {}): string {
  const cache = path.join(folder, name);
  mkdirSync(path.join(cache, "sitegrove"), { recursive: true, mode: 0o700 });
  for (const each of readdirSync(path.join(filled, "sitegrove"))) {
    const file = path.join(cache, "sitegrove", each);
    copyFileSync(path.join(filled, "sitegrove", each), file);
    change(file);
  }
  return cache;
}

test("what one run compiled is used by the next one, though a run sets flags of the engine", async () => {
  const names = readdirSync(path.join(filled, "sitegrove"));
  expect(names.join(" ")).toMatch(/\bprogram-[\w-]+\.cjs-\d+\b.*\breader-[\w-]+\.cjs-\d+\b/);
  for (const name of names) {
    const { mode, mtimeMs } = statSync(path.join(filled, "sitegrove", name));
    expect(mode & 0o077).toBe(0);
    expect(mtimeMs).toBeGreaterThan(0);
  }
  expect(await codeOf(filled)).toEqual(["taken"]);
  expect(readdirSync(path.join(filled, "sitegrove"))).toEqual(names);
});

test("other flags of the engine have code of their own", async () => {
  const cache = copy("flags");
  const options = { node: [...watched, "--max-lazy"] };
  expect(await codeOf(cache, options)).toEqual(["compiled"]);
  if (isLong) expect(await codeOf(cache, options)).toEqual(["taken"]);
  expect(await codeOf(cache)).toEqual(["taken"]);
});

const isChanged = (file: string) => {
  const bytes = readFileSync(file);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
};
const isCutOff = (file: string) => writeFileSync(file, readFileSync(file).subarray(0, -10));
const isAlmostNothing = (file: string) => writeFileSync(file, "x");
const isEmpty = (file: string) => writeFileSync(file, "");
const isWritable = (file: string) => chmodSync(file, 0o622);
const isPipe = (file: string) => {
  rmSync(file);
  execFileSync("mkfifo", ["-m", "600", file]);
};
const isLink = (file: string) => {
  renameSync(file, `${file}.moved`);
  symlinkSync(`${file}.moved`, file);
};

// One kind of damage for each script.
test.each([
  ["changed or cut off", [isChanged, isCutOff]],
  ["almost nothing or empty", [isAlmostNothing, isEmpty]],
  ["writable by others", [isWritable]],
  ["a pipe or a link", [isPipe, isLink]],
] as [string, ((file: string) => void)[]][])("code that is %s is not used, and made again", async (name, damages) => {
  let scripts = 0;
  const cache = copy(name, (file) => damages[scripts++ % damages.length]?.(file));
  expect(scripts).toBeGreaterThanOrEqual(damages.length);
  expect(await codeOf(cache)).toEqual(["compiled"]);
  if (isLong || damages.includes(isChanged)) expect(await codeOf(cache)).toEqual(["taken"]);
});

test("code of another user is not used, and nothing is left at another user's home", async ({ skip }) => {
  if (process.getuid?.() !== 0) skip();
  expect(await codeOf(copy("another user", (file) => chownSync(file, 65_534, 65_534)))).toEqual(["compiled"]);
  const home = path.join(folder, "another home");
  mkdirSync(home);
  chownSync(home, 65_534, 65_534);
  expect(await sitegroveProcess(words, { input, env: { HOME: home, XDG_CACHE_HOME: "" } })).toEqual(expected);
  expect(readdirSync(home)).toEqual([]);
});

test("a cache that cannot be written or is turned off is no reason for a word", async () => {
  const file = path.join(folder, "file");
  writeFileSync(file, "");
  const dangling = path.join(folder, "dangling");
  symlinkSync(path.join(folder, "nowhere/at/all"), dangling);
  for (const XDG_CACHE_HOME of [file, "relative", ...(isLong ? [dangling, "/dev/full"] : [])]) {
    expect(await sitegroveProcess(words, { input, env: { XDG_CACHE_HOME } })).toEqual(expected);
  }
  expect(existsSync("relative")).toBe(false);
  const off = path.join(folder, "off");
  for (const env of [{ NODE_DISABLE_COMPILE_CACHE: "1" }, { NODE_V8_COVERAGE: path.join(folder, "coverage") }]) {
    expect(await sitegroveProcess(words, { input, env: { ...env, XDG_CACHE_HOME: off } })).toEqual(expected);
  }
  const node = ["--enable-source-maps"];
  expect(await sitegroveProcess(words, { input, node, env: { XDG_CACHE_HOME: off } })).toEqual(expected);
  expect(existsSync(off)).toBe(false);
  // In the user's home, unless another place is named; nowhere without one.
  const home = { HOME: path.join(folder, "home"), XDG_CACHE_HOME: "" };
  mkdirSync(home.HOME);
  expect(await sitegroveProcess(words, { input, env: home })).toEqual(expected);
  const place = process.platform === "darwin" ? "Library/Caches" : ".cache";
  expect(readdirSync(path.join(home.HOME, place, "sitegrove"))).not.toEqual([]);
  expect(await sitegroveProcess(words, { input, env: { HOME: "", XDG_CACHE_HOME: "" } })).toEqual(expected);
});

test("a home that is missing is not made, and one below /proc does not keep the program", async () => {
  const missing = path.join(folder, "missing");
  const homes = [
    { HOME: path.join(missing, "home"), XDG_CACHE_HOME: "" },
    { HOME: missing, XDG_CACHE_HOME: path.join(missing, "cache/deep") },
    ...(process.platform === "linux" ? [{ HOME: "/proc", XDG_CACHE_HOME: "" }] : []),
    ...(process.platform === "linux" && isLong ? [{ HOME: "", XDG_CACHE_HOME: "/proc" }] : []),
  ];
  for (const env of homes) expect(await sitegroveProcess(words, { input, env })).toEqual(expected);
  expect(existsSync(missing)).toBe(false);
});

test("many at a time fill it together; what nobody wrote for a month is removed", async () => {
  const cache = path.join(folder, "together");
  mkdirSync(path.join(cache, "sitegrove"), { recursive: true });
  const [old, young] = ["old.cjs-1", "young.cjs-1"].map((name) => path.join(cache, "sitegrove", name));
  // A folder of this name may be somebody else's.
  const other = path.join(cache, "sitegrove", "README.md");
  for (const file of [old, young, other]) writeFileSync(file as string, "");
  const month = Date.now() / 1000 - 31 * 24 * 3600;
  for (const file of [old, other]) utimesSync(file as string, month, month);
  mkdirSync(path.join(cache, "sitegrove", "folder.cjs-1.d"));
  const env = { XDG_CACHE_HOME: cache };
  const runs = await Promise.all(Array.from({ length: some(4, 2) }, () => sitegroveProcess(words, { input, env })));
  expect(runs).toEqual(runs.map(() => expected));
  const names = readdirSync(path.join(cache, "sitegrove"));
  expect(names.filter((name) => !/^[\w-]+\.cjs-\d+$/.test(name)).sort()).toEqual(["README.md", "folder.cjs-1.d"]);
  expect(names).toContain("young.cjs-1");
  expect(names).not.toContain("old.cjs-1");
  expect(await codeOf(cache)).toEqual(["taken"]);
});
