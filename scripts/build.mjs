// Builds dist/ from src/: the types with tsc, file by file; the code with rolldown, as few modules as can be, because Node.js takes
// longer to find and link a module than to run it. What is loaded on demand stays a module of its own. The maps lead back to src/.
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
const entries = ["index", "cli/main", "parse/parse-sitemap"];

/** Bundles files below src/, named without their ending, into a folder. */
export async function bundle(names, dir) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: "node",
    external: isExternal,
    tsconfig: path.join(root, "tsconfig.build.json"),
    transform: { target: "es2023" },
  });
  await build.write({
    dir,
    format: "esm",
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      // With what they import: the model alone, the parser, which runs anywhere, and the rest of what the package loads at once.
      groups: [
        { name: "model", test: /\/src\/(?!index\.ts$)(?:[^/]+|(?:options|problems)\/[^/]+)$/, priority: 3 },
        { name: "parser", test: /\/src\/parse\//, priority: 2 },
        { name: "library", test: /\/src\/index\.ts$/, priority: 1 },
      ],
    },
  });
  await build.close();
}

// Whatever is imported and is not ours has to be there where the package is installed.
function isExternal(id) {
  if (id.startsWith(".") || path.isAbsolute(id)) return false;
  const name = id
    .split("/")
    .slice(0, id.startsWith("@") ? 2 : 1)
    .join("/");
  if (isBuiltin(id) || installed.has(name)) return true;
  throw new Error(`${id} is imported, and ${name} is not a dependency of the package`);
}

function writeTypes() {
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve("@typescript/native/package.json")),
    "bin/tsc",
  );
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const dist = path.join(root, "dist");
  rmSync(dist, { recursive: true, force: true });
  writeTypes();
  await bundle(entries, dist);
  chmodSync(path.join(dist, "cli/main.js"), 0o755);
  writeFileSync(path.join(dist, ".built"), "");
}
