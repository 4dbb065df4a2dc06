import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { Host } from "../../src/check/folder/folder-files.ts";
import { SiteFiles } from "../../src/check/folder/site-files.ts";
import { newFolder } from "../support/test-folder.ts";

const home = "https://example.org/";

/** Writes a folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = newFolder();
  for (const [name, text] of Object.entries({ "package.json": "{}", ...files })) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

/** Returns what a host sends for paths: `a/index.html`, `301 /a/`, `noindex a.html`, `missing`. */
function answers(files: Readonly<Record<string, string>>, paths: string, host?: Host): readonly [string[], string] {
  const folder = folderOf(files);
  const site = new SiteFiles({ folders: [{ url: home, path: folder }], host });
  const told = paths.split(" ").map((each) => {
    const answer = site.find(home + each.slice(1));
    if (answer?.kind === "redirect") return `${answer.status} ${answer.to}`;
    if (answer?.kind !== "file") return answer?.kind ?? "elsewhere";
    return [...answer.robotsTags, path.relative(folder, answer.file)].join(" ");
  });
  return [told, [...site.notUnderstood, ...site.unknownHeaders].join(", ")];
}

test("overlong lines in a host's configuration are reported, and the rest is read", () => {
  const long = {
    _redirects: `/${":a/:b/".repeat(16_500)} /x\n/${" ".repeat(200_000)}x\n/old /new 301\n`,
    _headers: `/*\n${" ".repeat(200_000)}X-Robots-Tag: noindex\n`,
  };
  expect(answers(long, "/old /x")).toEqual([["301 /new", "unclear"], "_redirects:1, _redirects:2, _headers:2"]);
  const vercel = JSON.stringify({ redirects: [{ source: `/${":a".repeat(33_000)}`, destination: "/x" }] });
  expect(answers({ "vercel.json": vercel }, "/a")).toEqual([["unclear"], "vercel.json: redirects[0]"]);
});

test("patterns beyond the limit are reported; literal paths have no limit", () => {
  const lines = (row: (index: number) => string) => Array.from({ length: 20_000 }, (_, index) => row(index)).join("\n");
  const [told, rest] = answers({ _redirects: lines((index) => `/old-${index} /new-${index}`) }, "/old-19999");
  expect([told, rest]).toEqual([["301 /new-19999"], ""]);
  expect(answers({ _redirects: lines((index) => `/${index}/* /x`) }, "/999/a /1000/a")[0]).toEqual([
    "301 /x",
    "unclear",
  ]);
});

test.each(["netlify.toml", "vercel.json"])("a %s that cannot be parsed is reported", (name) => {
  expect(answers({ [name]: "[[redirects", "a.html": "" }, "/a /b")).toEqual([["a.html", "unclear"], name]);
});

test("a _redirects file that cannot be read is reported, and may serve any path", () => {
  const folder = folderOf({ "a.html": "" });
  symlinkSync("_redirects", path.join(folder, "_redirects"));
  const site = new SiteFiles({ folders: [{ url: home, path: folder }] });
  expect([site.find(`${home}b`)?.kind, site.notUnderstood.join()]).toEqual([
    "unclear",
    expect.stringMatching(/^_redirects: /),
  ]);
});

test("a conditional redirect makes only the paths it matches unclear", () => {
  const toml = '[[redirects]]\nfrom = "/app/*"\nto = "/x"\nforce = true\nconditions = { Country = ["de"] }';
  expect(answers({ "netlify.toml": toml, "app/a.html": "" }, "/app/a /app/b /b")[0]).toEqual([
    "app/a.html",
    "unclear",
    "missing",
  ]);
});

const pages = { "file.html": "", "folder/index.html": "", "both.html": "", "both/index.html": "", "index.html": "" };
const asked = "/ /file /file/ /file.html /folder /folder/ /both /both/";

test.each<[Host | undefined, Record<string, string>, string]>([
  [
    undefined,
    {},
    "index.html file.html missing file.html folder/index.html folder/index.html both.html both/index.html",
  ],
  [
    "github-pages",
    { CNAME: "x" },
    "index.html file.html missing file.html 301_/folder/ folder/index.html both.html both/index.html",
  ],
  [
    "netlify",
    { "netlify.toml": "" },
    "index.html file.html 301_/file file.html 301_/folder/ folder/index.html both.html 301_/both",
  ],
  [
    "cloudflare-pages",
    { "wrangler.toml": "" },
    "index.html file.html 308_/file 308_/file 308_/folder/ folder/index.html both.html both/index.html",
  ],
])("trailing slashes are served as on %s, recognized by its files or its name", (host, files, expected) => {
  const words = expected.split(" ").map((word) => word.replace("_", " "));
  expect(answers({ ...pages, ...files }, asked)).toEqual([words, ""]);
  expect(answers(pages, asked, host)).toEqual([words, ""]);
});

test("Netlify without pretty URLs serves paths with and without a trailing slash", () => {
  const toml = "[build.processing.html]\npretty_urls = false\n";
  expect(answers({ ...pages, "netlify.toml": toml }, "/folder /folder/")[0]).toEqual([
    "folder/index.html",
    "folder/index.html",
  ]);
});

test("in _redirects, Netlify prefers files and takes the first line; Cloudflare Pages prefers redirects and literal paths", () => {
  const _redirects = "/file /x\n/old/* /1/:splat\n/old/a /2\n/forced /y 301!\n/gone/* /404.html 410!\n";
  const files = { ...pages, _redirects, "forced.html": "", "gone/a.html": "" };
  const paths = "/file /old/a /old/a/ /forced /gone/a";
  expect(answers(files, paths, "netlify")[0]).toEqual(["file.html", "301 /1/a", "301 /1/a/", "301 /y", "missing"]);
  expect(answers(files, paths, "cloudflare-pages")[0]).toEqual(["302 /x", "302 /2", "302 /1/a/", "301 /y", "missing"]);
  // On an unknown host, only what all hosts do is certain.
  expect(answers(files, "/file /forced")).toEqual([["file.html", "301 /y"], "_redirects:1: choose --host"]);
});

test("rules for other host names, or for http, do not apply to this website", () => {
  const own = home.replace("https:", "http:");
  const _redirects = `https://x.netlify.app/* ${home}:splat 301!\n${own}* ${home}:splat 301!\n${home}old /new\n`;
  const _headers = "https://:project.pages.dev/*\n  X-Robots-Tag: noindex\n";
  expect(answers({ ...pages, _redirects, _headers }, "/file /old")).toEqual([["file.html", "301 /new"], ""]);
});

test("X-Robots-Tag is read from _headers, netlify.toml and vercel.json", () => {
  const toml = '[[headers]]\nfor = "/file"\n[headers.values]\nX-Robots-Tag = "noindex"\n';
  const vercel = (more: object) =>
    JSON.stringify({ headers: [{ source: "/(.*)", headers: [{ key: "x-robots-tag", value: "none" }], ...more }] });
  const _headers = "# all\n/fi*\n  Cache-Control: x\n  X-Robots-Tag: googlebot: noindex\n/folder/*\n  ! x\n";
  expect(answers({ ...pages, _headers }, "/file /folder/")[0]).toEqual([
    "googlebot: noindex file.html",
    "folder/index.html",
  ]);
  expect(answers({ ...pages, "netlify.toml": toml }, "/file /folder/")[0]).toEqual([
    "noindex file.html",
    "folder/index.html",
  ]);
  expect(answers({ ...pages, "vercel.json": vercel({}) }, "/file")).toEqual([["none file.html"], ""]);
  const has = [{ type: "host", value: "preview.example.org" }];
  expect(answers({ ...pages, "vercel.json": vercel({ has }) }, "/file")).toEqual([
    ["file.html"],
    "vercel.json: headers[0]",
  ]);
});

test("a header that a row removes is unknown", () => {
  const _headers = "/*\n  X-Robots-Tag: noindex\n/file\n  ! X-Robots-Tag\n  ! Link\n";
  expect(answers({ ...pages, _headers }, "/file /both", "cloudflare-pages")).toEqual([
    ["file.html", "noindex both.html"],
    "_headers:4",
  ]);
});

test.each<[string, string, string, string]>([
  [".htaccess", "# old\nRewriteEngine on\n", "unclear", ".htaccess"],
  [".htaccess", "Header set X-Frame-Options DENY\n", "missing", ""],
  [".htaccess", "Header set X-Robots-Tag noindex\n", "missing", ".htaccess"],
  ["web.config", "<configuration/>", "unclear", "web.config"],
  ["staticwebapp.config.json", "{}", "unclear", "staticwebapp.config.json"],
  ["_worker.js", "", "unclear", "_worker.js"],
  ["vercel.json", '{ "routes": [] }', "unclear", "vercel.json: routes"],
])("%s with %j: what is sent for a path without a file is %s", (name, text, kind, unknown) => {
  expect(answers({ ...pages, [name]: text }, "/file /gone")).toEqual([["file.html", kind], unknown]);
});

test("if there are configurations for two hosts, both are ignored until one is chosen", () => {
  const files = { ...pages, "netlify.toml": "", "vercel.json": "{}" };
  expect(answers(files, "/folder")).toEqual([["folder/index.html"], "files of several hosts: choose one with --host"]);
  expect(answers(files, "/folder", "netlify")).toEqual([["301 /folder/"], ""]);
});
