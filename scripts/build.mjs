// Builds dist/ from src/: the types with tsc, file by file; the code with rolldown, as few modules as can be, because Node.js takes
// longer to find and link a module than to run it. What is loaded on demand stays a module of its own. The maps lead back to src/.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const entries = ["index", "cli/main", "parse/parse-sitemap"];

/** Bundles files below src/, named without their ending, into a folder. */
export async function bundle(names, dir) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: "node",
    external: (id) => !id.startsWith(".") && !path.isAbsolute(id),
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
