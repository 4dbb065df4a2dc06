// The recipes of docs/recipes.md for other tools, with the tools: installed from the registry into a folder of this run. Only in long runs, and
// not where the registry cannot be reached. Everything that is asked is on loopback.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { type Ended, ended, sitegrove } from "../cli/program.ts";
import { serve, type Website } from "../cli/website.ts";
import { blocksOf, page, root } from "../docs/pages.ts";
import { executablePath, hasNoBrowser } from "../report/browser.ts";
import { index, urlset } from "../support/documents.ts";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";

// The last versions that run on every Node.js that we support.
const tools = ["linkinator@7.6.1", "@lhci/cli@0.15.1", "@crawlee/basic@3.18.1"];
// Keeps the browser on loopback: all other requests go to a proxy that does not exist.
const browserFlags = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--proxy-server=127.0.0.1:9"];
const production = "https://production.example/";

const recipes = blocksOf(page("docs/recipes.md"));
const recipe = (sign: string) => recipes.find(({ code }) => code.includes(sign))?.code ?? "";

describe.runIf(isLong)("recipes", () => {
  const folder = newFolder();
  let site: Website;
  let isInstalled = false;
  // Releases the last sitemap.
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const html = (title: string) => `<!doctype html><html lang="en"><title>${title}</title><a href="/">home</a></html>`;
  const names = Array.from({ length: 30 }, (_, n) => `/page-${n}`);

  beforeAll(async () => {
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...tools];
    isInstalled = spawnSync("npm", words, { cwd: folder, timeout: 150_000 }).status === 0;
    if (!isInstalled) console.warn("The registry cannot be reached: recipes for other tools are not run");
    mkdirSync(path.join(folder, "node_modules"), { recursive: true });
    symlinkSync(root, path.join(folder, "node_modules/sitegrove"));
    symlinkSync(path.join(root, "node_modules/playwright-core"), path.join(folder, "node_modules/playwright"));
    site = await serve({
      "/": html("home"),
      "/robots.txt": `Sitemap: ${production}index.xml\n`,
      "/index.xml": index(`${production}first.xml`, `${production}last.xml`),
      "/first.xml": urlset(
        ...names.map((name) => `<url><loc>${production.slice(0, -1)}${name}</loc><lastmod>2024-05-06</lastmod></url>`),
      ),
      "/last.xml": (_, response) => void isReleased.then(() => response.end(urlset(`${production}last`))),
      "/last": html("last"),
      ...Object.fromEntries(names.map((name) => [name, html(name)])),
    });
  });
  afterAll(() => {
    site.close();
  });

  // Works as in the recipes, but without guesses, which the website does not answer.
  const here = ["--here", "-k", "--no-homepage"];
  const urls = () => [...names, "/last"].map((name) => site.homepage.slice(0, -1) + name);

  // Runs with its own tools, in its own folder.
  async function run(words: readonly string[], { skip }: TestContext): Promise<Ended> {
    if (!isInstalled) skip();
    const [command = "", ...rest] = words;
    const env = { ...process.env, CHROME_PATH: executablePath, CRAWLEE_STORAGE_DIR: path.join(folder, "storage") };
    const child = spawn(command, rest, { cwd: folder, env });
    return ended(child);
  }
  function write(name: string, code: string): void {
    writeFileSync(path.join(folder, name), code);
  }

  test("crawlee requests the first page before the last sitemap has arrived, and knows the dates", async (context) => {
    const code = recipe("@crawlee/basic").replace(
      '"https://example.org/", {',
      `"${site.homepage}", { rewrite: [["${production}", "${site.homepage}"]],`,
    );
    write("crawl.mjs", code);
    const before = site.requests.length;
    const listen = setInterval(() => site.requests.includes("/page-0") && release(), 20);
    const { stdout, stderr, code: exitCode } = await run([process.execPath, "crawl.mjs"], context);
    clearInterval(listen);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const lines = stdout.split("\n");
    expect(lines).toContain(`200 ${site.homepage}page-7 2024-05-06`);
    expect(lines.filter((line) => line.startsWith("200 "))).toHaveLength(urls().length);
    const asked = site.requests.slice(before);
    expect(asked.filter((url) => names.includes(url))).toHaveLength(names.length);
  });

  test("linkinator checks all pages", async (context) => {
    const listed = await sitegrove(["ls", site.homepage, "-f", "pages", ...here]);
    expect(recipe("linkinator")).toContain("npx linkinator $(npx sitegrove");
    const bin = "node_modules/linkinator/build/src/cli.js";
    const { stdout, code } = await run(
      [process.execPath, bin, "--format", "json", ...listed.stdout.trim().split("\n")],
      context,
    );
    const { links, passed } = JSON.parse(stdout) as { links: { url: string; status: number }[]; passed: boolean };
    expect({ code, passed }).toEqual({ code: 0, passed: true });
    expect(links.map(({ url }) => url)).toEqual(expect.arrayContaining(urls()));
  });

  test("Lighthouse CI and Playwright accept the array of URLs", async (context) => {
    if (hasNoBrowser) context.skip();
    const { stdout: list } = await sitegrove(["ls", site.homepage, "-f", "pages-json", "--sample", "2", ...here]);
    write("urls.json", list);
    const chosen: string[] = JSON.parse(list);
    expect(chosen).toHaveLength(2);
    write("lighthouserc.cjs", recipe("collect"));
    const flags = `--chrome-flags=${browserFlags.join(" ")} --headless`;
    const collect = ["collect", "--numberOfRuns=1", "--settings.onlyAudits=document-title"];
    const lhci = [
      process.execPath,
      "node_modules/@lhci/cli/src/cli.js",
      ...collect,
      flags.replace("--chrome-flags", "--settings.chromeFlags"),
    ];
    const collected = await run(lhci, context);
    expect(collected.code, collected.stderr).toBe(0);
    const reports = readdirSync(path.join(folder, ".lighthouseci")).filter((name) => /^lhr-.*\.json$/.test(name));
    const read = (name: string) => JSON.parse(readFileSync(path.join(folder, ".lighthouseci", name), "utf8"));
    expect(reports.map((name) => read(name).requestedUrl).sort()).toEqual([...chosen].sort());

    const launch = `chromium.launch(${JSON.stringify({ executablePath, args: browserFlags })})`;
    write("pages.mjs", recipe("page.goto").replace("chromium.launch()", launch));
    const { stdout, code } = await run([process.execPath, "pages.mjs"], context);
    expect(code).toBe(0);
    // The title of a page is its path.
    const titleOf = (url: string) => (url.endsWith("/last") ? "last" : new URL(url).pathname);
    expect(stdout).toBe(chosen.map((url) => `200 ${titleOf(url)} ${url}\n`).join(""));
  });

  test("pa11y-ci checks a sample", async (context) => {
    const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "pa11y-ci@4"];
    if (hasNoBrowser || !isInstalled || spawnSync("npm", words, { cwd: folder, timeout: 150_000 }).status !== 0)
      context.skip();
    expect(recipe("pa11y-ci")).toContain("--here --sample 20 -f pages");
    const { stdout } = await sitegrove(["ls", site.homepage, "-f", "pages", "--sample", "2", ...here]);
    const chosen = stdout.trim().split("\n");
    const chromeLaunchConfig = { executablePath, args: browserFlags };
    write("pa11y.json", JSON.stringify({ defaults: { chromeLaunchConfig } }));
    const bin = "node_modules/pa11y-ci/bin/pa11y-ci.js";
    const checked = await run([process.execPath, bin, "--config", "pa11y.json", "--json", ...chosen], context);
    expect(Object.keys(JSON.parse(checked.stdout).results).sort()).toEqual([...chosen].sort());
  });
});
