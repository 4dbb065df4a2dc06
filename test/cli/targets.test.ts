// What all commands share: what a name means, which files must differ, and when an archive is replaced.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../src/cli/exit-codes.ts";
import { SiteList } from "../../src/cli/fleet/sites.ts";
import { parseTarget } from "../../src/cli/input/target.ts";
import { listOf } from "../support/collected.ts";
import { urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { shell, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const nowhere = "http://127.0.0.1:1/";
const quick = ["--retries", "0"];
const folder = newFolder();
const at = (name: string) => path.join(folder, name);

const site = await serve({ "/robots.txt": "Sitemap: {base}/a.xml\n", "/a.xml": urlset("{base}/1") });
await sitegrove(["ls", site.homepage, ...quick, "--save", at("site.warc.gz")]);
copyFileSync(at("site.warc.gz"), at("saved.gz"));
writeFileSync(at("a.xml"), urlset("https://example.org/1"));
writeFileSync(at("sites.txt"), `${nowhere}\n`);
writeFileSync(at("sitegrove.json"), "{}");
mkdirSync(at("public"));
copyFileSync(at("a.xml"), at("public/sitemap.xml"));
mkdirSync(at("out"));
copyFileSync(at("sites.txt"), at("out/summary.json"));

test.each([
  ...["ls", "check", "report"].map((command) => [command, "saved.gz", "-l", "saved.gz"]),
  ["ls", "saved.gz", "-o", "saved.gz", "--force"],
  ["ls", "site", "--previous", "saved.gz", "-l", "saved.gz"],
  ["ls", "site", "--resume", "saved.gz", "-l", "saved.gz"],
  ["check", "a.xml", "-l", "a.xml"],
  ["check", "a.xml", "-o", "a.xml", "--force"],
  ["check", "a.xml", "--config", "sitegrove.json", "-l", "sitegrove.json"],
  ["check", "a.xml", "--baseline", "a.xml", "--update-baseline"],
  ["check", "public", "--map", "https://example.org/=public", "-l", "public/sitemap.xml"],
  ["check", "a.xml", "--map", "https://example.org/=public", "-l", "public/sitemap.xml"],
  ["diff", "a.xml", "saved.gz", "-l", "a.xml"],
  ["diff", "a.xml", "saved.gz", "-o", "saved.gz", "--force"],
  ["parse", "a.xml", "-o", "a.xml", "--force"],
  ["report", "site", "-o", "x.html", "--previous", "saved.gz", "-l", "saved.gz"],
  ["report", "site", "-o", "x.html", "--previous", "saved.gz", "--save", "saved.gz", "--force"],
  ["fleet", "--from", "sites.txt", "--out", "new", "-l", "sites.txt"],
  ["fleet", "--from", "out/summary.json", "--out", "out"],
  ["fleet", "--from", "sites.txt", "--out", "out"],
])("no input is overwritten: %s %s %s %s %s %s", async (...words) => {
  const before = everything();
  const run = await sitegrove(
    words.map((word) => (word === "site" ? site.homepage : word)),
    { cwd: folder },
  );
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/^sitegrove: [^\n]+\n$/);
  expect(everything()).toEqual(before);
});

test("a report may be replaced, even in the folder that it is about", async () => {
  const words = "report public --url https://example.org/ -o public/report.html --force";
  for (let times = 0; times < 2; times++) expect(await sitegrove(words, { cwd: folder })).toMatchObject({ code: 0 });
  rmSync(at("public/report.html"));
});

function everything(): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(name, "latin1")]));
}

test("a file that is standard input is not overwritten either", async () => {
  const before = everything();
  const run = await shell(`eval "$SITEGROVE" parse - -o ${at("a.xml")} --force < ${at("a.xml")}`);
  expect(run.code).toBe(2);
  expect(everything()).toEqual(before);
});

test.each([
  ["ls", "site", "-o", "new.txt", "-l", "new.log", "--save", "new.warc"],
  ["check", "site", "-o", "new.txt", "-l", "new.log"],
  ["report", "site", "-o", "new.html", "-l", "new.log", "--save", "new.warc"],
  ["diff", "a.xml", "site", "-o", "new.txt", "-l", "new.log"],
  ["fleet", "--from", "sites.txt", "--out", "new", "-l", "new.log"],
])("nothing is created if a setting is invalid: %s", async (...words) => {
  const before = everything();
  const named = words.map((word) => (word === "site" ? site.homepage : word));
  const run = await sitegrove(named, { cwd: folder, env: { HTTP_PROXY: "secret://x" } });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).toMatch(/^sitegrove: [^\n]+ `HTTP_PROXY` [^\n]+\n$/);
  expect(everything()).toEqual(before);
});

test("report keeps the old archive if nothing could be read, like ls", async () => {
  const before = readFileSync(at("site.warc.gz"));
  const words = ["report", nowhere, ...quick, "-o", at("report.html"), "--save", at("site.warc.gz"), "--force"];
  const run = await sitegrove(words);
  expect(run.code).toBe(5);
  expect(readFileSync(at("site.warc.gz")).equals(before)).toBe(true);
});

test("an archive is recognized by its content, whatever its name", async () => {
  const [named, renamed] = await Promise.all(
    ["site.warc.gz", "saved.gz"].map((name) => sitegrove(["check", at(name), "-f", "json"])),
  );
  expect(renamed).toEqual(named);
  expect((await sitegrove(["parse", at("saved.gz")])).stderr).toBe(`sitegrove: ${said.isArchive(at("saved.gz"))}\n`);
});

test("a local file is read up to the limit, however large it is", async () => {
  const place = at("large");
  mkdirSync(place);
  writeFileSync(path.join(place, "robots.txt"), "Sitemap: https://example.org/large.xml\n");
  writeFileSync(path.join(place, "large.xml"), urlset("https://example.org/1"));
  // A sparse file, larger than any buffer can be.
  truncateSync(path.join(place, "large.xml"), 5 * 1024 ** 3);
  const map = ["--map", `https://example.org/=${place}`, "--max-bytes", "1M"];
  for (const target of [place, path.join(place, "large.xml")]) {
    const { stdout, stderr } = await sitegrove(["check", target, ...map]);
    expect(stdout + stderr).toContain(said.tooLarge);
    expect(stdout + stderr).not.toContain("404");
  }
});

test("an overlong line of a list is skipped without using more memory", async () => {
  const long = `https://example.org/${"a".repeat(2 ** 20)}`;
  const text = `a.example\r\n${long}\rb.example\n${long}`;
  writeFileSync(at("long.txt"), text);
  writeFileSync(at("long.csv"), `site\n${text}`);
  for (const [file, column] of [
    ["long.txt", undefined],
    ["long.csv", "site"],
  ] as const) {
    const list = new SiteList([], { from: [at(file)], column });
    const malformed: string[] = [];
    list.onMalformed = (text) => malformed.push(text);
    const found = await listOf(list);
    expect(found.map(({ homepage }) => homepage)).toEqual(["https://a.example/", "https://b.example/"]);
    const sentence = expect.stringMatching(said.lineTooLong);
    expect(malformed).toEqual([sentence, sentence]);
  }
});

test.each([
  ["example.org/sitemap_index.xml", "https://example.org/sitemap_index.xml"],
  ["example.org/feed", "https://example.org/feed"],
  ["www.example.org:8080/a/robots.txt", "https://www.example.org:8080/a/robots.txt"],
  ["localhost:3000/sitemap.xml", "http://localhost:3000/sitemap.xml"],
  ["example.org", "https://example.org"],
])("%s is a URL unless there is such a file", (name, homepage) => {
  expect(parseTarget(name)).toEqual({ kind: "website", homepage, isAssumed: true });
});

test("a name that looks like a URL means a file if there is one", async () => {
  mkdirSync(at("example.org"));
  copyFileSync(at("a.xml"), at("example.org/sitemap.xml"));
  const { stdout } = await sitegrove(["parse", "example.org/sitemap.xml", "-f", "pages"], { cwd: folder });
  expect(stdout).toBe("https://example.org/1\n");
});

test.each(["dits", "dits/", "dist/blog", "dist/sitemap.xml", "./a.b/c", "../x.y", "~/x.y", "a.xml", "a.xml/b.xml"])(
  "%s is reported as a missing file or folder, and nothing is requested",
  (name) => {
    expect(() => parseTarget(name)).toThrow(UsageError);
  },
);
