// The package in a project without the optional packages of a fleet: one loop over `streamPages`, bundled by the bundlers that people use, and
// a tree, an archive and a check in the other runtimes. Except for esbuild, they come from the registry: only the long run asks for them.
// Needs processes, the registry, more than a second.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { tenPages, testServer } from "../support/fetching.ts";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";

const root = path.join(import.meta.dirname, "../..");
const project = newFolder();

const bundlers = {
  esbuild: `
    import { build } from "esbuild";
    const how = { bundle: true, platform: "node", format: "esm", minify: true, splitting: true };
    await build({ ...how, entryPoints: ["entry.mjs"], outdir: "esbuild", outExtension: { ".js": ".mjs" } });`,
  rollup: `
    import commonjs from "@rollup/plugin-commonjs";
    import json from "@rollup/plugin-json";
    import resolve from "@rollup/plugin-node-resolve";
    import terser from "@rollup/plugin-terser";
    import { rollup } from "rollup";
    const plugins = [resolve({ preferBuiltins: true, exportConditions: ["node"] }), commonjs(), json(), terser()];
    const bundle = await rollup({ input: "entry.mjs", plugins, logLevel: "silent" });
    await bundle.write({ dir: "rollup", format: "esm", entryFileNames: "entry.mjs", chunkFileNames: "[name]-[hash].mjs" });`,
  vite: `
    import { build } from "vite";
    const output = { entryFileNames: "entry.mjs" };
    const how = { ssr: "entry.mjs", outDir: "vite", minify: true, target: "node20", rollupOptions: { output } };
    await build({ logLevel: "error", build: how, ssr: { noExternal: true } });`,
  webpack: `
    import path from "node:path";
    import webpack from "webpack";
    const output = { path: path.resolve("webpack"), filename: "entry.mjs", module: true, chunkFormat: "module" };
    const how = { mode: "production", target: "node20", entry: "./entry.mjs", experiments: { outputModule: true }, output };
    webpack(how, (error, stats) => {
      if (error !== null || stats.hasErrors() || stats.hasWarnings()) throw error ?? new Error(stats.toString());
    });`,
};
const packages = [
  "bun",
  "deno",
  ...Object.keys(bundlers),
  ...["node-resolve", "commonjs", "json", "terser"].map((name) => `@rollup/plugin-${name}`),
];

function isInstalled(): boolean {
  const [{ filename }] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  ) as [{ filename: string }];
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const words = ["install", "--no-audit", "--no-fund", "--legacy-peer-deps", path.join(project, filename), ...packages];
  return spawnSync("npm", words, { cwd: project, timeout: 150_000 }).status === 0;
}

describe.runIf(isLong && isInstalled())("the installed package", () => {
  test.each([
    ["bun", []],
    ["deno", ["run", "-A"]],
  ])("works in %s", async (name, words) => {
    const { origin } = await testServer({ "/sitemap.xml": tenPages });
    writeFileSync(
      path.join(project, "runtime.mjs"),
      `import { openTree, sitemapTreeForHomepage } from "sitegrove";
      import { checkTree } from "sitegrove/check";
      const save = "${name}.warc.gz";
      await using tree = await sitemapTreeForHomepage("${origin}", { network: "allow-private", save });
      const { findings } = await checkTree(tree);
      await using again = await openTree(save);
      let pages = 0;
      for await (const page of again.pages()) pages += 1;
      console.log(pages, again.complete, findings.length > 0);`,
    );
    const run = (...more: string[]) =>
      promisify(execFile)(path.join(project, "node_modules/.bin", name), [...words, ...more], { cwd: project });
    expect((await run("runtime.mjs")).stdout).toBe("10 true true\n");
    const listed = await run("node_modules/sitegrove/dist/cli/main.js", "ls", origin, "-f", "pages");
    expect(listed.stdout.trim().split("\n")).toHaveLength(10);
  });

  test.each(Object.entries(bundlers))("works bundled by %s, with one loop over streamPages", async (name, script) => {
    writeFileSync(path.join(project, "entry.mjs"), loopOver("sitegrove"));
    writeFileSync(path.join(project, `${name}.mjs`), script);
    execFileSync(process.execPath, [`${name}.mjs`], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
    await expectPages(path.join(project, name));
  });
});

test("bundled by esbuild with splitting, streamPages still works, and the bundle is small", async () => {
  const folder = newFolder();
  const { outputFiles } = await build({
    stdin: { contents: loopOver(path.join(root, "dist/index.js")), resolveDir: root, sourcefile: "entry.mjs" },
    ...{ bundle: true, platform: "node", format: "esm", minify: true, splitting: true, write: false, outdir: folder },
    ...{ outExtension: { ".js": ".mjs" }, entryNames: "entry" },
  });
  for (const { path: file, contents } of outputFiles) writeFileSync(file, contents);
  expect(await expectPages(folder)).toBeLessThanOrEqual(480_000);
});

function loopOver(name: string): string {
  return `import { streamPages } from ${JSON.stringify(name)};
    for await (const page of streamPages(process.argv[2], { network: "allow-private" })) console.log(page.url);`;
}

/** Runs the bundle in a folder. Returns how many bytes of code there are. */
async function expectPages(folder: string): Promise<number> {
  const { origin } = await testServer({ "/sitemap.xml": tenPages });
  const { stdout } = await promisify(execFile)(process.execPath, ["entry.mjs", origin], { cwd: folder });
  expect(stdout.trim().split("\n")).toHaveLength(10);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => path.join(folder, file));
  const code = files.filter((file) => /\.m?js$/.test(file) && statSync(file).isFile());
  expect(code.filter((file) => /bullmq|ioredis|aws4fetch|aws-sdk/.test(readFileSync(file, "utf8")))).toEqual([]);
  return code.reduce((sum, file) => sum + statSync(file).size, 0);
}
