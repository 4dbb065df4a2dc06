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

/** Bundles files of the library, named as below src/ and without their ending, into a folder. */
export async function bundle(names, dir) {
  await write({ input: inputs(names) }, dir, {
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // With what they import: the model alone, the parser, which runs anywhere, and the rest of what the package loads at once.
    codeSplitting: {
      groups: [
        { name: "model", test: /\/src\/model\//, priority: 3 },
        { name: "parser", test: /\/src\/parse\//, priority: 2 },
        { name: "library", test: /\/src\/index\.ts$/, priority: 1 },
      ],
    },
  });
}

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
    // How long plugins take is no news to whoever runs `npm start`.
    checks: { bundlerTimings: false },
    tsconfig: path.join(root, "tsconfig.build.json"),
    transform: { target: "es2023", ...transform },
    ...options,
  });
  const written = await build.write({ dir, ...output });
  await build.close();
  return written.output;
}

/** Whatever is imported and is not ours has to be there where the package is installed. */
export function isExternal(id) {
  if (id.startsWith(".") || path.isAbsolute(id)) return false;
  const name = id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");
  if (isBuiltin(id) || installed.has(name)) return true;
  throw new Error(`${id} is imported, and ${name} is not a dependency of the package`);
}
