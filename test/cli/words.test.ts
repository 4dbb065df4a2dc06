// What new users type: no command, several websites, the URL of a sitemap.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { byteCount, seconds } from "../../src/cli/flags.ts";
import { since } from "../../src/model/instant.ts";
import { urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { parquetRows } from "../support/parquet.ts";
import { newFolder } from "../support/test-folder.ts";
import { jsonLines, onTerminal, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const folder = newFolder();
const a = await serve({ "/sitemap.xml": urlset("{base}/a1", "{base}/a2") });
const b = await serve({ "/sitemap.xml": urlset("{base}/b1") });
const none = await serve({});

test.each([[[]], [["-f", "pages"]]])(
  "a website without a command is listed, with flags %o before or after it",
  async (flags) => {
    const usual = await sitegrove(["ls", a.homepage, ...flags]);
    expect(usual.code).toBe(0);
    expect(await sitegrove([a.homepage, ...flags])).toEqual(usual);
    expect(await sitegrove([...flags, a.homepage])).toEqual(usual);
  },
);

test("the help fits on one screen; --help-all has every flag", async () => {
  const help = async (...words: string[]) => {
    const { stdout, stderr } = await sitegrove(words);
    const lines = (stdout + stderr).trimEnd().split("\n");
    return { lines, text: lines.join("\n") };
  };
  const { lines } = await help();
  const narrow = await onTerminal("check --help", { columns: 60 });
  for (const line of narrow.stdout.split("Examples:")[0]!.split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(60);
  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  for (const command of ["ls", "parse", "diff", "changes", "check", "report", "fleet"]) {
    const [short, whole] = [await help(command, "--help"), await help("help", command, "--help-all")];
    expect(short.lines.length, command).toBeLessThanOrEqual(40);
    for (const line of short.lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(short.text).toContain("--help-all");
    expect(short.text).not.toContain("Exit codes:");
    expect(whole.text).toMatch(/\nExit codes:\n {2}0 /);
    expect(whole.text).toContain("--allow-private");
  }
});

test("several websites are listed one after the other, with one header", async () => {
  const { code, stdout } = await sitegrove(["ls", a.homepage, b.homepage, "-f", "csv", "--columns", "url"]);
  expect(code).toBe(0);
  expect(stdout).toBe(`url\n${a.homepage}a1\n${a.homepage}a2\n${b.homepage}b1\n`);
  const trees = await sitegrove(["ls", a.homepage, b.homepage]);
  const [one, two] = [await sitegrove(["ls", a.homepage]), await sitegrove(["ls", b.homepage])];
  expect(trees.stdout).toBe(one.stdout + two.stdout);
  const counted = await sitegrove(["ls", a.homepage, b.homepage, "-f", "ndjson", "--trailer"]);
  expect(jsonLines(counted.stdout).at(-1)).toMatchObject({ complete: true, pages: 3, sitemaps: 2 });
});

test("a website without sitemaps is named, the others are listed, and the highest exit code wins", async () => {
  const { code, stdout, stderr } = await sitegrove(["ls", none.homepage, b.homepage, "-f", "pages"]);
  expect(code).toBe(4);
  expect(stdout).toBe(`${b.homepage}b1\n`);
  expect(stderr).toContain(none.homepage);
  expect(stderr).not.toContain(b.homepage);
});

test("for more than four websites, the program suggests fleet", async () => {
  const several = (count: number) =>
    sitegrove(["ls", ...Array.from({ length: count }, () => b.homepage), "-f", "pages", "--limit", "1"]);
  expect((await several(4)).stderr).not.toContain(said.useFleet(4));
  expect((await several(5)).stderr).toContain(said.useFleet(5));
});

test("--limit counts the pages of all websites together", async () => {
  // Uses its own server, because requests of a stopped run may still arrive at the shared ones.
  const other = await serve({ "/sitemap.xml": urlset("{base}/1") });
  const { stdout } = await sitegrove(["ls", a.homepage, other.homepage, "-f", "pages", "--limit", "2"]);
  expect(stdout).toBe(`${a.homepage}a1\n${a.homepage}a2\n`);
  expect(other.requests).toEqual([]);
});

test("several websites share one set of Parquet tables", async () => {
  const out = path.join(folder, "tables");
  expect((await sitegrove(["ls", a.homepage, b.homepage, "-f", "parquet", "-o", out])).code).toBe(0);
  for (const [name, sites] of [
    ["pages", [a.homepage, a.homepage, b.homepage]],
    ["sitemaps", [a.homepage, b.homepage]],
  ] as const) {
    const rows = await parquetRows(path.join(out, `${name}.parquet`));
    expect(rows.map(({ site }) => site)).toEqual(sites);
  }
});

test("the URL of a sitemap lists only that sitemap, whatever its name, and the program says how to get the rest", async () => {
  const site = await serve({
    "/robots.txt": "Sitemap: {base}/post-sitemap.xml\nSitemap: {base}/b.xml\n",
    "/post-sitemap.xml": urlset("{base}/post"),
    "/b.xml": urlset("{base}/b"),
    "/feed?type=x": "{base}/text\n",
    "/en/": "<!doctype html><title>Home</title>",
  });
  for (const [name, pages] of [
    ["post-sitemap.xml", ["post"]],
    ["feed?type=x", ["text"]],
  ] as const) {
    const { code, stdout, stderr } = await sitegrove(["ls", site.homepage + name, "-f", "pages", "-u"]);
    expect({ code, pages: stdout.trim().split("\n") }).toEqual({ code: 0, pages: pages.map((page) => `/${page}`) });
    const message = said.only(site.homepage + name, site.homepage);
    expect(stderr).toBe(`sitegrove: ${message}\n`);
  }
  for (const [name, stderr] of [
    ["robots.txt", ""],
    ["en/", `sitegrove: ${said.wholeWebsite(site.homepage, "/en/")}\n`],
  ] as const) {
    const whole = await sitegrove(["ls", site.homepage + name, "-f", "pages", "-u", "-k"]);
    expect(whole).toEqual({ code: 0, stdout: "/post\n/b\n", stderr });
  }
});

test("the URL of a sitemap that cannot be read does not list the whole website instead", async () => {
  const html = "<!doctype html><html><title>Gone</title></html>";
  const site = await serve({
    "/robots.txt": "Sitemap: {base}/all.xml\n",
    "/all.xml": urlset("{base}/1"),
    "/html.xml": html,
    "/empty.txt": "",
  });
  for (const [name, why] of [
    ["gone.xml", said.notFound],
    ["html.xml", said.gotHtml],
    ["empty.txt", said.emptyDocument],
  ] as const) {
    const { code, stdout, stderr } = await sitegrove(["ls", `${site.homepage}${name}`, "-f", "pages"]);
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining(said.notRead(name, why)),
    });
  }
});

test("if nothing is found for a URL with a path, the program suggests --keep-path", async () => {
  const site = await serve({ "/docs/sitemap.xml": urlset("{base}/docs/1"), "/docs/": "<html>" });
  const { code, stderr } = await sitegrove(["ls", `${site.homepage}docs/`]);
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(said.keepPath("/docs/")) });
  const kept = await sitegrove(["ls", `${site.homepage}docs/`, "--keep-path", "-f", "pages"]);
  expect(kept).toMatchObject({ code: 0, stdout: `${site.homepage}docs/1\n` });
});

test("check, report and diff also read only the sitemap if they are given its URL", async () => {
  const site = await serve({
    "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/b.xml\n",
    "/a.xml": urlset("{base}/1"),
    "/b.xml": urlset("{base}/2"),
  });
  const { homepage } = site;
  const checked = await sitegrove(["check", `${homepage}a.xml`, "-f", "json"]);
  expect(JSON.parse(checked.stdout)).toMatchObject({ sitemapCount: 1, pageCount: 1 });
  expect(checked.stderr).toContain(said.only(`${homepage}a.xml`, homepage));
  const reported = await sitegrove(["report", `${homepage}b.xml`, "--json"]);
  expect(JSON.parse(reported.stdout).figures).toMatchObject({ pages: 1 });
  expect(reported.stderr).toContain(said.only(`${homepage}b.xml`, homepage));
  const list = path.join(folder, "one.txt");
  writeFileSync(list, `${homepage}1\n`);
  const compared = await sitegrove(["diff", list, `${homepage}a.xml`, "-f", "ndjson"]);
  expect(compared).toMatchObject({ code: 0, stdout: "" });
  expect(compared.stderr).toContain(said.only(`${homepage}a.xml`, homepage));
});

test("parse fetches only the document at its URL, following redirects", async () => {
  const site = await serve({
    "/old.xml": (request, response) =>
      void response.writeHead(301, { location: `http://${request.headers.host}/new.xml` }).end(),
    "/new.xml": urlset("{base}/1", "<url><loc>{base}/2</loc><lastmod>soon</lastmod></url>"),
  });
  const { code, stdout, stderr } = await sitegrove(["parse", `${site.homepage}old.xml`, "-v"]);
  expect(stdout).toBe(`${site.homepage}new.xml\n\t${site.homepage}1\n\t${site.homepage}2\n`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("soon") });
  expect(site.requests).toEqual(["/old.xml", "/new.xml"]);
  const gone = `sitegrove: ${said.notRead(`${site.homepage}gone.xml`, said.notFound)}\n`;
  expect(await sitegrove(["parse", `${site.homepage}gone.xml`])).toEqual({ code: 4, stdout: "", stderr: gone });
  site.close();
  expect((await sitegrove(["parse", `${site.homepage}new.xml`, "--retries", "0"])).code).toBe(5);
});

test("--rewrite warns if it does not change where sitemaps are fetched from", async () => {
  const words = ["--rewrite", `https://example.org/=${b.homepage}`, "-f", "pages"];
  const message = said.rewritesOnlyPages("https://example.org", b.homepage.slice(0, -1));
  expect((await sitegrove(["ls", a.homepage, ...words])).stderr).toBe(`sitegrove: ${message}\n`);
  expect((await sitegrove(["ls", b.homepage, ...words])).stderr).toBe("");
});

test("sizes and durations are accepted in the forms that people write", () => {
  for (const text of ["1536", "1536B", "1.5k", "1.5K", "1.5KB", "1.5 kb", "1.5KiB"]) expect(byteCount(text)).toBe(1536);
  expect(["100GB", "100G", "1T"].map(byteCount)).toEqual([100 * 1024 ** 3, 100 * 1024 ** 3, 1024 ** 4]);
  for (const text of ["", "k", "5X", "-1", "1e9", "5 0", "5kk", "5iB", "999999999999T"]) {
    expect(() => byteCount(text)).toThrow("Expected a number of bytes");
  }
  const times = ["2", "0.5", "30s", "5m", "1H", "500ms", "1d", "1.5h", "1w"];
  expect(times.map(seconds)).toEqual([2, 0.5, 30, 300, 3600, 0.5, 86_400, 5400, 604_800]);
  // --since reads the same spans.
  for (const text of times.slice(2)) expect(Date.now() - since("since", text)).toBeCloseTo(seconds(text) * 1000, -3);
  for (const text of ["", "s", "-1", "1y", "5 m", "1e3", "."]) expect(() => seconds(text)).toThrow("Expected a time");
});

test("--summary works with every format", async () => {
  for (const format of ["tabtree", "pages", "json", "ndjson", "csv", "sitemaps", "sitemaps-csv"]) {
    const { code, stderr } = await sitegrove(["ls", a.homepage, "-f", format, "--summary"]);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("  2  ") });
  }
  const archive = path.join(folder, "summary.warc");
  await sitegrove(["ls", a.homepage, "--save", archive]);
  const { stderr } = await sitegrove(["ls", archive, "-f", "sitemaps", "--summary"]);
  expect(stderr).toContain("  2  ");
});
