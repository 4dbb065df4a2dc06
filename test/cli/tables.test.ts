// Tables: sitemaps, Parquet, the summary, and the trailer of NDJSON.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { sitemapColumns } from "../../src/write/sitemaps.ts";
import { blocksOf, page, section, tableRows } from "../docs/pages.ts";
import { index, urlset } from "../support/documents.ts";
import { hasPython } from "../support/installed.ts";
import { parquetRows } from "../support/parquet.ts";
import { newFolder } from "../support/test-folder.ts";
import { jsonLines, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const folder = newFolder();
const site = await serve({
  "/robots.txt": "Sitemap: {base}/index.xml\n",
  "/index.xml": index(
    "<sitemap><loc>{base}/a.xml</loc><lastmod>2024-05-31</lastmod></sitemap>",
    "{base}/gone.xml",
    "{base}/a.xml",
    "{base}/b.txt",
  ),
  "/a.xml": urlset(
    "<url><loc>{base}/blog/1</loc><lastmod>2024-05-31T10:00:00+02:00</lastmod></url>",
    `<url><loc>{base}/blog/2</loc><image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>{base}/1.png</image:loc></image:image>
     <xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="de" href="{base}/de/2"/></url>`,
    "<url><loc>{base}/3</loc><lastmod>someday</lastmod></url>",
  ),
  "/b.txt": "{base}/odd\n",
  "/priorities.xml": urlset(
    "{base}/none",
    "<url><loc>{base}/written</loc><priority>0.5</priority></url>",
    "<url><loc>{base}/zero</loc><priority>0.0</priority></url>",
    "<url><loc>{base}/bad</loc><priority>high</priority></url>",
  ),
});
const ls = (...words: string[]) => sitegrove(["ls", site.homepage, "-k", "--no-homepage", ...words]);

test("sitemaps-csv has one row per sitemap, in the order of the tree", async () => {
  const { code, stdout } = await ls("-f", "sitemaps-csv", "--separator", "tab");
  expect(code).toBe(3);
  const rows = parse(stdout, { columns: true, delimiter: "\t" }) as Record<string, string>[];
  const path = (url = "") => url.replace(site.homepage, "/");
  expect(rows.map(({ url, parent, kind, pageCount }) => [path(url), path(parent), kind, pageCount])).toEqual([
    ["/robots.txt", "/", "index", ""],
    ["/index.xml", "/robots.txt", "index", ""],
    ["/a.xml", "/index.xml", "pages", "3"],
    ["/gone.xml", "/index.xml", "invalid", ""],
    ["/b.txt", "/index.xml", "pages", "1"],
  ]);
  expect(rows[2]).toMatchObject({ lastModified: "2024-05-31", complete: "true", problems: "date-invalid" });
  expect(Number(rows[2]?.["wireBytes"])).toBeGreaterThan(400);
  const [fetchedAt, duration] = [/^\d{4}-/, /^\d/].map((each) => expect.stringMatching(each));
  expect(rows[2]).toMatchObject({ status: "200", fetchedAt, duration });
  expect(rows[3]).toMatchObject({ complete: "false", status: "404", problems: "http-404" });
});

test("-f sitemaps shows the same, also from an archive", async () => {
  const archive = path.join(folder, "site.warc.gz");
  const { stdout } = await ls("-f", "sitemaps", "-u", "--save", archive);
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^pages +format +.*sitemap$/);
  expect(lines.find((line) => line.endsWith("    /a.xml"))).toMatch(/^ +3 +xml .* 2024-05-31 /);
  expect(lines.find((line) => line.includes("/gone.xml"))).toContain("(not read: ");
  expect((await sitegrove(["ls", archive, "-f", "sitemaps", "-u"])).stdout).toBe(stdout);
});

test("parquet has the pages with their lists, the sitemaps and the problems", async () => {
  const out = path.join(folder, "tables");
  const { code, stdout } = await ls("-f", "parquet", "-o", out);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(readdirSync(out).sort()).toEqual(["pages.parquet", "problems.parquet", "sitemaps.parquet"]);
  const [pages, sitemaps, problems] = await Promise.all(
    ["pages", "sitemaps", "problems"].map((name) => parquetRows(path.join(out, `${name}.parquet`))),
  );
  expect(pages).toHaveLength(4);
  expect(pages?.[0]).toMatchObject({
    site: site.homepage,
    url: `${site.homepage}blog/1`,
    sitemap: `${site.homepage}a.xml`,
    last_modified: new Date("2024-05-31T08:00:00Z"),
    last_modified_text: "2024-05-31T10:00:00+02:00",
  });
  expect(pages?.[1]).toMatchObject({
    images: [{ url: `${site.homepage}1.png` }],
    alternates: [{ language: "de", url: `${site.homepage}de/2` }],
  });
  expect(pages?.map(({ last_modified }) => last_modified ?? undefined)[2]).toBeUndefined();
  expect(sitemaps?.map(({ page_count }) => page_count ?? undefined)).toEqual([undefined, undefined, 3n, undefined, 1n]);
  expect(problems?.map(({ code, loss }) => [code, loss])).toContainEqual(["date-invalid", false]);
});

test("a priority that the sitemap does not give is empty in every table", async () => {
  const from = (...words: string[]) => sitegrove(["ls", "--sitemap", `${site.homepage}priorities.xml`, ...words]);
  const column = (csv: string) =>
    (parse(csv, { columns: true }) as Record<string, string>[]).map(({ priority }) => priority);
  const out = path.join(folder, "priorities");
  const formats = ["csv", "ndjson", "json"].map((format) => from("-f", format));
  const [csv = "", ndjson = "", json = ""] = (await Promise.all(formats)).map(({ stdout }) => stdout);
  await from("-f", "parquet", "-o", out);
  expect(column(csv)).toEqual(["", "0.5", "0", ""]);
  const rows = await parquetRows(path.join(out, "pages.parquet"));
  expect(rows.map(({ priority }) => priority ?? "none")).toEqual(["none", 0.5, 0, "none"]);
  const data = [{}, { priority: 0.5 }, { priority: 0 }, {}];
  const facts = ({ url: _, sitemap: __, ...rest }: Record<string, unknown>) => rest;
  expect(jsonLines(ndjson).map(facts)).toEqual(data);
  expect(JSON.parse(json).root.children[0].pages.map(facts)).toEqual(data);
});

// This reader shares no code with our writer, and runs the lines that the docs show.
const hasDuckDb = hasPython("duckdb", "pandas", "pyarrow");
test.runIf(hasDuckDb)("DuckDB and pandas read the tables with the code in the docs", async () => {
  const work = path.join(folder, "work");
  await ls("-f", "parquet", "-o", path.join(work, "tables"));
  const blocks = (language: string) =>
    blocksOf(page("docs/output.md"))
      .filter((block) => block.language === language)
      .map(({ code }) => code);
  const statements = blocks("sql").flatMap((code) => code.split(";").filter((statement) => statement.trim() !== ""));
  expect(statements).toHaveLength(2);
  const script = `
import duckdb, json
${blocks("python").join("\n")}
results = [duckdb.sql(statement).fetchall() for statement in ${JSON.stringify(statements)}]
joined = duckdb.sql("select p.url from 'tables/pages.parquet' p join 'tables/sitemaps.parquet' s on p.sitemap = s.url where s.page_count = 3").fetchall()
languages = duckdb.sql("select unnest(alternates).language from 'tables/pages.parquet'").fetchall()
print(json.dumps({"results": results, "pandas": len(pages), "joined": len(joined), "languages": languages}))`;
  const { stdout, stderr } = spawnSync("python3", ["-c", script], { encoding: "utf8", cwd: work });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    results: [[[`${site.homepage}a.xml`, 1]], [[`${site.homepage}blog/2`, `${site.homepage}1.png`]]],
    pandas: 4,
    joined: 3,
    languages: [["de"]],
  });
});

test("a folder of tables is written completely or not at all", async () => {
  const out = path.join(folder, "nothing");
  const empty = await serve({});
  expect((await sitegrove(["ls", empty.homepage, "-f", "parquet", "-o", out])).code).toBe(4);
  expect(existsSync(out)).toBe(false);
});

test("--trailer ends NDJSON with a line that says whether the list is complete, as JSON does", async () => {
  const { stdout } = await ls("-f", "ndjson", "--trailer");
  const lines = jsonLines(stdout);
  expect(lines[4]).toEqual({ kind: "finished", complete: false, pages: 4, sitemaps: 3, invalid: 1 });
  expect(lines).toHaveLength(5);
  const whole = await sitegrove(`ls --sitemap ${site.homepage}a.xml -f ndjson --trailer --include blog`);
  expect(jsonLines(whole.stdout).at(-1)).toMatchObject({ complete: true, pages: 2 });
  for (const part of ["--sample 1", "--limit 1", "--limit 1 --include blog"]) {
    const some = await sitegrove(`ls --sitemap ${site.homepage}a.xml -f ndjson --trailer ${part}`);
    expect(jsonLines(some.stdout).at(-1)).toMatchObject({ complete: false, pages: 1 });
    const tree = await sitegrove(`ls --sitemap ${site.homepage}a.xml -f json ${part}`);
    expect(JSON.parse(tree.stdout)).toMatchObject({ complete: false });
  }
});

test("--summary counts pages by sitemap and by section, on standard error", async () => {
  const { stdout, stderr } = await ls("-f", "pages", "--summary");
  expect(stdout.split("\n")).toHaveLength(5);
  expect(stderr).toContain(`\nsitegrove:   3  ${site.homepage}a.xml\nsitegrove:   1  ${site.homepage}b.txt\n`);
  expect(stderr).toContain(`\nsitegrove:   2  ${site.homepage}blog/…\nsitegrove:   2  ${site.homepage}\n`);
});

test("every column of sitemaps-csv is documented, in order", () => {
  const columns = tableRows(section(page("docs/output.md"), "## sitemaps")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1]),
  );
  expect(columns).toEqual(sitemapColumns);
});
