// Builds src/ at the start of a run, into its temporary folder, as modules that Node.js imports by itself. Vitest would transform each file for
// its own module runner, where every use of an import calls a getter: that took a sixth of the CPU time of test/crawl/. Source maps lead stack
// traces back to src/.
import { mkdtempSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inputs, write } from "../../scripts/bundle.mjs";

const root = path.join(import.meta.dirname, "../..");
const sources = path.join(root, "src/");

/** A plugin that replaces every import of a file of src/ by the built one. */
export function builtSources() {
  const folder = mkdtempSync(path.join(tmpdir(), "built-src-"));
  return {
    name: "built-sources",
    enforce: "pre" as const,
    config: () => ({ test: { server: { deps: { external: [/\/built-src-\w+\/.+\.mjs$/] } } } }),
    async configResolved() {
      const names = readdirSync(sources, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts") && !name.endsWith(".as.ts"))
        .map((name) => name.slice(0, -".ts".length));
      await write({ input: inputs(names), external: /^[^./]/, treeshake: false }, folder, {
        format: "esm",
        entryFileNames: "[name].mjs",
        preserveModules: true,
        preserveModulesRoot: sources,
        sourcemap: true,
      });
      // Packages are found from here, too.
      symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
    },
    resolveId(source: string, importer: string | undefined) {
      if (importer === undefined || !source.startsWith(".") || !source.endsWith(".ts")) return null;
      const file = path.resolve(path.dirname(importer), source);
      return file.startsWith(sources) ? path.join(folder, `${file.slice(sources.length, -".ts".length)}.mjs`) : null;
    },
  };
}
