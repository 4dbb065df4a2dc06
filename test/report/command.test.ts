// Tests the command line of `sitegrove report`: its outputs and exit codes.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { urlset } from "../support/documents.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();
const fileOf = (name: string) => path.join(folder, name);
const site = await serve({
  "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/gone.xml\n",
  "/a.xml": urlset("{base}/", "{base}/blog/1", "{base}/blog/2"),
});
const report = (...words: string[]) => sitegrove(["report", ...words]);

test("report writes the page to a file, saves the archive, and exits with 3 if something is missing", async () => {
  const words = ["-k", "-o", fileOf("report.html"), "--save", fileOf("site.warc.gz")];
  const { code, stdout, stderr } = await report(site.homepage, ...words);
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toContain(said.reportOfThreePages(fileOf("report.html")));
  const html = readFileSync(fileOf("report.html"), "utf8");
  expect(html).toContain("1 declared sitemap could not be read.");
  expect(existsSync(fileOf("site.warc.gz"))).toBe(true);
});

test("an archive gives the same page, --previous adds what changed, and an existing file is replaced only with --force", async () => {
  const archive = fileOf("site.warc.gz");
  const plain = await report(archive);
  expect(plain.stdout).toBe(readFileSync(fileOf("report.html"), "utf8"));
  expect(await report(archive, "-o", fileOf("report.html"))).toMatchObject({ code: 2 });
  const compared = await report(archive, "--previous", archive, "-o", fileOf("report.html"), "--force");
  expect(compared.code).toBe(3);
  expect(readFileSync(fileOf("report.html"), "utf8")).toContain("No changes.");
});

test("--json gives the facts behind the page", async () => {
  const { stdout } = await report(fileOf("site.warc.gz"), "--json");
  expect(JSON.parse(stdout)).toMatchObject({ version: 1, homepage: site.homepage, figures: { pages: 3, sitemaps: 1 } });
});

test("a website that cannot be reached gets a page, too", async () => {
  const { code } = await report("http://127.0.0.1:1/", "-o", fileOf("down.html"), "--retries", "0");
  expect(code).toBe(5);
  expect(readFileSync(fileOf("down.html"), "utf8")).toContain("Nothing could be read from this website.");
});

test("mistakes on the command line are reported before anything is fetched", async () => {
  writeFileSync(fileOf("empty.warc.gz"), "");
  for (const words of [
    [site.homepage, "--off", "no-such-rule"],
    [fileOf("site.warc.gz"), "--concurrency", "2"],
    [fileOf("site.warc.gz"), "-o", fileOf("site.warc.gz"), "--force"],
    [site.homepage, "--force"],
    [fileOf("empty.warc.gz")],
  ])
    expect(await report(...words)).toMatchObject({ code: 2, stdout: "" });
});
