// node scripts/ts.mjs FILE.ts [ARGUMENT…]: runs a TypeScript file, even if this version of Node.js cannot do that itself.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";

/** Imports a TypeScript file of this clone. */
export async function importTypeScript(file) {
  const server = await createViteServer({
    configFile: false,
    root: path.dirname(path.dirname(fileURLToPath(import.meta.url))),
    appType: "custom",
    logLevel: "error",
    // Node.js 20 does not support `await using`.
    oxc: { target: "es2023" },
    server: { middlewareMode: true, watch: null, ws: false },
  });
  // The server stays open for modules that are imported later. It does not keep the process alive.
  return server.ssrLoadModule(path.resolve(file));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file = "", ...words] = process.argv.slice(2);
  // The file gets the arguments that it would have if it were run directly.
  process.argv = [process.argv[0], path.resolve(file), ...words];
  await importTypeScript(file);
}
