// Bundles files of src/ with rolldown into as few modules as possible, because Node.js takes longer to find and link a module than to run
// it. Code that is loaded on demand stays in separate modules.
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));

/** These small packages become part of the bundle, which saves Node.js 40 ms for finding and linking them. */
export const inlined = ["commander", "entities", "ipaddr.js", "smol-toml"];

/** Bundles files of src/ into a folder. `names` are paths below src/, without the extension. */
export async function bundle(names, dir) {
  await write({ input: inputs(names), plugins: [withoutChildProcesses] }, dir, {
    format: "esm",
    // V8 keeps the source in memory, and needs two bytes per character if a single one is outside of Latin-1.
    charset: "ascii",
    comments: { jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // A group contains the matching files and everything they import that no earlier group has. The parser comes first, because it also
    // runs outside of Node.js. No entry point except the program may need the last two groups. main.ts is in no group: it awaits the
    // import of the program, so in one module they would wait for each other.
    codeSplitting: {
      groups: Object.entries({
        parser: "parse/",
        model: "model/",
        library: "(?:index|crawl/time-budget)\\.ts$",
        storage: "storage/",
        open: "(?:open/open-document|discover/(?:html-tags|homepage-links))\\.ts$",
        crawl: "(?:crawl/engine|fetch/fetcher)\\.ts$",
        output:
          "(?:write/(?:printable|csv|pages|sitemaps|trees)|check/folder/folder-files|diff/(?:summarize|archive-magic))\\.ts$",
        program: "cli/(?:program|context)\\.ts$",
        ls: "cli/commands/ls\\.ts$",
      }).map(([name, files], at) => ({ name, test: new RegExp(`/src/${files}`), priority: 10 - at })),
    },
  });
}

// Commander can start subcommands as separate programs. We have none, and loading node:child_process takes half a megabyte.
const withoutChildProcesses = {
  name: "without-child-processes",
  transform: (code, id) =>
    /[\\/]commander[\\/]/.test(id) ? code.replace("require('node:child_process')", "{}") : null,
};

/** Bundles the types of the same files. */
export async function bundleTypes(names, dir) {
  const tsconfig = path.join(root, "tsconfig.build.json");
  // The types of each file can be derived without the other files (isolatedDeclarations), so no compiler is needed.
  const plugins = [dts({ emitDtsOnly: true, oxc: {}, tsconfig, sourcemap: false })];
  // Removes imports without names, because optional packages may not be installed.
  const treeshake = { moduleSideEffects: false };
  return write({ input: inputs(names), plugins, treeshake }, dir, {
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
  });
}

/** Converts paths below src/, without the extension, to the input of rolldown. */
export function inputs(names) {
  return Object.fromEntries(names.map((name) => [name, path.join(root, `src/${name}.ts`)]));
}

/** Bundles with the settings that all bundles share. Returns the modules that were written, with the entry points first. */
export async function write({ transform, ...options }, dir, output) {
  const build = await rolldown({
    cwd: root,
    platform: "node",
    external: isExternal,
    // Turns off warnings about the time that plugins take, and about modules that only some importers load on demand.
    checks: { bundlerTimings: false, ineffectiveDynamicImport: false },
    tsconfig: path.join(root, "tsconfig.build.json"),
    transform: { target: "es2023", ...transform },
    ...options,
  });
  const written = await build.write({ dir, ...output });
  await build.close();
  return written.output;
}

/** Whether an import stays an import. Throws an error if the package is neither a dependency nor inlined. */
export function isExternal(id) {
  if (id.startsWith(".") || path.isAbsolute(id)) return false;
  const name = id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");
  if (isBuiltin(id) || installed.has(name)) return true;
  if (inlined.includes(name)) return false;
  throw new Error(`${id} is imported, and ${name} is not a dependency of the package`);
}
