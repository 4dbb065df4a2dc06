// Who may import whom: the table in docs/inside/how-it-works.md is the rule.
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { expect, test } from "vitest";

// Packages besides those of Node.js. The parser and the model run anywhere, so they do not even use Node.js.
const mayImportPackages: Record<string, readonly string[]> = {
  model: ["entities"],
  fetch: ["ipaddr.js"],
  crawl: ["tldts"],
  write: ["hyparquet-writer"],
  // Optional: loaded when somebody asks for a queue or a bucket.
  fleet: ["@aws-sdk/client-s3", "@aws-sdk/lib-storage", "bullmq", "ioredis"],
  check: ["ipaddr.js", "smol-toml"],
  // The SDK is optional: loaded by `sitegrove mcp`.
  cli: ["commander", "@modelcontextprotocol/server"],
};

const src = path.join(import.meta.dirname, "../src");
// The public entry point, src/index.ts, may import everything.
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && file.includes("/"),
);
const folderOf = (file: string) => /^([^/]+)\//.exec(file)?.[1] ?? "";
const imports = /^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;
const importsOf = (file: string) =>
  Array.from(readFileSync(path.join(src, file), "utf8").matchAll(imports), ([, name, loaded]) => name ?? loaded ?? "");
const folders = [...new Set(files.map(folderOf))];
const howItWorks = readFileSync(path.join(src, "../docs/inside/how-it-works.md"), "utf8");
const words = (cell = ""): readonly string[] => cell.replace("the model", "model").match(/[a-z]+/g) ?? [];
const [, table = ""] = howItWorks.split("| folder | may import |\n|---|---|\n");
const mayImport: Record<string, readonly string[]> = {};
for (const [, own, others = ""] of table.split("\n\n", 1)[0]!.matchAll(/^\| (.*) \| (.*) \|$/gm)) {
  const named = words(others.replace(/; never .*/, ""));
  const isBut = others.startsWith("anything but");
  const allowed = isBut ? folders.filter((folder) => !named.includes(folder)) : named;
  for (const folder of words(own)) mayImport[folder] = allowed;
}

test("every folder has a row in the table", () => {
  expect(Object.keys(mayImport).sort()).toEqual([...folders].sort());
});

test.each(folders)("%s/ imports only the folders and packages that the table allows", (own) => {
  const runsAnywhere = own === "parse" || own === "model";
  const packageOf = (name: string) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
  const isAllowed = ({ file, name }: { file: string; name: string }) => {
    if (!name.startsWith("."))
      return (!runsAnywhere && isBuiltin(name)) || mayImportPackages[own]?.includes(packageOf(name));
    const folder = folderOf(path.join(path.dirname(file), name));
    return folder === own || mayImport[own]?.includes(folder);
  };
  const imported = files
    .filter((file) => folderOf(file) === own)
    .flatMap((file) => importsOf(file).map((name) => ({ file, name })));
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.filter((each) => !isAllowed(each))).toEqual([]);
});

// Type imports count, too: what two files share must be in a file below both.
test("no file imports itself, not even through other files", () => {
  const imported = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((name) => name.startsWith("."))
        .map((name) => path.join(path.dirname(file), name)),
    ]),
  );
  const reaches = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of imported.get(from) ?? []) if (!seen.has(next)) reaches(next, seen.add(next));
    return seen;
  };
  expect(files.filter((file) => reaches(file).has(file))).toEqual([]);
});

test("every package in the table is a dependency, or is bundled by the build", () => {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(path.join(src, "../package.json"), "utf8"),
  );
  const build = readFileSync(path.join(src, "../scripts/bundle.mjs"), "utf8");
  const inlined = JSON.parse(/inlined = (\[.*\])/.exec(build)?.[1] ?? "[]") as string[];
  const installed = [...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), ...inlined];
  expect([...new Set(Object.values(mayImportPackages).flat())].sort()).toEqual(installed.sort());
});
