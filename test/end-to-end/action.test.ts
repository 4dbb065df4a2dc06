// The steps of action.yml, as a runner runs them: bash, its environment, and a copy of the checkout in which nothing is installed or built.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ended, sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { urlset } from "../support/documents.ts";
import { newFolder } from "../support/test-folder.ts";

const root = path.join(import.meta.dirname, "../..");
const folder = newFolder();
const checkout = path.join(folder, "action");
const workspace = path.join(folder, "workspace");
const bin = path.join(folder, "bin");
const installs = path.join(folder, "installs");

const names = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
const needed = names.filter((name) => /^(?:src|scripts|schema)\/|^(?:package|tsconfig)[\w.-]*json$/.test(name));
for (const name of needed) {
  mkdirSync(path.dirname(path.join(checkout, name)), { recursive: true });
  cpSync(path.join(root, name), path.join(checkout, name));
}
mkdirSync(bin);
// In place of the registry: `npm ci` finds the same packages here.
const npm = `#!/bin/sh\necho "$@" >> "${installs}"\nln -s "${root}/node_modules" node_modules\n`;
writeFileSync(path.join(bin, "npm"), npm, { mode: 0o755 });
symlinkSync(process.execPath, path.join(bin, "node"));
const files = {
  "dist/robots.txt": "User-agent: *\nAllow: /\nSitemap: https://example.org/sitemap.xml\n",
  "dist/sitemap.xml": urlset("https://example.org/a", "https://example.org/new"),
  "dist/a.html": "<!doctype html><html><title>a</title></html>",
  "dist/new.html": '<!doctype html><html>\n<head><meta name="robots" content="noindex"></head></html>',
  "dist/drafts/b.html": "<!doctype html><html></html>",
  "before/robots.txt": "Sitemap: https://example.org/sitemap.xml\n",
  "before/sitemap.xml": urlset("https://example.org/a", "https://example.org/old"),
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
  writeFileSync(path.join(workspace, name), text);
}
const website = await serve({
  "/robots.txt": "Sitemap: {base}/sitemap.xml\n",
  "/sitemap.xml": urlset("{base}/", "{base}/a#b"),
  "/": "home",
});

/** Runs all steps with these inputs; returns the exit code, the annotations and the job summary. */
async function action(inputs: Readonly<Record<string, string>>) {
  const steps = readFileSync(path.join(root, "action.yml"), "utf8")
    .split(/\n {4}- /)
    .slice(1);
  const summary = path.join(folder, "summary.md");
  writeFileSync(summary, "");
  let code: number | string = 0;
  let output = "";
  for (const step of steps) {
    const [, script] = /\n {6}run: \|\n([\s\S]*)$/.exec(step) ?? [];
    if (script === undefined) continue;
    const given = [...step.matchAll(/^ {8}(\w+): \$\{\{ inputs\.([\w-]+) \}\}$/gm)].map(([, name = "", input = ""]) => [
      name,
      inputs[input] ?? "",
    ]);
    const env = {
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: folder,
      GITHUB_ACTIONS: "true",
      GITHUB_ACTION_PATH: checkout,
      GITHUB_WORKSPACE: workspace,
      GITHUB_STEP_SUMMARY: summary,
      ...Object.fromEntries(given),
    };
    const words = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
    const result = await ended(spawn("bash", words, { cwd: workspace, env }));
    code = result.code;
    output += result.stdout + result.stderr;
    if (code !== 0) break;
  }
  return { code, output, summary: readFileSync(summary, "utf8") };
}

test("checking a folder writes annotations, SARIF and a summary of added and removed URLs, and installs once", async () => {
  const inputs = { path: "dist", ignore: "drafts/\n", sarif: "out.sarif", compare: "before" };
  const { code, output, summary } = await action(inputs);
  expect([code, output]).toEqual([6, expect.stringContaining("::error file=dist/new.html,line=2,title=page-noindex")]);
  expect(output).not.toContain("page-not-listed");
  expect(summary).toContain("page-noindex");
  expect(summary).toContain("https://example.org/new");
  expect(summary).toContain("https://example.org/old");
  expect(readFileSync(path.join(workspace, "out.sarif"), "utf8")).toContain('"page-noindex"');
  expect(await action({ path: "dist", "fail-on": "never" })).toMatchObject({ code: 0 });
  expect(readFileSync(installs, "utf8").trim().split("\n")).toEqual([expect.stringMatching(/^ci /)]);
});

test("checking a website uses config and baseline, and a failed comparison does not fail the step", async () => {
  writeFileSync(path.join(workspace, "strict.json"), JSON.stringify({ failOn: "warning" }));
  const inputs = { url: website.homepage, config: "strict.json" };
  const { code, output, summary } = await action({ ...inputs, compare: "before" });
  expect([code, output]).toEqual([6, expect.stringContaining("title=url-fragment")]);
  expect(summary).toContain(`${website.homepage}a#b`);
  const baseline = path.join(workspace, "known.json");
  await sitegrove(["check", website.homepage, "--baseline", baseline, "--update-baseline"]);
  expect(await action({ ...inputs, baseline })).toMatchObject({ code: 0 });
  const lost = await action({ path: "dist", "fail-on": "never", compare: "http://127.0.0.1:1/" });
  expect([lost.code, lost.output]).toEqual([0, expect.stringContaining("::warning::sitegrove: the comparison with")]);
});

test("the error says that a path or a url is missing", async () => {
  expect(await action({})).toMatchObject({ code: 2, output: expect.stringContaining("give a path or a url") });
});
