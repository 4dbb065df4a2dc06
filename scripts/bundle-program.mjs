// Builds the program into dist/cli/: main.js, and what it loads as CommonJS scripts, whose compiled code can be kept (src/cli/compiled-code.ts).
// A process that reads a small website ends after 150 ms: everything here is about what happens before the first request.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { inAscii } from "./ascii.mjs";
import { inputs, isExternal, write } from "./bundle.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Into the folder `cli` of a folder. */
export async function bundleProgram(dir) {
  const scripts = await write(
    {
      input: inputs(["cli/program"]),
      external: (id, importer) => !isDependency(id) && standInFor(id, importer) === undefined && isExternal(id),
      plugins: [loadTogether(crawlParts), importPackages(), loadLess()],
    },
    dir,
    {
      format: "cjs",
      entryFileNames: "[name]-[hash].cjs",
      chunkFileNames: "cli/[name]-[hash].cjs",
      // Nothing but blanks is taken out: names stay, and so does what the code says.
      minify: { compress: false, mangle: false, codegen: true },
      // What every command line needs, what reads a document, and what every crawl needs besides.
      codeSplitting: {
        groups: [
          { name: "program", test: /\/src\/cli\/program\.ts$|rolldown.runtime/, priority: 3 },
          { name: "reader", test: /\/src\/cli\/parse\.ts$/, priority: 2 },
          { name: "website", test: /\/src\/cli\/ls\.ts$/, priority: 1 },
        ],
      },
    },
  );
  for (const { fileName, type } of scripts) if (type === "chunk") writeInAscii(path.join(dir, fileName));
  const define = { programScript: JSON.stringify(path.basename(scripts[0].fileName)) };
  await write({ input: inputs(["cli/main"]), transform: { define } }, dir, {
    format: "esm",
    entryFileNames: "[name].js",
    minify: { compress: false, mangle: false, codegen: true },
  });
  chmodSync(path.join(dir, "cli/main.js"), 0o755);
  writeFileSync(path.join(dir, "cli/licenses.txt"), licenses());
}

function writeInAscii(file) {
  const isMapped = existsSync(`${file}.map`);
  const map = isMapped ? JSON.parse(readFileSync(`${file}.map`, "utf8")) : { mappings: "" };
  const changed = inAscii(readFileSync(file, "utf8"), map);
  writeFileSync(file, changed.code);
  if (isMapped) writeFileSync(`${file}.map`, JSON.stringify(changed.map));
}

// The library loads these with the first crawl. A program that crawls has them in one script with the rest.
const crawlParts = [
  "cli/listing",
  "crawl/engine",
  "crawl/storage",
  "fetch/fetcher",
  "open/open-document",
  "archive/archive-source",
  "archive/open-archive",
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

// `import()` of a package: in a script that is not a module of Node.js it is experimental, and says so. The loader of the scripts does it instead
// (src/cli/compiled-code.ts).
function importPackages() {
  const chosen = 'typeof importPackage === "undefined" ? (name) => import(name) : importPackage';
  return {
    name: "import-packages",
    transform(code, id) {
      if (!id.startsWith(path.join(root, "src"))) return null;
      const changed = code.replaceAll(/(?<!typeof )\bimport\("([^".][^"]*)"\)/g, `(${chosen})("$1")`);
      return changed === code ? null : { code: changed, map: null };
    },
  };
}

// Dependencies are part of the program: Node.js would take longer to find their files than to compile them. Peers are not: who needs them
// installs them.
const parts = dependenciesOf(root);

function dependenciesOf(folder) {
  const names = Object.keys(manifestOf(folder).dependencies ?? {});
  return [...new Set(names.flatMap((name) => [name, ...dependenciesOf(folderOf(name))]))];
}

function isDependency(id) {
  return parts.some((name) => id === name || id.startsWith(`${name}/`));
}

function folderOf(name) {
  return path.join(root, "node_modules", name);
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
}

// Of a dependency, what no command line needs is taken from where it is installed, if it is asked for after all.
function loadLess() {
  return {
    name: "load-less",
    resolveId(id, importer) {
      const name = standInFor(id, importer);
      if (name !== undefined) return mark + name;
      const [, rare] = rarelyNeeded.exec(placeOf(id, importer)) ?? [];
      return rare === undefined ? null : { id: rare, external: true };
    },
    load: (id) => (id.startsWith(mark) ? standIns[id.slice(mark.length)] : null),
  };
}

const mark = "\0in place of ";
const rarelyNeeded = /\/(undici\/lib\/(?:web\/fetch\/body|llhttp\/llhttp-wasm|dispatcher\/client-h2)\.js)$/;

// By where they are imported from and as what.
const standIns = {
  // For commands that are programs of their own. Ours are not.
  "commander/lib/node:child_process": `exports.spawn = (...words) => require("child_process").spawn(...words);`,
  // HTTP/2 is never offered to a website, and loads a lot.
  "undici/lib/dispatcher/client-h2.js": `module.exports = (...words) => require("undici/lib/dispatcher/client-h2.js")(...words);`,
  "src/fetch/load-undici.ts": `import Client from "undici/lib/dispatcher/client.js";
export async function loadUndici() { return Client; }`,
};

function standInFor(id, importer) {
  if (importer?.startsWith(mark)) return undefined;
  return Object.keys(standIns).find((name) => placeOf(id, importer).endsWith(`/${name}`));
}

function placeOf(id, importer = "") {
  return path.join(path.dirname(importer), id);
}

// Licenses ask for being passed on.
function licenses() {
  const texts = parts.map((name) => {
    const file = readdirSync(folderOf(name)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no license file`);
    const text = readFileSync(path.join(folderOf(name), file), "utf8").trim();
    return `${name} ${manifestOf(folderOf(name)).version}\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
