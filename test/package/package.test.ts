// The package as others get it: what is in it, and that an empty project can use it in every way it promises.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import module from "node:module";
import path from "node:path";
import { buildSync } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { problem, problemRows } from "../../src/model/problem.ts";
import { ended } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";

const root = path.join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const folder = newFolder();
const project = path.join(folder, "project");
let files: string[];

beforeAll(async () => {
  mkdirSync(project);
  files = isLong ? installWithNpm() : await unpack();
});

describe("the package has", () => {
  test("JavaScript, one bundle of types per entry point, schemas, and the changelog", () => {
    const kinds = new Set(files.map((file) => file.replace(/^(dist|schema)\/.*?(\.d\.ts|\.js|\.json)$/, "$1/*$2")));
    expect([...kinds].sort()).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist/*.d.ts",
      "dist/*.js",
      // These notices are for the packages inside the bundles.
      "dist/LICENSES.txt",
      "package.json",
      "schema/*.json",
      "skills/sitegrove/SKILL.md",
    ]);
    expect(files.length).toBeLessThanOrEqual(250);
    for (const { types } of Object.values<{ types?: string }>(manifest.exports))
      if (types !== undefined) expect(files).toContain(path.normalize(types));
  });

  test("an import that loads no network code and no other package", () => {
    write(
      "light.mjs",
      `import module from "node:module";
      await import("sitegrove");
      const loaded = process.moduleLoadList.filter((name) => /NativeModule (tls|http|net|dns|zlib)$/.test(name));
      console.log(JSON.stringify([loaded, Object.keys(module._cache)]));`,
    );
    expect(JSON.parse(node("light.mjs"))).toEqual([[], []]);
  });

  test("readable stack traces", () => {
    write(
      "trace.mjs",
      `import { openTree } from "sitegrove";
      await openTree(5).catch((error) => console.log(error.stack));`,
    );
    expect(node("trace.mjs")).toMatch(/at .*openTreeWhile .*sitegrove\/dist\/library-[\w-]+\.js:\d+:\d+/);
  });

  test("types that do not change when a problem is reworded", () => {
    const types = files.filter((file) => file.endsWith(".d.ts"));
    const texts = types.map((file) => readFileSync(path.join(root, file), "utf8")).join("\n");
    expect(texts).toContain('"dns-not-found"');
    for (const code of problemRows.keys()) expect(texts).not.toContain(problem(code).message);
  });

  test("no install scripts, and few dependencies", () => {
    // npm warns about a package with any of these.
    expect(Object.keys(manifest.scripts).filter((name) => /^((pre|post)?install|prepare)$/.test(name))).toEqual([]);
    expect(Object.keys(manifest.dependencies)).toHaveLength(2);
    for (const name of Object.keys(manifest.dependencies)) {
      const { scripts = {} } = JSON.parse(readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8"));
      expect(
        Object.keys(scripts).filter((script) => /^(pre|post)?install$/.test(script)),
        name,
      ).toEqual([]);
    }
  });
});

const useFromTypeScript = `
import { type SitemapPage, type SitemapTree, sitemapTreeForHomepage, streamPages } from "sitegrove";
import { type ParsedSitemap, parseSitemap } from "sitegrove/parse";

export async function urls(homepage: string): Promise<string[]> {
  await using tree: SitemapTree = await sitemapTreeForHomepage(homepage, { knownPaths: "never" });
  for (const sitemap of tree.sitemaps()) {
    if (sitemap.kind === "index") sitemap.children.length satisfies number;
    else if (sitemap.kind === "pages") sitemap.pageCount satisfies number;
    else sitemap.reason.code satisfies string;
  }
  const pages: SitemapPage[] = [];
  for await (const page of streamPages(homepage)) pages.push(page);
  return pages.map((page) => page.lastModified ?? page.url);
}

const parsed: ParsedSitemap = parseSitemap("https://example.org/a");
if (parsed.kind === "pages") parsed.pages[0]?.newsStory?.title satisfies string | undefined;

// @ts-expect-error: there is no such option.
void sitemapTreeForHomepage("https://example.org/", { useRobot: true });
`;

describe("the package can be used", () => {
  const compile = (name: string, compilerOptions: object, sources: readonly string[]): string => {
    const always = { target: "es2022", strict: true, exactOptionalPropertyTypes: true };
    const typeRoots = [path.join(root, "node_modules/@types")];
    const settings = { compilerOptions: { ...always, typeRoots, ...compilerOptions }, files: sources };
    write(`${name}.json`, JSON.stringify(settings));
    const compiler = path.join(root, "node_modules/typescript/bin/tsc");
    // For one small project, threads and garbage collection cost more than they save.
    const env = { ...process.env, GOGC: "off" };
    const words = [compiler, "--singleThreaded", "-p", `${name}.json`];
    return spawnSync(process.execPath, words, { encoding: "utf8", cwd: project, env }).stdout;
  };
  const modules = {
    "use.ts": useFromTypeScript,
    // https://www.typescriptlang.org/docs/handbook/modules/reference.html#node16-node18-node20-nodenext: what docs/platforms.md says.
    "statically.cts": 'import { streamPages } from "sitegrove";\nvoid streamPages;',
    "dynamically.cts": 'export const pages = import("sitegrove").then((all) => all.streamPages);',
  };
  const lib = ["es2023", "esnext.disposable"];
  const checked = { skipLibCheck: false, skipDefaultLibCheck: true };
  beforeAll(() => {
    for (const [name, text] of Object.entries(modules)) write(name, text);
  });

  // As docs/platforms.md says. The optional packages of a fleet are not installed here, and no bundler needs to know of them.
  test.each<["esm" | "cjs", string]>([
    ["esm", 'import { createRequire as made } from "node:module"; const require = made(import.meta.url);'],
    ["cjs", ""],
  ])("in a bundle of esbuild, format %s", (format, banner) => {
    write(
      "bundled.js",
      `import { parseSitemap, sitemapTreeForHomepage, streamPages } from "sitegrove";
      const options = { retries: 0, network: "allow-private" };
      async function run() {
        for await (const page of streamPages("http://127.0.0.1:1/", { ...options, onUnreachable: "end" })) console.log(page.url);
        const tree = await sitemapTreeForHomepage({ sitemaps: ["http://127.0.0.1:1/a.xml"] }, options);
        console.log(parseSitemap("https://example.org/a").kind, tree.root.children[0].reason.code);
      }
      run();`,
    );
    const outfile = path.join(folder, format === "esm" ? "bundle.mjs" : "bundle.cjs");
    const { metafile } = buildSync({
      ...{ bundle: true, platform: "node", logLevel: "error", absWorkingDir: project, banner: { js: banner } },
      ...{ entryPoints: ["bundled.js"], format, outfile, metafile: true },
    });
    const inputs = Object.values(metafile.inputs);
    const optional = Object.keys(manifest.peerDependencies);
    expect(inputs.flatMap(({ imports }) => imports.filter((each) => optional.includes(each.path)))).toEqual([]);
    expect(String(execFileSync(process.execPath, [outfile]))).toBe("pages port-refused\n");
  });

  // Our own declarations have to hold too: with the types of Node, or of a browser, and without skipLibCheck. Those of the language are
  // not ours.
  test("from TypeScript, as an ECMAScript module and as CommonJS", () => {
    const options = { module: "nodenext", lib, types: ["node"], ...checked, outDir: "compiled" };
    expect(compile("nodenext", options, Object.keys(modules))).toBe("");
    write(
      "both.cjs",
      'require("./compiled/statically.cjs"); require("./compiled/dynamically.cjs").pages.then(console.log);',
    );
    expect(node("both.cjs")).toMatch(/streamPages/);
  });

  test("from TypeScript for a bundler and a browser", () => {
    const options = { module: "preserve", moduleResolution: "bundler", lib: [...lib, "dom"], types: [], noEmit: true };
    expect(compile("bundler", { ...options, ...checked }, ["use.ts"])).toBe("");
  });

  test.runIf(isLong)("from TypeScript as CommonJS of Node 16: with import() alone", () => {
    const options = { module: "node16", lib, types: ["node"], skipLibCheck: true, outDir: "compiled-16" };
    const output = compile("node16", options, ["statically.cts", "dynamically.cts"]);
    expect(output.match(/^\S+: error \w+/gm)).toEqual(["statically.cts(1,29): error TS1479"]);
    expect(node("compiled-16/dynamically.cjs")).toBe("");
  });

  test("from JavaScript; its other files cannot be reached", () => {
    write(
      "use.mjs",
      `import { parseSitemap, readSitemap, SitemapError, streamPages } from "sitegrove";
      const read = await readSitemap(new TextEncoder().encode("https://example.org/a"));
      let code;
      try { streamPages("nowhere"); } catch (error) { code = error instanceof SitemapError && error.code; }
      const deep = await import("sitegrove/dist/crawl/engine.js").catch((error) => error.code);
      console.log(JSON.stringify([parseSitemap("https://example.org/a").kind, read.pages.length, code, deep]));`,
    );
    expect(JSON.parse(node("use.mjs"))).toEqual(["pages", 1, "invalid-homepage", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);
  });

  // https://nodejs.org/api/modules.html#loading-ecmascript-modules-using-require: no top-level await in the whole graph.
  test("through require()", () => {
    write(
      "use.cjs",
      `const { sitemapTreeForHomepage } = require("sitegrove");
      const { parseSitemap } = require("sitegrove/parse");
      const { version } = require("sitegrove/package.json");
      console.log(JSON.stringify([typeof sitemapTreeForHomepage, parseSitemap("https://example.org/a").kind, version]));`,
    );
    expect(JSON.parse(node("use.cjs"))).toEqual(["function", "pages", manifest.version]);
  });

  // Node 20 has no synchronous hooks; test/architecture.test.ts holds the same rule for the sources.
  test.skipIf(!("registerHooks" in module))("through sitegrove/parse, which loads nothing of Node", () => {
    write(
      "loaded.mjs",
      `import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context); } });
      await import("sitegrove/parse");
      console.log(JSON.stringify(loaded));`,
    );
    const loaded = JSON.parse(node("loaded.mjs")) as string[];
    expect(loaded.filter((name) => /^node:|commander/.test(name))).toEqual([]);
  });

  test("through its program", async () => {
    const site = await serve({ "/sitemap.txt": "{base}/a\n" });
    const run = (...words: string[]) => ended(spawn(path.join(project, "node_modules/.bin/sitegrove"), words));
    expect(await run("--version")).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
    expect(await run("ls", site.homepage, "-f", "pages")).toMatchObject({ code: 0, stdout: `${site.homepage}a\n` });
  });
});

/** What `npm pack` packs, where `npm install` puts it. npm itself needs seconds for the same; the long run takes it. */
async function unpack(): Promise<string[]> {
  const { PATH = "" } = process.env;
  const program = PATH.split(path.delimiter)
    .map((place) => path.join(place, "npm"))
    .find((file) => existsSync(file));
  const require = module.createRequire(realpathSync(program ?? ""));
  const listFiles: (tree: object) => Promise<string[]> = require("npm-packlist");
  const tree = { path: root, package: manifest, isProjectRoot: true, edgesOut: new Map() };
  const packed = await listFiles(tree);
  const place = path.join(project, "node_modules/sitegrove");
  // Nothing runs from the sources or the documentation, nor needs the maps of types.
  const used = packed.filter((name) => !/^(src|docs)\/|\.d\.ts\.map$/.test(name));
  for (const name of new Set(used.map((file) => path.dirname(file))))
    mkdirSync(path.join(place, name), { recursive: true });
  for (const file of used) copyFileSync(path.join(root, file), path.join(place, file));
  for (const name of Object.keys(manifest.dependencies)) {
    symlinkSync(path.join(root, "node_modules", name), path.join(project, "node_modules", name));
  }
  mkdirSync(path.join(project, "node_modules/.bin"));
  for (const [name, file] of Object.entries<string>(manifest.bin)) {
    chmodSync(path.join(place, file), 0o755);
    symlinkSync(path.join(place, file), path.join(project, "node_modules/.bin", name));
  }
  write("package.json", JSON.stringify({ private: true, type: "module" }));
  return packed;
}

function installWithNpm(): string[] {
  // Without scripts: `prepack` would build under the feet of other tests, and npm test has built already.
  const packed = npm(root, "pack", "--json", "--ignore-scripts", "--pack-destination", folder);
  const [{ filename, files: list }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
  // The dependencies come from where they are already: no registry is needed. As folders, they would build themselves.
  const needed = new Set<string>(Object.keys(manifest.dependencies));
  for (const name of needed) for (const inner of dependenciesOf(name)) needed.add(inner);
  const local = [...needed].map((name) => [name, `file:${path.join(root, "node_modules", name)}`]);
  write("package.json", JSON.stringify({ private: true, type: "module", dependencies: Object.fromEntries(local) }));
  npm(project, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", path.join(folder, filename));
  return list.map((file) => file.path);
}

function write(file: string, text: string): void {
  writeFileSync(path.join(project, file), text);
}

function node(file: string): string {
  return execFileSync(process.execPath, [file], { cwd: project, encoding: "utf8" });
}

function npm(cwd: string, ...args: string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function dependenciesOf(name: string): string[] {
  const own = JSON.parse(readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8"));
  return Object.keys(own.dependencies ?? {});
}
