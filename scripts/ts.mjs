// node scripts/ts.mjs FILE.ts [WORD…]: runs a TypeScript file, also on versions of Node.js that cannot do that themselves.
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
    // Node.js 20 knows no `await using`.
    oxc: { target: "es2023" },
    server: { middlewareMode: true, watch: null, ws: false },
  });
  // It stays open for modules that are imported later, and does not keep the process alive.
  return server.ssrLoadModule(path.resolve(file));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file = "", ...words] = process.argv.slice(2);
  // The file sees the command line it would have without this one.
  process.argv = [process.argv[0], path.resolve(file), ...words];
  await importTypeScript(file);
}
