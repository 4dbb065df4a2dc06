// The types of every entry point, as strict projects compile them, without the optional packages: with the TypeScript that is installed, and
// in the long run with every version that people use, installed by npm.
// Needs processes, more than a second; in the long run, npm.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";

const root = path.join(import.meta.dirname, "../..");
const project = newFolder();
const { exports: entryPoints } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const names = Object.keys(entryPoints).filter((name) => entryPoints[name].types !== undefined);

const versions = isLong ? ["5.9", "6.0", "7.0"] : ["installed"];
const folderOf = (version: string) =>
  version === "installed"
    ? path.join(root, "node_modules/typescript")
    : path.join(project, `node_modules/ts-${version}`);

beforeAll(() => {
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }');
  if (isLong) {
    const aliases = versions.map((version) => `ts-${version}@npm:typescript@~${version}.0`);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...aliases], { cwd: project });
  }
  const installed = path.join(project, "node_modules/sitegrove");
  mkdirSync(path.join(project, "node_modules/@types"), { recursive: true });
  for (const name of ["dist", "package.json"])
    cpSync(path.join(root, name), path.join(installed, name), { recursive: true });
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(path.join(root, "node_modules", name), path.join(project, "node_modules", name));
  const imports = names.map(
    (name, at) => `import * as entry${at} from ${JSON.stringify(path.posix.join("sitegrove", name))};`,
  );
  const uses = names.map((_, at) => `void entry${at};`);
  writeFileSync(path.join(project, "entries.ts"), `${[...imports, ...uses].join("\n")}\n`);
  writeFileSync(
    path.join(project, "undefined.ts"),
    `import { streamPages } from "sitegrove";
import { type BullQueue, JournalQueue, runFleet } from "sitegrove/fleet";
declare const number: number | undefined;
declare const bull: BullQueue;
const limits = { pages: number, time: number };
export const pages = streamPages("https://example.org/", { limits, timeout: { total: number }, concurrency: { perHost: number } });
export const fleet = runFleet({
  queue: await JournalQueue.open("out", { retry: undefined }),
  sites: [{ key: "a", homepage: "https://example.org/" }],
  limits, delay: { milliseconds: number }, tls: { verify: undefined },
  parallelSites: number,
});
export const shared = runFleet({ queue: bull });
for await (const { site, pages: count } of (await fleet).results) console.log(site, count);
`,
  );
});

test.each(versions)("TypeScript, %s, compiles every entry point without skipLibCheck", (version) => {
  const flags = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--noEmit", "--types", "node"];
  const target = ["--target", "es2022", "--lib", "es2023,esnext.disposable", "--module", "nodenext"];
  const compiler = path.join(folderOf(version), "bin/tsc");
  const words = [compiler, ...flags, ...target, "entries.ts", "undefined.ts"];
  const { stdout, status } = spawnSync(process.execPath, words, { cwd: project, encoding: "utf8" });
  expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
});
