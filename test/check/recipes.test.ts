// The commands of the recipes for GitHub Actions and pre-commit, run as they stand there, on a website that was built in the folder.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sitegrove } from "../cli/program.ts";
import { serve, urlset, type Website } from "../cli/website.ts";
import { blocksOf, pages } from "../docs/pages.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-recipes-"));
const commands = pages
  .flatMap(blocksOf)
  .filter(({ language }) => language === "yaml")
  .flatMap(({ code }) => [...code.matchAll(/(?:run|entry): npx (?:--no-install )?sitegrove (check .*)$/gm)])
  .map(([, words = ""]) => words);
let website: Website;

beforeAll(async () => {
  website = await serve({
    "/robots.txt": "Sitemap: {base}/sitemap.xml\n",
    "/sitemap.xml": urlset("{base}/", "{base}/a"),
    "/": "home",
    "/a": "a",
  });
  mkdirSync(path.join(folder, "public"));
  writeFileSync(path.join(folder, "public/robots.txt"), "Sitemap: https://example.org/sitemap.xml\n");
  for (const name of ["index", "a"]) writeFileSync(path.join(folder, `public/${name}.html`), "<title>home</title>");
});

afterAll(() => website.close());

const run = (words: string) =>
  sitegrove(words.replaceAll(/(?<=^check )https:\/\/example\.org\//g, website.homepage).split(" "), {
    cwd: folder,
    env: { GITHUB_STEP_SUMMARY: path.join(folder, "summary.md") },
  });

test("there are recipes for a built website, a served one and a hook", () => {
  expect(commands).toHaveLength(3);
});

test.each(commands)("sitegrove %s", async (words) => {
  const built = (...urls: string[]) => writeFileSync(path.join(folder, "public/sitemap.xml"), urlset(...urls));
  if (words.includes("--baseline")) await run(`${words} --update-baseline`);
  built("https://example.org/", "https://example.org/a");
  const good = await run(words);
  expect(good.code, good.stdout + good.stderr).toBe(0);
  if (words.includes("public/")) {
    built("https://example.org/", "https://staging.example.com/a");
    const bad = await run(words);
    expect(bad.code, bad.stdout + bad.stderr).toBe(6);
    expect(bad.stdout).toContain("url-other-host");
  }
  if (words.includes("sarif")) {
    const { runs } = JSON.parse(readFileSync(path.join(folder, "sitemaps.sarif"), "utf8"));
    expect(runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe("public/sitemap.xml");
    expect(readFileSync(path.join(folder, "summary.md"), "utf8")).toContain("url-other-host");
  }
});
