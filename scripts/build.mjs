// Builds dist/ from src/: the types with tsc, file by file; the code with rolldown, as few modules as can be, because Node.js takes
// longer to find and link a module than to run it. What is loaded on demand stays a module of its own. The maps lead back to src/.
// The program is built apart from the library, into dist/cli/: what is rarely needed together with the rest there is elsewhere here.
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const installed = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
const library = ["index", "parse/parse-sitemap"];

/** Bundles files below src/, named without their ending, into a folder. */
export async function bundle(names, dir) {
  await write(names, dir, {
    // With what they import: the model alone, the parser, which runs anywhere, and the rest of what the package loads at once.
    groups: [
      { name: "model", test: /\/src\/(?!index\.ts$)(?:[^/]+|(?:options|problems)\/[^/]+)$/, priority: 3 },
      { name: "parser", test: /\/src\/parse\//, priority: 2 },
      { name: "library", test: /\/src\/index\.ts$/, priority: 1 },
    ],
  });
}

// What runs before anything else is loaded, what every command line needs, what reads a document, and what every crawl needs besides.
async function bundleProgram(dir) {
  await write(["cli/main"], dir, {
    groups: [
      { name: "start", test: /\/src\/(?:cli\/engine-flags|system-reason)\.ts$/, priority: 4 },
      { name: "program", test: /\/src\/cli\/program\.ts$/, priority: 3 },
      { name: "reader", test: /\/src\/cli\/parse\.ts$/, priority: 2 },
      { name: "website", test: /\/src\/cli\/ls\.ts$/, priority: 1 },
    ],
    chunks: "cli/",
    plugins: [loadTogether(crawlParts), requireCommonJs()],
    // Nothing but blanks is taken out: names stay, and so does what the code says.
    minify: { compress: false, mangle: false, codegen: true },
  });
}

async function write(names, dir, { groups, chunks = "", plugins = [], minify = false }) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: "node",
    external: (id) => !(plugins.length > 0 && commonJs.has(id)) && isExternal(id),
    plugins,
    tsconfig: path.join(root, "tsconfig.build.json"),
    transform: { target: "es2023" },
  });
  await build.write({
    dir,
    format: "esm",
    sourcemap: true,
    sourcemapExcludeSources: true,
    minify,
    entryFileNames: "[name].js",
    chunkFileNames: `${chunks}[name]-[hash].js`,
    codeSplitting: { groups },
  });
  await build.close();
}

// The library loads these with the first crawl. A program that crawls has them in one module with the rest.
const crawlParts = [
  "cli/listing",
  "crawl/engine",
  "crawl/storage",
  "fetch/fetcher",
  "open/open-document",
  "store/archive-source",
  "store/open-archive",
];

// Imports on demand become imports at once. What was one line stays one line, so that the maps stay true.
function loadTogether(names) {
  const files = new Set(names.map((name) => path.join(root, `src/${name}.ts`)));
  return {
    name: "load-together",
    transform(code, id) {
      const imports = [];
      const changed = code.replaceAll(/\bimport\("(\.{1,2}\/[^"]+)"\)/g, (whole, relative) => {
        if (!files.has(path.join(path.dirname(id), relative))) return whole;
        imports.push(`import * as together${imports.length} from ${JSON.stringify(relative)};`);
        return `together${imports.length - 1}`;
      });
      return imports.length === 0 ? null : { code: imports.join("") + changed, map: null };
    },
  };
}

// Packages written as CommonJS, with the names that are imported from them.
const commonJs = new Map([
  ["commander", ["Argument", "Command", "CommanderError", "InvalidArgumentError", "Option"]],
  ["ipaddr.js", []],
  ["picocolors", []],
]);

// Node.js takes longer to find out what can be imported from such a package than to load it: it is required.
function requireCommonJs() {
  return {
    name: "require-commonjs",
    resolveId: (id) => (commonJs.has(id) ? `\0${id}` : null),
    load(id) {
      const names = commonJs.get(id.slice(1));
      if (!id.startsWith("\0") || names === undefined) return null;
      return `import { createRequire } from "node:module";
const loaded = createRequire(import.meta.url)(${JSON.stringify(id.slice(1))});
export default loaded;
export const { ${names.join(", ")} } = loaded;
`;
    },
  };
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
  await bundle(library, dist);
  await bundleProgram(dist);
  chmodSync(path.join(dist, "cli/main.js"), 0o755);
  writeFileSync(path.join(dist, ".built"), "");
}
