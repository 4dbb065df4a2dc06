// Bundles files of src/ with rolldown: as few modules as can be, because Node.js takes longer to find and link a module than to run it.
// What is loaded on demand stays a module of its own. The maps lead back to src/.
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));

/** Small packages that become part of the bundle: finding and linking them takes Node.js 40 ms. */
export const inlined = ["commander", "entities", "ipaddr.js", "smol-toml"];

/** Bundles files of the library, named as below src/ and without their ending, into a folder. */
export async function bundle(names, dir) {
  await write({ input: inputs(names), plugins: [withoutChildProcesses] }, dir, {
    format: "esm",
    // V8 keeps the source in memory, with two bytes for each character if one of them is not in Latin-1.
    charset: "ascii",
    comments: { jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Each with what it imports: the parser, which runs anywhere, with its part of the model; the rest of the model; what the package loads at once; what every document needs;
    // what a crawl needs; what `ls` shares with other entry points; the program; and `ls`. No entry point but the program may need the
    // last two. main.ts is in no group: it awaits the program, so they would wait for each other.
    codeSplitting: {
      groups: Object.entries({
        parser: "parse/",
        model: "model/",
        library: "(?:index|crawl/time-budget)\\.ts$",
        storage: "storage/",
        open: "(?:open/open-document|discover/(?:html-tags|homepage-links))\\.ts$",
        crawl: "(?:crawl/engine|fetch/fetcher)\\.ts$",
        output:
          "(?:write/(?:printable|csv|pages|sitemaps|trees)|check/folder-files|diff/(?:summarize|archive-magic))\\.ts$",
        program: "cli/(?:program|context)\\.ts$",
        ls: "cli/commands/ls\\.ts$",
      }).map(([name, files], at) => ({ name, test: new RegExp(`/src/${files}`), priority: 10 - at })),
    },
  });
}

// Commander starts subcommands that are programs of their own, which we have none of: loading node:child_process takes half a megabyte.
const withoutChildProcesses = {
  name: "without-child-processes",
  transform: (code, id) =>
    /[\\/]commander[\\/]/.test(id) ? code.replace("require('node:child_process')", "{}") : null,
};

/** Bundles the types of the same files. */
export async function bundleTypes(names, dir) {
  const tsconfig = path.join(root, "tsconfig.build.json");
  // Each file declares its types without the others: no compiler is needed.
  const plugins = [dts({ emitDtsOnly: true, oxc: {}, tsconfig, sourcemap: false })];
  // Packages that only some install must not be imported for their side effects.
  const treeshake = { moduleSideEffects: false };
  return write({ input: inputs(names), plugins, treeshake }, dir, {
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
  });
}

/** Files below src/, named without their ending, as rolldown takes them. */
export function inputs(names) {
  return Object.fromEntries(names.map((name) => [name, path.join(root, `src/${name}.ts`)]));
}

/** Bundles, with what all bundles have in common. Gives the modules that were written, those that were asked for first. */
export async function write({ transform, ...options }, dir, output) {
  const build = await rolldown({
    cwd: root,
    platform: "node",
    external: isExternal,
    // Neither is news to whoever runs `npm start`: how long plugins take, and modules that are loaded on demand by some importers only.
    checks: { bundlerTimings: false, ineffectiveDynamicImport: false },
    tsconfig: path.join(root, "tsconfig.build.json"),
    transform: { target: "es2023", ...transform },
    ...options,
  });
  const written = await build.write({ dir, ...output });
  await build.close();
  return written.output;
}

/** Whatever is imported, not ours and not inlined has to be there where the package is installed. */
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
